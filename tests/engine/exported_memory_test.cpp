// Memory of cuMemCreate, exported and bound to buffers of an engine's device.
#include <algorithm>
#include <vector>

#include "engine/external_fixture.h"

namespace mulciber::test {
namespace {

class ExportedMemoryTest : public ExternalTest {
 protected:
  static constexpr auto type = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  static constexpr size_t bytes = 8u << 20, words = bytes / 4;

  void SetUp() override {
    ExternalTest::SetUp();
    if (IsSkipped()) return;
    int isSupported = 0;
    ASSERT_EQ(
        CUDA(cuDeviceGetAttribute)(&isSupported, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 0),
        CUDA_SUCCESS);
    if (isSupported == 0) GTEST_SKIP() << "skipped: memory of cuMemCreate is not exported here";
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = 0;
    properties.requestedHandleTypes = type;
    ASSERT_EQ(CUDA(cuMemCreate)(&memory_, bytes, &properties, 0), CUDA_SUCCESS);
    ASSERT_EQ(CUDA(cuMemAddressReserve)(&range_, 2 * bytes, 0, 0, 0), CUDA_SUCCESS);
    // In two pieces, each at the other's place.
    at_ = range_ + bytes / 2;
    ASSERT_EQ(CUDA(cuMemMap)(at_, bytes / 2, bytes / 2, memory_, 0), CUDA_SUCCESS);
    ASSERT_EQ(CUDA(cuMemMap)(at_ + bytes / 2, bytes / 2, 0, memory_, 0), CUDA_SUCCESS);
    CUmemAccessDesc access{properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    ASSERT_EQ(CUDA(cuMemSetAccess)(at_, bytes, &access, 1), CUDA_SUCCESS);
  }

  void TearDown() override {
    if (at_ != 0) {
      EXPECT_EQ(CUDA(cuMemUnmap)(at_, bytes), CUDA_SUCCESS);
      EXPECT_EQ(CUDA(cuMemAddressFree)(range_, 2 * bytes), CUDA_SUCCESS);
      EXPECT_EQ(CUDA(cuMemRelease)(memory_), CUDA_SUCCESS);
    }
    ExternalTest::TearDown();
  }

  Shared importIntoEngine(bool isDedicated) {
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
    EXPECT_EQ(needed.size, bytes);
    VkMemoryDedicatedAllocateInfo dedicated{};
    dedicated.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO;
    dedicated.buffer = shared.buffer;
    VkImportMemoryFdInfoKHR import{};
    import.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR;
    import.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    EXPECT_EQ(CUDA(cuMemExportToShareableHandle)(&import.fd, memory_, type, 0), CUDA_SUCCESS);
    if (isDedicated) import.pNext = &dedicated;
    VkMemoryAllocateInfo allocation{};
    allocation.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    allocation.pNext = &import;
    allocation.allocationSize = shared.size = bytes;
    allocation.memoryTypeIndex = engine_->memoryType(needed.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    EXPECT_EQ(engine_->api.vkAllocateMemory(engine_->device, &allocation, nullptr, &shared.memory), VK_SUCCESS);
    EXPECT_EQ(engine_->api.vkBindBufferMemory(engine_->device, shared.buffer, shared.memory, 0), VK_SUCCESS);
    return shared;
  }

  void copy(VkBuffer from, VkBuffer to) {
    const VkCommandBuffer commands = engine_->beginCommands();
    const VkBufferCopy region{0, 0, bytes};
    engine_->api.vkCmdCopyBuffer(commands, from, to, 1, &region);
    engine_->wait(engine_->submit(commands));
  }

  // How many words differ on either side.
  size_t wrongWords(const Shared& shared, const Engine::Buffer& host, const std::vector<uint32_t>& wanted) {
    std::vector<uint32_t> seen(words);
    EXPECT_EQ(readBytes(seen.data(), at_, bytes), CUDA_SUCCESS);
    std::rotate(seen.begin(), seen.begin() + words / 2, seen.end());
    copy(shared.buffer, host.handle);
    const auto* const engines = static_cast<const uint32_t*>(host.host);
    size_t wrong = 0;
    for (size_t word = 0; word < words; ++word) wrong += (seen[word] != wanted[word]) + (engines[word] != wanted[word]);
    return wrong;
  }

  CUmemGenericAllocationHandle memory_ = 0;
  CUdeviceptr range_ = 0, at_ = 0;
};

TEST_F(ExportedMemoryTest, IsTheSameForBuffersOfAnEngine) {
  const auto writeBytes = find<CUresult(CUdeviceptr, const void*, size_t)>("cuMemcpyHtoD_v2");
  const Engine::Buffer host =
      engine_->makeBuffer(bytes, VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  for (const bool isDedicated : {false, true}) {
    const Shared shared = importIntoEngine(isDedicated);
    const auto wrong = [&](const std::vector<uint32_t>& wanted) { return wrongWords(shared, host, wanted); };
    std::vector<uint32_t> numbers(words);
    for (uint32_t round = 1; round <= 3; ++round) {
      fill(shared, round);
      EXPECT_EQ(wrong(std::vector<uint32_t>(words, round)), 0u) << "filled by the engine";
      ASSERT_EQ(setWords(at_, 100 + round, words), CUDA_SUCCESS);
      ASSERT_EQ(CUDA(cuCtxSynchronize)(), CUDA_SUCCESS);
      EXPECT_EQ(wrong(std::vector<uint32_t>(words, 100 + round)), 0u) << "filled by CUDA";
      for (size_t word = 0; word < words; ++word) numbers[word] = static_cast<uint32_t>(word) * round;
      std::memcpy(host.host, numbers.data(), bytes);
      copy(host.handle, shared.buffer);
      EXPECT_EQ(wrong(numbers), 0u) << "copied by the engine";
      for (uint32_t& number : numbers) number = ~number;
      ASSERT_EQ(writeBytes(at_, numbers.data() + words / 2, bytes / 2), CUDA_SUCCESS);
      ASSERT_EQ(writeBytes(at_ + bytes / 2, numbers.data(), bytes / 2), CUDA_SUCCESS);
      EXPECT_EQ(wrong(numbers), 0u) << "copied by CUDA";
    }
    destroy(shared);
  }
  engine_->destroy(host);
}

}  // namespace
}  // namespace mulciber::test
