// Memory and semaphores of an engine's device in CUDA: another device of the same GPU, as programs for Vulkan and CUDA
// have it.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "engine/cuda_library.h"

namespace mulciber::test {

namespace {

constexpr unsigned sideLength = 16;

class ExternalTest : public EngineTest {
 protected:
  void SetUp() override {
    EngineTest::SetUp();
    if (IsSkipped()) return;
    engine_.emplace();
    ASSERT_EQ(CUDA(cuInit)(0), CUDA_SUCCESS);
    ASSERT_EQ(CUDA(cuDevicePrimaryCtxRetain)(&cuda_, 0), CUDA_SUCCESS);
    ASSERT_EQ(CUDA(cuCtxSetCurrent)(cuda_), CUDA_SUCCESS);
    if (!engine_->api.vkGetMemoryFdKHR) GTEST_SKIP() << "skipped: the driver shares no memory by file descriptors";
  }
  void TearDown() override {
    if (cuda_) {
      EXPECT_EQ(CUDA(cuDevicePrimaryCtxRelease_v2)(0), CUDA_SUCCESS);
    }
    EngineTest::TearDown();
  }

  struct Shared {
    VkBuffer buffer = VK_NULL_HANDLE;
    VkImage image = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    VkDeviceSize size = 0;
  };

  Shared allocate(Shared shared, const VkMemoryRequirements& needed, bool isDedicated) {
    VkMemoryDedicatedAllocateInfo dedicated{};
    dedicated.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO;
    dedicated.buffer = shared.buffer;
    dedicated.image = shared.image;
    VkExportMemoryAllocateInfo exported{};
    exported.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO;
    exported.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    if (isDedicated) exported.pNext = &dedicated;
    VkMemoryAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    info.pNext = &exported;
    info.allocationSize = shared.size = needed.size;
    info.memoryTypeIndex = engine_->memoryType(needed.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    EXPECT_EQ(engine_->api.vkAllocateMemory(engine_->device, &info, nullptr, &shared.memory), VK_SUCCESS);
    return shared;
  }

  Shared shareBuffer(VkDeviceSize bytes, bool isDedicated = false) {
    VkExternalMemoryBufferCreateInfo external{};
    external.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO;
    external.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    VkBufferCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.pNext = &external;
    info.size = bytes;
    info.usage =
        VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    Shared shared;
    EXPECT_EQ(engine_->api.vkCreateBuffer(engine_->device, &info, nullptr, &shared.buffer), VK_SUCCESS);
    VkMemoryRequirements needed{};
    engine_->api.vkGetBufferMemoryRequirements(engine_->device, shared.buffer, &needed);
    shared = allocate(shared, needed, isDedicated);
    EXPECT_EQ(engine_->api.vkBindBufferMemory(engine_->device, shared.buffer, shared.memory, 0), VK_SUCCESS);
    return shared;
  }

  // Of 32-bit words, with three levels.
  Shared shareImage(bool isDedicated) {
    VkExternalMemoryImageCreateInfo external{};
    external.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO;
    external.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    VkImageCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
    info.pNext = &external;
    info.flags = VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT;
    info.imageType = VK_IMAGE_TYPE_2D;
    info.format = VK_FORMAT_R32_UINT;
    info.extent = {sideLength, sideLength, 1};
    info.mipLevels = 3;
    info.arrayLayers = 1;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                 VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    Shared shared;
    EXPECT_EQ(engine_->api.vkCreateImage(engine_->device, &info, nullptr, &shared.image), VK_SUCCESS);
    VkMemoryRequirements needed{};
    engine_->api.vkGetImageMemoryRequirements(engine_->device, shared.image, &needed);
    shared = allocate(shared, needed, isDedicated);
    EXPECT_EQ(engine_->api.vkBindImageMemory(engine_->device, shared.image, shared.memory, 0), VK_SUCCESS);
    return shared;
  }

  void destroy(const Shared& shared) {
    engine_->api.vkDestroyBuffer(engine_->device, shared.buffer, nullptr);
    engine_->api.vkDestroyImage(engine_->device, shared.image, nullptr);
    engine_->api.vkFreeMemory(engine_->device, shared.memory, nullptr);
  }

  int descriptorOf(const Shared& shared) {
    VkMemoryGetFdInfoKHR info{};
    info.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR;
    info.memory = shared.memory;
    info.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    int descriptor = -1;
    EXPECT_EQ(engine_->api.vkGetMemoryFdKHR(engine_->device, &info, &descriptor), VK_SUCCESS);
    return descriptor;
  }

  static CUresult import(int descriptor, VkDeviceSize size, unsigned flags, CUexternalMemory& out,
                         CUexternalMemoryHandleType type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD) {
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC info{};
    info.type = type;
    info.handle.fd = descriptor;
    info.size = size;
    info.flags = flags;
    return CUDA(cuImportExternalMemory)(&out, &info);
  }

  static CUresult map(CUexternalMemory memory, VkDeviceSize offset, VkDeviceSize size, CUdeviceptr& out) {
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC info{};
    info.offset = offset;
    info.size = size;
    return CUDA(cuExternalMemoryGetMappedBuffer)(&out, memory, &info);
  }

  // The engine's own view of the first words of the memory.
  template <size_t count>
  std::array<uint32_t, count> read(const Shared& shared, VkDeviceSize offset) {
    const Engine::Buffer host = engine_->makeBuffer(count * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    const VkCommandBuffer commands = engine_->beginCommands();
    const VkBufferCopy region{offset, 0, count * 4};
    engine_->api.vkCmdCopyBuffer(commands, shared.buffer, host.handle, 1, &region);
    engine_->wait(engine_->submit(commands));
    std::array<uint32_t, count> words;
    std::memcpy(words.data(), host.host, sizeof(words));
    engine_->destroy(host);
    return words;
  }

  void fill(const Shared& shared, uint32_t value) {
    const VkCommandBuffer commands = engine_->beginCommands();
    engine_->api.vkCmdFillBuffer(commands, shared.buffer, 0, VK_WHOLE_SIZE, value);
    engine_->wait(engine_->submit(commands));
  }

  std::optional<Engine> engine_;  // made where there is a device
  CUcontext cuda_ = nullptr;
};

const auto setWords = [](CUdeviceptr at, unsigned value, size_t count) {
  return find<CUresult(CUdeviceptr, unsigned, size_t)>("cuMemsetD32_v2")(at, value, count);
};
const auto readBytes = [](void* out, CUdeviceptr from, size_t bytes) {
  return find<CUresult(void*, CUdeviceptr, size_t)>("cuMemcpyDtoH_v2")(out, from, bytes);
};
const auto release = [](CUdeviceptr memory) { return find<CUresult(CUdeviceptr)>("cuMemFree_v2")(memory); };

}  // namespace

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
  EXPECT_EQ(import(file, shared.size, 0, memory), CUDA_ERROR_UNKNOWN);
  close(file);

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

namespace {

class ExternalSemaphoreTest : public ExternalTest {
 protected:
  void SetUp() override {
    ExternalTest::SetUp();
    if (!IsSkipped() && !engine_->api.vkGetSemaphoreFdKHR)
      GTEST_SKIP() << "skipped: the driver shares no semaphores by file descriptors";
  }

