#include <atomic>
#include <chrono>
#include <map>
#include <random>
#include <thread>
#include <utility>

#include "core_test.h"
#include "runtime/core/memory_pool.h"
#include "runtime/vk/device.h"

namespace mulciber::core {
namespace {

class MemoryPoolTest : public CoreTest {
 protected:
  void SetUp() override {
    CoreTest::SetUp();
    if (device) pool = device->addPool(std::make_shared<MemoryPool>(*device, MemoryKind::Device, 0));
  }
  void TearDown() override {
    CoreTest::TearDown();
    if (pool) {
      EXPECT_EQ(value(PoolAttribute::UsedCurrent), 0u);
      EXPECT_OK(device->destroyPool(pool.get()));
    }
  }
  uint64_t take(Stream& on, size_t bytes) {
    uint64_t address = 0;
    EXPECT_OK(context->allocateAsync(*pool, bytes, on, address));
    return address;
  }
  uint64_t value(PoolAttribute attribute) {
    uint64_t value = 0;
    EXPECT_OK(pool->attribute(attribute, value));
    return value;
  }
  // Keeps a stream from going on until it is let go.
  void hold(Stream& held) {
    EXPECT_OK(held.hostFunction([this](Error) {
      while (!released) std::this_thread::yield();
    }));
  }
  MemoryPoolRef pool;
  std::atomic<bool> released{false};
};

TEST_F(MemoryPoolTest, TheSameStreamGetsAFreedBlockAtOnce) {
  Stream& on = newStream(Stream::NonBlocking);
  hold(on);
  const uint64_t first = take(on, 100000);
  EXPECT_OK(context->freeAsync(first, on));
  EXPECT_EQ(take(on, 100000), first);
  released = true;
  EXPECT_OK(context->freeAsync(first, on));
  EXPECT_EQ(context->freeAsync(first, on), Error::InvalidValue);
}

TEST_F(MemoryPoolTest, AnotherStreamGetsItWhenItIsPassed) {
  Stream& on = newStream(Stream::NonBlocking);
  Stream& other = newStream(Stream::NonBlocking);
  hold(on);
  const uint64_t first = take(on, 100000);
  EXPECT_OK(context->freeAsync(first, on));
  const uint64_t second = take(other, 100000);
  EXPECT_NE(second, first);
  released = true;
  EXPECT_OK(on.synchronize());
  EXPECT_EQ(take(other, 100000), first);
  EXPECT_OK(context->freeAsync(first, other));
  EXPECT_OK(context->freeAsync(second, other));
}

TEST_F(MemoryPoolTest, AFullPoolMakesAStreamWaitForTheOther) {
  const MemoryPoolRef unlimited = pool;
  pool = device->addPool(std::make_shared<MemoryPool>(*device, MemoryKind::Device, 2u << 20));
  Stream& on = newStream(Stream::NonBlocking);
  Stream& other = newStream(Stream::NonBlocking);
  const uint64_t only = take(on, 2u << 20);
  hold(on);
  ASSERT_OK(fill32(on, only, 1, 100));
  uint64_t more = 0;
  EXPECT_EQ(context->allocateAsync(*pool, 512, other, more), Error::OutOfMemory);
  EXPECT_OK(context->freeAsync(only, on));
  ASSERT_OK(pool->setAttribute(PoolAttribute::ReuseAllowInternalDependencies, 0));
  EXPECT_EQ(context->allocateAsync(*pool, 2u << 20, other, more), Error::OutOfMemory);
  ASSERT_OK(pool->setAttribute(PoolAttribute::ReuseAllowInternalDependencies, 1));
  ASSERT_EQ(take(other, 2u << 20), only);
  ASSERT_OK(fill32(other, only, 2, 100));
  EXPECT_EQ(other.query(), Error::NotReady);  // behind what is held
  released = true;
  ASSERT_OK(other.synchronize());
  uint32_t word = 0;
  EXPECT_OK(context->readMemory(only, &word, 4));
  EXPECT_EQ(word, 2u);
  EXPECT_OK(context->freeAsync(only, other));
  EXPECT_OK(device->destroyPool(unlimited.get()));
}

TEST_F(MemoryPoolTest, CountsAndTheReleaseThreshold) {
  Stream& on = newStream();
  const uint64_t a = take(on, 1000), b = take(on, 40u << 20);
  EXPECT_EQ(value(PoolAttribute::UsedCurrent), 1000u + (40u << 20));
  EXPECT_EQ(value(PoolAttribute::ReservedCurrent), 72u << 20);
  EXPECT_OK(context->freeAsync(b, on));
  EXPECT_EQ(value(PoolAttribute::ReservedCurrent), 72u << 20);
  EXPECT_OK(on.synchronize());  // the threshold is 0: what is not used goes
  EXPECT_EQ(value(PoolAttribute::ReservedCurrent), 32u << 20);
  ASSERT_OK(pool->setAttribute(PoolAttribute::ReleaseThreshold, UINT64_MAX));
  EXPECT_OK(context->free(a));
  EXPECT_OK(on.synchronize());
  EXPECT_EQ(value(PoolAttribute::ReservedCurrent), 32u << 20);
  EXPECT_EQ(value(PoolAttribute::UsedHigh), 1000u + (40u << 20));
  EXPECT_EQ(pool->setAttribute(PoolAttribute::UsedHigh, 1), Error::InvalidValue);
  EXPECT_OK(pool->setAttribute(PoolAttribute::UsedHigh, 0));
  EXPECT_EQ(value(PoolAttribute::UsedHigh), 0u);
  EXPECT_EQ(pool->setAttribute(PoolAttribute::UsedCurrent, 0), Error::InvalidValue);
  pool->trim(0);
  EXPECT_EQ(value(PoolAttribute::ReservedCurrent), 0u);
}

TEST_F(MemoryPoolTest, AnAllocationGetsWhatPoolsHoldBack) {
  Stream& on = newStream();
  ASSERT_OK(pool->setAttribute(PoolAttribute::ReleaseThreshold, UINT64_MAX));
  EXPECT_OK(context->freeAsync(take(on, 8u << 20), on));
  EXPECT_OK(on.synchronize());
  uint64_t address = 0;
  EXPECT_EQ(context->allocate(size_t(1) << 46, address), Error::OutOfMemory);
  EXPECT_EQ(value(PoolAttribute::ReservedCurrent), 0u);
}

// Each stream writes its own number into what it gets and looks for it later: memory given to two at once would show.
// Host functions keep the work behind the calls, some memory goes back later than its last use, as graphs' does, and
// pools are destroyed that still have memory in use.
TEST_F(MemoryPoolTest, NoTwoUsersEverShareMemory) {
  constexpr int threads = 4, steps = 200;
  std::atomic<int> wrong{0};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      Stream& on = newStream(Stream::NonBlocking);
      std::map<uint64_t, std::pair<uint32_t, uint32_t>> held;  // address: words, value
      std::vector<std::pair<AllocationRef, MarkerRef>> resting;
      MemoryPoolRef own = device->addPool(std::make_shared<MemoryPool>(*device, MemoryKind::Device, 0));
      for (int step = 0; step < steps; ++step) {
        if (step % 16 == 0) {
          EXPECT_OK(on.hostFunction([](Error) { std::this_thread::sleep_for(std::chrono::microseconds(500)); }));
          for (; !resting.empty(); resting.pop_back())
            context->release(resting.back().first, on.id(), resting.back().second);
        }
        if (step % 64 == 63) {
          EXPECT_OK(device->destroyPool(own.get()));
          own = device->addPool(std::make_shared<MemoryPool>(*device, MemoryKind::Device, 0));
        }
        if (held.size() < 8 && random() % 3 != 0) {
          const uint32_t words = 1 + random() % 20000,
                         mark = static_cast<uint32_t>(t) << 24 | static_cast<uint32_t>(step);
          uint64_t address = 0;
          EXPECT_OK(context->allocateAsync(random() % 2 == 0 ? *own : *pool, words * 4, on, address));
          EXPECT_OK(fill32(on, address, mark, words));
          held[address] = {words, mark};
        } else if (!held.empty()) {
          const auto [address, expected] = *held.begin();
          held.erase(held.begin());
          if (random() % 4 == 0) {
            std::vector<uint32_t> seen(expected.first);
            EXPECT_OK(copyOn(on, number(seen.data()), address, seen.size() * 4, CopyKind::DeviceToHost, false));
            for (const uint32_t word : seen) wrong += word != expected.second;
          }
          if (random() % 3 == 0) {
            resting.emplace_back(device->memory().find(address), nullptr);
            EXPECT_OK(on.place(resting.back().second));
          } else {
            EXPECT_OK(context->freeAsync(address, on));
          }
        }
      }
      for (const auto& [address, expected] : held) EXPECT_OK(context->freeAsync(address, on));
      for (const auto& [allocation, marker] : resting) context->release(allocation, on.id(), marker);
      EXPECT_OK(device->destroyPool(own.get()));
    });
  for (std::thread& thread : all) thread.join();
  EXPECT_EQ(wrong, 0);
}

