#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <thread>

#include "vulkan_test.h"

namespace mulciber::vk {
namespace {

class MemoryTest : public VulkanTest {
 protected:
  Memory allocate(MemoryUse use, uint64_t size) {
    Memory memory;
    EXPECT_EQ(device->allocator().allocate(use, size, memory), Status::Ok);
    return memory;
  }
};

// MEM-01: aligned, and no two live allocations overlap, whatever the order of frees.
TEST_F(MemoryTest, LiveAllocationsNeverOverlap) {
  std::mt19937 random(1);
  std::map<uint64_t, Memory> live;
  const uint64_t before = device->allocator().allocatedBytes();
  for (int step = 0; step < 4000; ++step) {
    if (live.size() > 200 || (!live.empty() && random() % 3 == 0)) {
      const auto victim = std::next(live.begin(), static_cast<long>(random() % live.size()));
      device->allocator().free(victim->second);
      live.erase(victim);
      continue;
    }
    const uint64_t size = 1 + random() % (random() % 8 == 0 ? 3'000'000 : 5000);
    const Memory memory = allocate(MemoryUse::Device, size);
    ASSERT_EQ(memory.address % (size < 1u << 20 ? 512 : 2u << 20), 0u) << size;
    ASSERT_GE(memory.size, size);
    const auto next = live.lower_bound(memory.address);
    if (next != live.end()) {
      ASSERT_LE(memory.address + memory.size, next->first);
    }
    if (next != live.begin()) {
      ASSERT_LE(std::prev(next)->first + std::prev(next)->second.size, memory.address);
    }
    live.emplace(memory.address, memory);
  }
  for (const auto& [address, memory] : live) device->allocator().free(memory);
  EXPECT_EQ(device->allocator().allocatedBytes(), before);
}

// PIN-05: one number on both sides, where the device can do that.
TEST_F(MemoryTest, HostMemoryHasOneAddressOnBothSides) {
  if (!device->allocator().hasEqualAddresses()) GTEST_SKIP() << "skipped: the device has no placed mapping";
  for (const uint64_t size : {64ull, 1ull << 20, 100ull << 20}) {
    const Memory memory = allocate(MemoryUse::Host, size);
    EXPECT_EQ(reinterpret_cast<uint64_t>(memory.host), memory.address) << size;
    std::memset(memory.host, 1, size);
    device->allocator().free(memory);
  }
}

TEST_F(MemoryTest, TooMuchIsRefusedAndTheNextIsNot) {
  Memory memory;
  EXPECT_EQ(device->allocator().allocate(MemoryUse::Device, uint64_t(1) << 46, memory), Status::OutOfMemory);
  EXPECT_EQ(device->allocator().allocate(MemoryUse::Device, ~uint64_t(0), memory), Status::OutOfMemory);
  device->allocator().free(allocate(MemoryUse::Device, 1 << 20));
}

TEST_F(MemoryTest, FreeAndTotalAddUp) {
  uint64_t before = 0, after = 0, total = 0;
  device->allocator().usage(before, total);
  const Memory memory = allocate(MemoryUse::Device, 300 << 20);
  device->allocator().usage(after, total);
  EXPECT_LE(after + (300u << 20), before + (8u << 20));
  EXPECT_LE(before, total);
  device->allocator().free(memory);
}

// MEM-11: of memory that is allocated past the allocator, as ranges of addresses need it.
TEST_F(MemoryTest, ReservationsAreNotFree) {
  Allocator& allocator = device->allocator();
  const VkPhysicalDeviceMemoryProperties& memory = device->physical().memory;
  uint64_t before = 0, during = 0, after = 0, total = 0;
  allocator.usage(before, total);
  uint32_t type = 0;  // of the heap that is told of
  while (memory.memoryHeaps[memory.memoryTypes[type].heapIndex].size != total)
    ASSERT_LT(++type, memory.memoryTypeCount);
  auto reservation = allocator.reserve(type, 300 << 20);
  ASSERT_TRUE(reservation);
  allocator.usage(during, total);
  EXPECT_LE(during + (300u << 20), before + (8u << 20));
  EXPECT_FALSE(allocator.reserve(type, total - (299u << 20))) << "more than there is";
  reservation = nullptr;
  allocator.usage(after, total);
  EXPECT_GE(after + (8u << 20), before);
  EXPECT_TRUE(allocator.reserve(type, total / 2));
}

// MEM-11: what is kept for the next allocation counts as free, serves it, and goes when somebody needs the memory.
TEST_F(MemoryTest, LargePiecesAreKeptForTheNext) {
  Allocator& allocator = device->allocator();
  uint64_t before = 0, after = 0, total = 0;
  allocator.trim();
  allocator.usage(before, total);
  const Memory first = allocate(MemoryUse::Device, 100 << 20);
  allocator.free(first);
  allocator.usage(after, total);
  EXPECT_GE(after + (2u << 20), before);
  // One small allocation must not pin the large piece.
  const Memory small = allocate(MemoryUse::Device, 1000);
  EXPECT_NE(small.chunk, first.chunk);
  const Memory second = allocate(MemoryUse::Device, (100 << 20) - 5000);
  EXPECT_EQ(second.address, first.address);
  allocator.free(second);
  const Memory other = allocate(MemoryUse::Device, 70 << 20);  // too much would lie idle
  EXPECT_NE(other.chunk, first.chunk);
  EXPECT_TRUE(allocator.trim());
  EXPECT_FALSE(allocator.trim());
  allocator.free(other);
  allocator.free(small);
}

TEST_F(MemoryTest, NoMoreIsKeptThanTheBound) {
  Allocator& allocator = device->allocator();
  allocator.trim();
  std::vector<Memory> pieces;
  for (int i = 0; i < 8; ++i) pieces.push_back(allocate(MemoryUse::Host, 70 << 20));
  for (const Memory& piece : pieces) allocator.free(piece);
  // The latest are still there, the first is not where this bound is smaller than all of them.
  const Memory again = allocate(MemoryUse::Host, 70 << 20);
  EXPECT_NE(std::count_if(pieces.begin(), pieces.end(), [&](const auto& p) { return p.chunk == again.chunk; }), 0);
  allocator.free(again);
  EXPECT_TRUE(allocator.trim());
}

TEST_F(MemoryTest, TheDeviceReadsWhatTheHostWroteToUploadMemory) {
  const uint64_t bytes = 40'000;
  const Memory upload = allocate(MemoryUse::Upload, bytes), copy = allocate(MemoryUse::Host, bytes);
  ASSERT_NE(upload.host, nullptr);
  for (unsigned char value : {3, 4}) {  // the second time nothing may come from what was read before
    std::memset(upload.host, value, bytes);
    runNow([&](Commands& commands) {
      commands.copy({copy.address, upload.address, bytes});
      return Status::Ok;
    });
    const auto* const first = static_cast<const unsigned char*>(copy.host);
    EXPECT_EQ(std::count(first, first + bytes, value), static_cast<long>(bytes));
  }
  device->allocator().free(upload);
  device->allocator().free(copy);
}

TEST_F(MemoryTest, ImportedHostMemoryIsSeenByTheDevice) {
  if (!device->allocator().canImportHost()) GTEST_SKIP() << "skipped: the device cannot import host memory";
  std::vector<uint32_t> words(100'000, 5);
  Memory memory;
  ASSERT_EQ(device->allocator().importHost(words.data() + 3, 4 * 90'000, memory), Status::Ok);
  runNow([&](Commands& commands) {
    commands.fill({memory.address, 77, 4, 90'000});
    return Status::Ok;
  });
  EXPECT_EQ(words[2], 5u);
  EXPECT_EQ(words[3], 77u);
  EXPECT_EQ(words[90'002], 77u);
  EXPECT_EQ(words[90'003], 5u);
  device->allocator().free(memory);
}

TEST_F(MemoryTest, ManyThreadsAllocateAtOnce) {
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed)
    threads.emplace_back([this, seed] {
      std::mt19937 random(seed);
      std::vector<Memory> mine;
      for (int step = 0; step < 500; ++step) {
        Memory memory;
        if (device->allocator().allocate(MemoryUse::Host, 1 + random() % 9000, memory) != Status::Ok) {
          ADD_FAILURE();
          return;
        }
        std::memset(memory.host, static_cast<int>(seed), memory.size);
        mine.push_back(memory);
        if (mine.size() > 50) {
          const auto* bytes = static_cast<const unsigned char*>(mine.front().host);
          EXPECT_TRUE(std::all_of(bytes, bytes + mine.front().size, [seed](unsigned char b) { return b == seed; }));
          device->allocator().free(mine.front());
          mine.erase(mine.begin());
        }
      }
      for (const Memory& memory : mine) device->allocator().free(memory);
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace mulciber::vk