  VkSemaphore make(bool isTimeline, CUexternalSemaphore& imported) {
    VkExportSemaphoreCreateInfo exported{};
    exported.sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO;
    exported.handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
    VkSemaphoreTypeCreateInfo type{};
    type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
    type.pNext = &exported;
    type.semaphoreType = isTimeline ? VK_SEMAPHORE_TYPE_TIMELINE : VK_SEMAPHORE_TYPE_BINARY;
    VkSemaphoreCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
    info.pNext = &type;
    VkSemaphore semaphore = VK_NULL_HANDLE;
    EXPECT_EQ(engine_->api.vkCreateSemaphore(engine_->device, &info, nullptr, &semaphore), VK_SUCCESS);
    VkSemaphoreGetFdInfoKHR getInfo{};
    getInfo.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR;
    getInfo.semaphore = semaphore;
    getInfo.handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC description{};
    description.type = isTimeline ? CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD
                                  : CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD;
    EXPECT_EQ(engine_->api.vkGetSemaphoreFdKHR(engine_->device, &getInfo, &description.handle.fd), VK_SUCCESS);
    EXPECT_EQ(CUDA(cuImportExternalSemaphore)(&imported, &description), CUDA_SUCCESS);
    return semaphore;
  }

  static CUresult signal(CUexternalSemaphore semaphore, uint64_t value, CUstream stream) {
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS parameters{};
    parameters.params.fence.value = value;
    return CUDA(cuSignalExternalSemaphoresAsync)(&semaphore, &parameters, 1, stream);
  }
  static CUresult wait(CUexternalSemaphore semaphore, uint64_t value, CUstream stream) {
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS parameters{};
    parameters.params.fence.value = value;
    return CUDA(cuWaitExternalSemaphoresAsync)(&semaphore, &parameters, 1, stream);
  }
  static CUresult setWordsIn(CUstream stream, CUdeviceptr at, unsigned value, size_t count) {
    return CUDA(cuMemsetD32Async)(at, value, count, stream);
  }

