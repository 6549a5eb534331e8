// Images of the engine's as CUDA arrays, textures and surfaces, and CUDA's arrays as images.
#include <algorithm>

#include "engine/cuda_library.h"
#include "engine/recording_fixture.h"

namespace mulciber::test {

namespace {

constexpr uint32_t width = 24, height = 10;

class ImageTest : public RecordingTest {
 protected:
  struct Image {
    VkImage handle = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
  };

  static VkImageCreateInfo usualInfo() {
    VkImageCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
    info.flags = VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT;
    info.imageType = VK_IMAGE_TYPE_2D;
    info.format = VK_FORMAT_R8G8B8A8_UNORM;
    info.extent = {width, height, 1};
    info.mipLevels = info.arrayLayers = 1;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                 VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    return info;
  }
  // In layout GENERAL from the first command buffer on.
  Image make(const VkImageCreateInfo& info) {
    Image image;
    EXPECT_EQ(engine->api.vkCreateImage(engine->device, &info, nullptr, &image.handle), VK_SUCCESS);
    VkMemoryRequirements needs{};
    engine->api.vkGetImageMemoryRequirements(engine->device, image.handle, &needs);
    VkMemoryAllocateInfo memory{};
    memory.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    memory.allocationSize = needs.size;
    memory.memoryTypeIndex = engine->memoryType(needs.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    EXPECT_EQ(engine->api.vkAllocateMemory(engine->device, &memory, nullptr, &image.memory), VK_SUCCESS);
    EXPECT_EQ(engine->api.vkBindImageMemory(engine->device, image.handle, image.memory, 0), VK_SUCCESS);
    const VkCommandBuffer commands = engine->beginCommands();
    VkImageMemoryBarrier2 barrier{};
    barrier.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2;
    barrier.dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    barrier.dstAccessMask = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT;
    barrier.newLayout = VK_IMAGE_LAYOUT_GENERAL;
    barrier.image = image.handle;
    barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, info.mipLevels, 0, info.arrayLayers};
    VkDependencyInfo dependency{};
    dependency.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
    dependency.imageMemoryBarrierCount = 1;
    dependency.pImageMemoryBarriers = &barrier;
    engine->api.vkCmdPipelineBarrier2(commands, &dependency);
    engine->wait(engine->submit(commands));
    return image;
  }
  void destroy(const Image& image) {
    engine->api.vkDestroyImage(engine->device, image.handle, nullptr);
    engine->api.vkFreeMemory(engine->device, image.memory, nullptr);
  }
  static VkBufferImageCopy whole() {
    VkBufferImageCopy region{};
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    region.imageExtent = {width, height, 1};
    return region;
  }
};

uint8_t red(uint32_t x, uint32_t y) { return static_cast<uint8_t>(4 * x + y); }

}  // namespace

// The engine fills an image, a kernel reads it as a texture and writes another as a surface, and the engine copies
// that: all in one command buffer.
TEST_F(ImageTest, KernelsReadAndWriteTheEnginesImages) {
  const VkImageCreateInfo info = usualInfo();
  const Image from = make(info), to = make(info);
  MulciberImage source = nullptr, target = nullptr;
  ASSERT_OK(mulciberWrapImage(engine->context, from.handle, &info, &source));
  ASSERT_OK(mulciberWrapImage(engine->context, to.handle, &info, &target));
  const MulciberTextureInfo look{sizeof(look),
                                 MULCIBER_TEXTURE_NORMALIZED_COORDINATES,
                                 {VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                                  VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE}};
  uint64_t texture = 0, surface = 0;
  ASSERT_OK(mulciberCreateTexture(source, &look, &texture));
  ASSERT_OK(mulciberCreateSurface(target, 0, &surface));
  EXPECT_NE(mulciberCreateSurface(target, 1, &surface), MULCIBER_SUCCESS);  // it has one level

  const VkDeviceSize bytes = width * height * 4;
  const Engine::Buffer buffer =
      engine->makeBuffer(bytes, VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  auto* texels = static_cast<uint8_t*>(buffer.host);
  for (uint32_t y = 0; y < height; ++y)
    for (uint32_t x = 0; x < width; ++x) {
      uint8_t* texel = texels + (y * width + x) * 4;
      texel[0] = red(x, y);
      texel[1] = static_cast<uint8_t>(200 - x);
    }
  Calls::get().clear();
  const VkCommandBuffer commands = engine->beginCommands();
  const VkBufferImageCopy region = whole();
  engine->api.vkCmdCopyBufferToImage(commands, buffer.handle, from.handle, VK_IMAGE_LAYOUT_GENERAL, 1, &region);
  const MulciberRecording recording =
      engine->record(commands, ++frame, MULCIBER_RECORDING_BARRIER_BEFORE | MULCIBER_RECORDING_BARRIER_AFTER);
  int columns = width, rows = height;
  void* arguments[] = {&texture, &surface, &columns, &rows};
  const MulciberLaunch launch{{3, 2, 1}, {8, 8, 1}, 0, arguments, nullptr, 0};
  EXPECT_OK(mulciberRecordLaunch(recording, engine->kernel("mirror"), &launch));
  EXPECT_OK(mulciberEndRecording(recording));
  engine->api.vkCmdCopyImageToBuffer(commands, to.handle, VK_IMAGE_LAYOUT_GENERAL, buffer.handle, 1, &region);
  engine->barrier(commands, VK_PIPELINE_STAGE_2_COPY_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_2_HOST_BIT,
                  VK_ACCESS_2_HOST_READ_BIT);
  EXPECT_EQ(Calls::get().ofTransfers(), 0);  // of Mulciber's
  engine->wait(engine->submit(commands));
  for (uint32_t y = 0; y < height; ++y)
    for (uint32_t x = 0; x < width; ++x) {
      const uint8_t* texel = texels + (y * width + x) * 4;
      ASSERT_EQ(texel[0], static_cast<uint8_t>(2 * red(width - 1 - x, y))) << x << "," << y;
      ASSERT_EQ(texel[1], 200 - (width - 1 - x));
      ASSERT_EQ(texel[2], x);
      ASSERT_EQ(texel[3], y);
    }
  EXPECT_OK(mulciberRetireFrames(engine->context, frame));
  EXPECT_OK(mulciberUnwrapImage(source));
  EXPECT_OK(mulciberUnwrapImage(target));
  engine->destroy(buffer);
  destroy(from);
  destroy(to);
}

TEST_F(ImageTest, TheCudaLibrariesHaveThemToo) {
  VkImageCreateInfo info = usualInfo();
  info.mipLevels = 2;
  const Image image = make(info);
  MulciberImage wrapped = nullptr;
  ASSERT_OK(mulciberWrapImage(engine->context, image.handle, &info, &wrapped));
  ASSERT_EQ(CUDA(cuInit)(0), CUDA_SUCCESS);
  ASSERT_EQ(CUDA(cuCtxSetCurrent)(static_cast<CUcontext>(mulciberGetCudaContext(engine->context))), CUDA_SUCCESS);
  CUarray level = nullptr;
  ASSERT_EQ(
      CUDA(cuMipmappedArrayGetLevel)(&level, static_cast<CUmipmappedArray>(mulciberGetCudaMipmappedArray(wrapped)), 1),
      CUDA_SUCCESS);
  const auto copy2d = find<CUresult(const CUDA_MEMCPY2D*)>("cuMemcpy2D_v2");
  std::vector<uint32_t> texels(width / 2 * height / 2, 0x12345678), found(texels.size());
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = texels.data();
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = level;
  copy.srcPitch = copy.dstPitch = copy.WidthInBytes = width / 2 * 4;
  copy.Height = height / 2;
  ASSERT_EQ(copy2d(&copy), CUDA_SUCCESS);
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = level;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = found.data();
  ASSERT_EQ(copy2d(&copy), CUDA_SUCCESS);
  EXPECT_EQ(found, texels);

  // And the other way round: an array that the CUDA libraries made, as an image.
  CUDA_ARRAY_DESCRIPTOR shape{};
  shape.Width = width;
  shape.Height = height;
  shape.Format = CU_AD_FORMAT_UNSIGNED_INT8;
  shape.NumChannels = 4;
  CUarray array = nullptr;
  ASSERT_EQ(find<CUresult(CUarray*, const CUDA_ARRAY_DESCRIPTOR*)>("cuArrayCreate_v2")(&array, &shape), CUDA_SUCCESS);
  texels.assign(width * height, 0xA0B0C0D0);
  copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = texels.data();
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.srcPitch = copy.WidthInBytes = width * 4;
  copy.Height = height;
  ASSERT_EQ(copy2d(&copy), CUDA_SUCCESS);
  MulciberImageLevel place{};
  ASSERT_OK(mulciberGetImage(engine->context, array, &place));
  EXPECT_EQ(place.level, 0u);
  EXPECT_EQ(place.viewFormat, VK_FORMAT_R8G8B8A8_UNORM);
  EXPECT_NE(place.view, VK_NULL_HANDLE);
  const Engine::Buffer buffer = engine->makeBuffer(width * height * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  const VkCommandBuffer commands = engine->beginCommands();
  const VkBufferImageCopy region = whole();
  engine->api.vkCmdCopyImageToBuffer(commands, place.image, VK_IMAGE_LAYOUT_GENERAL, buffer.handle, 1, &region);
  engine->barrier(commands, VK_PIPELINE_STAGE_2_COPY_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_2_HOST_BIT,
                  VK_ACCESS_2_HOST_READ_BIT);
  engine->wait(engine->submit(commands));
  EXPECT_TRUE(std::equal(texels.begin(), texels.end(), static_cast<const uint32_t*>(buffer.host)));
  engine->destroy(buffer);
  EXPECT_EQ(CUDA(cuArrayDestroy)(array), CUDA_SUCCESS);
  EXPECT_EQ(mulciberGetImage(engine->context, array, &place), MULCIBER_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(CUDA(cuCtxSetCurrent)(nullptr), CUDA_SUCCESS);
  EXPECT_OK(mulciberUnwrapImage(wrapped));
  destroy(image);
}

TEST_F(ImageTest, RefusesWhatIsNoCudaArray) {
  const VkImageCreateInfo good = usualInfo();
  const Image image = make(good);
  MulciberImage wrapped = nullptr;
  const auto refuses = [&](const char* why, const auto& change) {
    VkImageCreateInfo info = good;
    change(info);
    EXPECT_EQ(mulciberWrapImage(engine->context, image.handle, &info, &wrapped), MULCIBER_ERROR_INVALID_ARGUMENT);
    EXPECT_NE(std::string(mulciberGetErrorMessage()).find(why), std::string::npos) << mulciberGetErrorMessage();
  };
  refuses("no arrays of the VkFormat 44", [](auto& info) { info.format = VK_FORMAT_B8G8R8A8_UNORM; });
  refuses("no arrays of the VkFormat 126", [](auto& info) { info.format = VK_FORMAT_D32_SFLOAT; });
  refuses("MUTABLE_FORMAT", [](auto& info) { info.flags = 0; });
  refuses("several samples", [](auto& info) { info.samples = VK_SAMPLE_COUNT_4_BIT; });
  refuses("tiling", [](auto& info) { info.tiling = VK_IMAGE_TILING_LINEAR; });
  refuses("without VK_IMAGE_USAGE_SAMPLED_BIT", [](auto& info) { info.usage = VK_IMAGE_USAGE_STORAGE_BIT; });
  EXPECT_EQ(mulciberWrapImage(engine->context, VK_NULL_HANDLE, &good, &wrapped), MULCIBER_ERROR_INVALID_ARGUMENT);
  VkImageCreateInfo sampled = good;
  sampled.usage &= ~VK_IMAGE_USAGE_STORAGE_BIT;
  ASSERT_OK(mulciberWrapImage(engine->context, image.handle, &sampled, &wrapped));
  uint64_t object = 0;
  EXPECT_EQ(mulciberCreateSurface(wrapped, 0, &object), MULCIBER_ERROR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(mulciberGetErrorMessage()).find("VK_IMAGE_USAGE_STORAGE_BIT"), std::string::npos);
  MulciberTextureInfo look{};
  EXPECT_EQ(mulciberCreateTexture(wrapped, &look, &object), MULCIBER_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(mulciberGetCudaMipmappedArray(nullptr), nullptr);
  EXPECT_OK(mulciberUnwrapImage(wrapped));
  destroy(image);
}

}  // namespace mulciber::test