// Programs destroy a pool while the work before its frees is under way.
TEST_F(MemoryPoolTest, ADestroyedPoolKeepsWhatFreesWaitFor) {
  constexpr size_t bytes = 32u << 20;
  Stream& on = newStream(Stream::NonBlocking);
  const uint64_t before = context->vulkan().allocator().allocatedBytes();
  const uint64_t early = take(on, bytes), late = take(on, bytes);
  hold(on);
  ASSERT_OK(fill32(on, early, 1, bytes / 4));
  EXPECT_OK(context->freeAsync(early, on));
  const std::weak_ptr<MemoryPool> gone = pool;
  EXPECT_OK(device->destroyPool(std::exchange(pool, nullptr).get()));
  EXPECT_OK(context->freeAsync(late, on));
  EXPECT_FALSE(device->trimPools(0) && gone.expired());
  for (int i = 0; i < 4; ++i) {
    const uint64_t other = allocate(bytes);
    EXPECT_NE(other, early);
    EXPECT_NE(other, late);
    EXPECT_OK(context->writeMemory(other, "free", 4));
  }
  released = true;
  EXPECT_OK(on.synchronize());
  EXPECT_TRUE(gone.expired());
  EXPECT_LT(context->vulkan().allocator().allocatedBytes(), before + 5 * bytes);
}