  // Copies the words of the first half to the second, after `from` and before `to`.
  void copyOn(const Shared& shared, VkSemaphoreSubmitInfo from, VkSemaphoreSubmitInfo to) {
    const VkCommandBuffer commands = engine_->beginCommands();
    const VkBufferCopy region{0, 2048, 2048};
    engine_->api.vkCmdCopyBuffer(commands, shared.buffer, shared.buffer, 1, &region);
    EXPECT_EQ(engine_->api.vkEndCommandBuffer(commands), VK_SUCCESS);
    VkCommandBufferSubmitInfo buffer{};
    buffer.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO;
    buffer.commandBuffer = commands;
    VkSubmitInfo2 info{};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
    info.waitSemaphoreInfoCount = 1;
    info.pWaitSemaphoreInfos = &from;
    info.commandBufferInfoCount = 1;
    info.pCommandBufferInfos = &buffer;
    info.signalSemaphoreInfoCount = 1;
    info.pSignalSemaphoreInfos = &to;
    EXPECT_EQ(engine_->api.vkQueueSubmit2(engine_->queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
  }

  // A stream writes, the engine copies, and the stream reads what it copied, again and again.
  void exchange(bool isTimeline) {
    const Shared shared = shareBuffer(4096);
    CUexternalMemory memory = nullptr;
    ASSERT_EQ(import(descriptorOf(shared), shared.size, 0, memory), CUDA_SUCCESS);
    CUdeviceptr words = 0;
    ASSERT_EQ(map(memory, 0, 4096, words), CUDA_SUCCESS);
    CUexternalSemaphore ours = nullptr, theirs = nullptr;
    const VkSemaphore toEngine = make(isTimeline, ours), toCuda = make(isTimeline, theirs);
    CUstream stream = nullptr;
    ASSERT_EQ(CUDA(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    for (unsigned round = 1; round <= 20; ++round) {
      ASSERT_EQ(setWordsIn(stream, words, round, 512), CUDA_SUCCESS);
      ASSERT_EQ(signal(ours, round, stream), CUDA_SUCCESS);
      copyOn(shared, Engine::at(toEngine, round), Engine::at(toCuda, round));
      ASSERT_EQ(wait(theirs, round, stream), CUDA_SUCCESS);
      uint32_t copied[512] = {};
      ASSERT_EQ(find<CUresult(void*, CUdeviceptr, size_t, CUstream)>("cuMemcpyDtoHAsync_v2")(copied, words + 2048,
                                                                                             sizeof(copied), stream),
                CUDA_SUCCESS);
      ASSERT_EQ(CUDA(cuStreamSynchronize)(stream), CUDA_SUCCESS);
      for (const uint32_t word : copied) ASSERT_EQ(word, round);
    }
    EXPECT_EQ(find<CUresult(CUstream)>("cuStreamDestroy_v2")(stream), CUDA_SUCCESS);
    EXPECT_EQ(CUDA(cuDestroyExternalSemaphore)(ours), CUDA_SUCCESS);
    EXPECT_EQ(CUDA(cuDestroyExternalSemaphore)(theirs), CUDA_SUCCESS);
    EXPECT_EQ(release(words), CUDA_SUCCESS);
    EXPECT_EQ(CUDA(cuDestroyExternalMemory)(memory), CUDA_SUCCESS);
    engine_->api.vkDeviceWaitIdle(engine_->device);
    engine_->api.vkDestroySemaphore(engine_->device, toEngine, nullptr);
    engine_->api.vkDestroySemaphore(engine_->device, toCuda, nullptr);
    destroy(shared);
  }
};

}  // namespace

TEST_F(ExternalSemaphoreTest, BinarySemaphoresOrderBothSides) { exchange(false); }

TEST_F(ExternalSemaphoreTest, TimelinesOrderBothSides) { exchange(true); }

TEST_F(ExternalSemaphoreTest, AStreamThatWaitsHoldsUpNoOther) {
  CUexternalSemaphore imported = nullptr;
  const VkSemaphore timeline = make(true, imported);
  std::array<CUstream, 8> streams{};
  for (CUstream& stream : streams) {
    ASSERT_EQ(CUDA(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    // More streams than queues: each waits for what the next one signals, the last for the engine.
    const auto place = static_cast<uint64_t>(&stream - streams.data());
    ASSERT_EQ(wait(imported, streams.size() - place, stream), CUDA_SUCCESS);
    ASSERT_EQ(signal(imported, streams.size() - place + 1, stream), CUDA_SUCCESS);
  }
  EXPECT_EQ(CUDA(cuStreamQuery)(streams.back()), CUDA_ERROR_NOT_READY);
  VkSemaphoreSignalInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO;
  info.semaphore = timeline;
  info.value = 1;
  ASSERT_EQ(engine_->api.vkSignalSemaphore(engine_->device, &info), VK_SUCCESS);
  for (CUstream stream : streams) EXPECT_EQ(CUDA(cuStreamSynchronize)(stream), CUDA_SUCCESS);
  uint64_t value = 0;
  engine_->api.vkGetSemaphoreCounterValue(engine_->device, timeline, &value);
  EXPECT_EQ(value, streams.size() + 1);
  for (CUstream stream : streams) EXPECT_EQ(find<CUresult(CUstream)>("cuStreamDestroy_v2")(stream), CUDA_SUCCESS);
  EXPECT_EQ(CUDA(cuDestroyExternalSemaphore)(imported), CUDA_SUCCESS);
  engine_->api.vkDestroySemaphore(engine_->device, timeline, nullptr);
}

}  // namespace mulciber::test
