#include "engine/external_fixture.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <vector>

namespace {
std::atomic<int> closedTwice{0};  // descriptors that were closed and were open no more
}

// What all libraries of the process call.
extern "C" [[gnu::visibility("default")]] int close(int descriptor) {
  const auto result = static_cast<int>(syscall(SYS_close, descriptor));
  if (result != 0 && errno == EBADF) ++closedTwice;
  return result;
}

namespace mulciber::test {

TEST_F(ExternalTest, ABufferIsTheSameMemoryOnBothSides) {
  for (const bool isDedicated : {false, true}) {
    const Shared shared = shareBuffer(1 << 20, isDedicated);
    fill(shared, 7);
    CUexternalMemory memory = nullptr;
    ASSERT_EQ(import(descriptorOf(shared), shared.size, isDedicated ? CUDA_EXTERNAL_MEMORY_DEDICATED : 0, memory),
              CUDA_SUCCESS);
    CUdeviceptr first = 0, second = 0;
    ASSERT_EQ(map(memory, 0, 1 << 20, first), CUDA_SUCCESS);
    ASSERT_EQ(map(memory, 4096, 256, second), CUDA_SUCCESS);  // what overlaps has addresses of its own
    EXPECT_NE(second, first + 4096);
    uint32_t word = 0;
    ASSERT_EQ(readBytes(&word, second, 4), CUDA_SUCCESS);
    EXPECT_EQ(word, 7u);
    ASSERT_EQ(setWords(first + 4096, 8, 64), CUDA_SUCCESS);
    ASSERT_EQ(setWords(second + 8, 9, 1), CUDA_SUCCESS);
    ASSERT_EQ(CUDA(cuCtxSynchronize)(), CUDA_SUCCESS);
    EXPECT_EQ(read<4>(shared, 4096), (std::array<uint32_t, 4>{8, 8, 9, 8}));
    // The mappings outlive the memory's handle, and the engine's memory outlives them.
    EXPECT_EQ(CUDA(cuDestroyExternalMemory)(memory), CUDA_SUCCESS);
    ASSERT_EQ(readBytes(&word, first + 4096, 4), CUDA_SUCCESS);
    EXPECT_EQ(word, 8u);
    EXPECT_EQ(release(first), CUDA_SUCCESS);
    EXPECT_EQ(release(second), CUDA_SUCCESS);
    EXPECT_EQ(read<4>(shared, 4096), (std::array<uint32_t, 4>{8, 8, 9, 8}));
    destroy(shared);
  }
}

TEST_F(ExternalTest, ADescriptorIsTakenOverOnlyWhenTheImportSucceeds) {
  const Shared shared = shareBuffer(4096);
  CUexternalMemory memory = nullptr;
  const int refused = descriptorOf(shared);
  EXPECT_EQ(import(refused, shared.size, 2, memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_NE(fcntl(refused, F_GETFD), -1);
  close(refused);
  const int taken = descriptorOf(shared);
  ASSERT_EQ(import(taken, shared.size, 0, memory), CUDA_SUCCESS);
  EXPECT_EQ(CUDA(cuDestroyExternalMemory)(memory), CUDA_SUCCESS);
  EXPECT_EQ(fcntl(taken, F_GETFD), -1);
  destroy(shared);
}

TEST_F(ExternalTest, AnImageIsTheSameMemoryOnBothSides) {
  // The image is in the layout that the engine's device left it in; the layer knows that device's image alone. The test
  // engine_imported_images runs this with the layer's message about that taken out.
  const char* layers = std::getenv("VK_INSTANCE_LAYERS");
  if (layers && *layers && !std::getenv("VK_LAYER_MESSAGE_ID_FILTER"))
    GTEST_SKIP() << "skipped: the layer does not know the layouts of images of another device";
  for (const bool isDedicated : {false, true}) {
    const Shared shared = shareImage(isDedicated);
    const VkImageSubresourceRange all{VK_IMAGE_ASPECT_COLOR_BIT, 0, 3, 0, 1};
    VkImageMemoryBarrier2 toGeneral{};
    toGeneral.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2;
    toGeneral.dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    toGeneral.dstAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT;
    toGeneral.newLayout = VK_IMAGE_LAYOUT_GENERAL;
    toGeneral.image = shared.image;
    toGeneral.subresourceRange = all;
    VkDependencyInfo dependency{};
    dependency.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
    dependency.imageMemoryBarrierCount = 1;
    dependency.pImageMemoryBarriers = &toGeneral;
    VkCommandBuffer commands = engine_->beginCommands();
    engine_->api.vkCmdPipelineBarrier2(commands, &dependency);
    for (uint32_t level = 0; level < 3; ++level) {
      VkClearColorValue color{};
      color.uint32[0] = 100 + level;
      const VkImageSubresourceRange one{VK_IMAGE_ASPECT_COLOR_BIT, level, 1, 0, 1};
      engine_->api.vkCmdClearColorImage(commands, shared.image, VK_IMAGE_LAYOUT_GENERAL, &color, 1, &one);
    }
    engine_->wait(engine_->submit(commands));

    CUexternalMemory memory = nullptr;
    ASSERT_EQ(import(descriptorOf(shared), shared.size, isDedicated ? CUDA_EXTERNAL_MEMORY_DEDICATED : 0, memory),
              CUDA_SUCCESS);
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC wanted{};
    wanted.arrayDesc = {sideLength, sideLength, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST};
    wanted.numLevels = 3;
    CUmipmappedArray mipmapped = nullptr;
    ASSERT_EQ(CUDA(cuExternalMemoryGetMappedMipmappedArray)(&mipmapped, memory, &wanted), CUDA_SUCCESS);
    for (unsigned level = 0; level < 3; ++level) {
      CUarray array = nullptr;
      ASSERT_EQ(CUDA(cuMipmappedArrayGetLevel)(&array, mipmapped, level), CUDA_SUCCESS);
      const unsigned side = sideLength >> level;
      std::vector<uint32_t> texels(side * side);
      CUDA_MEMCPY2D copy{};
      copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
      copy.srcArray = array;
      copy.dstMemoryType = CU_MEMORYTYPE_HOST;
      copy.dstHost = texels.data();
      copy.dstPitch = copy.WidthInBytes = side * 4;
      copy.Height = side;
      ASSERT_EQ(find<CUresult(const CUDA_MEMCPY2D*)>("cuMemcpy2D_v2")(&copy), CUDA_SUCCESS);
      EXPECT_EQ(texels, std::vector<uint32_t>(side * side, 100 + level));
      texels.assign(side * side, 200 + level);
      std::swap(copy.srcMemoryType, copy.dstMemoryType);
      copy.dstArray = array;
      copy.srcHost = texels.data();
      copy.srcPitch = side * 4;
      ASSERT_EQ(find<CUresult(const CUDA_MEMCPY2D*)>("cuMemcpy2D_v2")(&copy), CUDA_SUCCESS);
    }
    ASSERT_EQ(CUDA(cuCtxSynchronize)(), CUDA_SUCCESS);

    const Engine::Buffer host = engine_->makeBuffer(3 * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    commands = engine_->beginCommands();
    for (uint32_t level = 0; level < 3; ++level) {
      VkBufferImageCopy region{};
      region.bufferOffset = level * 4;
      region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, level, 0, 1};
      region.imageOffset = {1, 2, 0};
      region.imageExtent = {1, 1, 1};
      engine_->api.vkCmdCopyImageToBuffer(commands, shared.image, VK_IMAGE_LAYOUT_GENERAL, host.handle, 1, &region);
    }
    engine_->wait(engine_->submit(commands));
    for (uint32_t level = 0; level < 3; ++level) EXPECT_EQ(static_cast<uint32_t*>(host.host)[level], 200 + level);
    engine_->destroy(host);

    // A surface too of an array that was not said to have any, as NVIDIA's samples map one.
    wanted.arrayDesc.Flags = 0;
    CUmipmappedArray plain = nullptr;
    ASSERT_EQ(CUDA(cuExternalMemoryGetMappedMipmappedArray)(&plain, memory, &wanted), CUDA_SUCCESS);
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    ASSERT_EQ(CUDA(cuMipmappedArrayGetLevel)(&resource.res.array.hArray, plain, 1), CUDA_SUCCESS);
    CUsurfObject surface = 0;
    EXPECT_EQ(CUDA(cuSurfObjectCreate)(&surface, &resource), CUDA_SUCCESS);
    EXPECT_EQ(CUDA(cuSurfObjectDestroy)(surface), CUDA_SUCCESS);
    EXPECT_EQ(CUDA(cuMipmappedArrayDestroy)(plain), CUDA_SUCCESS);

    // A shape that the memory has no room for.
    wanted.arrayDesc.Height = sideLength * 64;
    wanted.numLevels = 1;
    CUmipmappedArray none = nullptr;
    EXPECT_EQ(CUDA(cuExternalMemoryGetMappedMipmappedArray)(&none, memory, &wanted), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(CUDA(cuMipmappedArrayDestroy)(mipmapped), CUDA_SUCCESS);
    EXPECT_EQ(CUDA(cuDestroyExternalMemory)(memory), CUDA_SUCCESS);
    destroy(shared);
  }
}

TEST_F(ExternalTest, WrongImportsAreRefused) {
  const Shared shared = shareBuffer(4096);
  CUexternalMemory memory = nullptr;
  const int descriptor = descriptorOf(shared);
  const auto importKind = [&](int type) {
    return import(descriptor, shared.size, 0, memory, static_cast<CUexternalMemoryHandleType>(type));
  };
  // As NVIDIA's library answers on Linux.
  for (const int type : {2, 3, 4, 8, 9}) EXPECT_EQ(importKind(type), CUDA_ERROR_NOT_SUPPORTED) << type;
  for (const int type : {0, 5, 6, 7, 10}) EXPECT_EQ(importKind(type), CUDA_ERROR_INVALID_VALUE) << type;
  EXPECT_EQ(import(descriptor, 0, 0, memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(import(-1, shared.size, 0, memory), CUDA_ERROR_UNKNOWN);

  ASSERT_EQ(import(descriptor, shared.size, 0, memory), CUDA_SUCCESS);
  CUdeviceptr address = 0;
  EXPECT_EQ(map(memory, 0, 0, address), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(map(memory, 0, shared.size + 1, address), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(map(memory, shared.size, 4, address), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(map(memory, ~VkDeviceSize{0}, 4, address), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(map(nullptr, 0, 4, address), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(CUDA(cuDestroyExternalMemory)(memory), CUDA_SUCCESS);
  EXPECT_EQ(CUDA(cuDestroyExternalMemory)(memory), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(CUDA(cuDestroyExternalMemory)(nullptr), CUDA_ERROR_INVALID_VALUE);

  // Last, since NVIDIA's driver (580.159.04) imports nothing any more after a descriptor that is not one of its own.
  const int file = open("/dev/null", O_RDWR);
  closedTwice = 0;
  EXPECT_EQ(import(file, shared.size, 0, memory), CUDA_ERROR_UNKNOWN);
  EXPECT_EQ(closedTwice, 0);
  EXPECT_EQ(close(file), 0);

  CUexternalSemaphore semaphore = nullptr;
  for (const int type : {2, 3, 4, 5, 6, 7, 8, 10}) {
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC info{};
    info.type = static_cast<CUexternalSemaphoreHandleType>(type);
    EXPECT_EQ(CUDA(cuImportExternalSemaphore)(&semaphore, &info), CUDA_ERROR_NOT_SUPPORTED) << type;
  }
  EXPECT_EQ(CUDA(cuSignalExternalSemaphoresAsync)(&semaphore, nullptr, 1, nullptr), CUDA_ERROR_INVALID_VALUE);
  const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS nothing{};
  EXPECT_EQ(CUDA(cuSignalExternalSemaphoresAsync)(&semaphore, &nothing, 1, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(CUDA(cuSignalExternalSemaphoresAsync)(&semaphore, &nothing, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(CUDA(cuDestroyExternalSemaphore)(nullptr), CUDA_ERROR_INVALID_VALUE);
  destroy(shared);
}

}  // namespace mulciber::test