// Neighbours are not always given back in the order of their last uses: graphs' memory goes with the graphs.
TEST_F(MemoryPoolTest, OfNeighboursTheLaterUseCounts) {
  constexpr size_t bytes = 1u << 20;
  Stream& on = newStream(Stream::NonBlocking);
  Stream& other = newStream(Stream::NonBlocking);
  const auto giveBack = [&](uint64_t address, const MarkerRef& marker) {
    context->release(device->memory().find(address), on.id(), marker);
  };
  for (const bool isBehind : {false, true}) {
    released = false;
    if (isBehind) hold(on);
    const uint64_t first = take(on, bytes), second = take(on, bytes);
    ASSERT_EQ(second, first + bytes);
    MarkerRef early, late;
    ASSERT_OK(on.place(early));
    hold(on);
    ASSERT_OK(fill32(on, second, 1, bytes / 4));
    ASSERT_OK(on.place(late));
    giveBack(second, late);
    giveBack(first, early);
    const uint64_t both = take(other, 2 * bytes);
    EXPECT_NE(both, first) << "while the stream still uses the second";
    EXPECT_EQ(take(on, 2 * bytes), first) << "they are one piece to their own stream";
    released = true;
    EXPECT_OK(on.synchronize());
    EXPECT_OK(context->freeAsync(both, other));
    EXPECT_OK(context->freeAsync(first, on));
    EXPECT_OK(context->synchronize());
  }
}

TEST_F(MemoryPoolTest, ADestroyedContextGivesItsMemoryBack) {
  (void)take(*stream, 5000);
  EXPECT_OK(context->synchronize());
  context->destroy();
  EXPECT_EQ(value(PoolAttribute::UsedCurrent), 0u);
  EXPECT_EQ(value(PoolAttribute::ReservedCurrent), 0u);
}

}  // namespace
}  // namespace mulciber::core
