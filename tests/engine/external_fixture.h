// Memory and semaphores of an engine's device in CUDA: another device of the same GPU, as programs for Vulkan and CUDA
// have it.
#pragma once

#include <array>
#include <cstring>
#include <optional>

#include "engine/cuda_library.h"

namespace mulciber::test {

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

inline const auto setWords = [](CUdeviceptr at, unsigned value, size_t count) {
  return find<CUresult(CUdeviceptr, unsigned, size_t)>("cuMemsetD32_v2")(at, value, count);
};
inline const auto readBytes = [](void* out, CUdeviceptr from, size_t bytes) {
  return find<CUresult(void*, CUdeviceptr, size_t)>("cuMemcpyDtoH_v2")(out, from, bytes);
};
inline const auto release = [](CUdeviceptr memory) { return find<CUresult(CUdeviceptr)>("cuMemFree_v2")(memory); };

}  // namespace mulciber::test
