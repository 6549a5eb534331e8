#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>

#include "support/becomes.h"
#include "vulkan_test.h"

namespace mulciber::vk {
namespace {

class QueueTest : public VulkanTest {
 protected:
  void SetUp() override {
    VulkanTest::SetUp();
    if (!device) return;
    ASSERT_EQ(device->allocator().allocate(MemoryUse::Host, bytes, a), Status::Ok);
    ASSERT_EQ(device->allocator().allocate(MemoryUse::Host, bytes, b), Status::Ok);
  }
  void TearDown() override {
    if (!device) return;
    device->allocator().free(a);
    device->allocator().free(b);
  }
  static uint8_t* host(const Memory& memory) { return static_cast<uint8_t*>(memory.host); }

  static constexpr uint64_t bytes = 1 << 20;
  Memory a, b;
};

// MEM-05: every alignment of both ends and every ragged length.
TEST_F(QueueTest, LinearCopiesOfAnyAlignmentAreExact) {
  std::mt19937 random(3);
  for (uint64_t i = 0; i < bytes; ++i) host(a)[i] = static_cast<uint8_t>(random());
  for (int step = 0; step < 60; ++step) {
    const uint64_t length = step < 40 ? random() % 200 : random() % (bytes / 2);
    const uint64_t from = random() % 4096, to = step % 3 == 0 ? from : random() % 4096;
    std::memset(b.host, 0xEE, bytes);
    runNow([&](Commands& commands) {
      commands.copy({b.address + to, a.address + from, length});
      return Status::Ok;
    });
    ASSERT_EQ(std::memcmp(host(b) + to, host(a) + from, length), 0) << length << " bytes from " << from << " to " << to;
    for (uint64_t i = 0; i < 64; ++i) {
      ASSERT_EQ(host(b)[to + length + i], 0xEE);
      if (i < to) {
        ASSERT_EQ(host(b)[to - 1 - i], 0xEE);
      }
    }
  }
}

// MEM-06
TEST_F(QueueTest, BoxesAreCopiedRowByRow) {
  std::mt19937 random(4);
  for (uint64_t i = 0; i < bytes; ++i) host(a)[i] = static_cast<uint8_t>(random());
  for (int step = 0; step < 30; ++step) {
    CopyRegion region{};
    region.width = 1 + random() % 70;
    region.height = 1 + random() % 20;
    region.depth = 1 + random() % 5;
    region.sourcePitch = region.width + random() % 9;
    region.destinationPitch = region.width + random() % 9;
    region.sourceSlice = region.sourcePitch * (region.height + random() % 3);
    region.destinationSlice = region.destinationPitch * (region.height + random() % 3);
    const uint64_t from = random() % 64, to = random() % 64;
    region.source = a.address + from;
    region.destination = b.address + to;
    std::memset(b.host, 0, bytes);
    std::vector<uint8_t> expected(bytes, 0);
    for (uint64_t z = 0; z < region.depth; ++z)
      for (uint64_t y = 0; y < region.height; ++y)
        std::memcpy(expected.data() + to + z * region.destinationSlice + y * region.destinationPitch,
                    host(a) + from + z * region.sourceSlice + y * region.sourcePitch, region.width);
    runNow([&](Commands& commands) {
      commands.copy(region);
      return Status::Ok;
    });
    ASSERT_EQ(std::memcmp(expected.data(), b.host, bytes), 0) << "step " << step;
  }
}

// MEM-07
TEST_F(QueueTest, FillsOfEveryWidthAreExact) {
  std::mt19937 random(5);
  for (int step = 0; step < 60; ++step) {
    FillRegion region{};
    region.valueBytes = 1u << (random() % 3);
    region.value = static_cast<uint32_t>(random());
    region.width = 1 + random() % 300;
    region.height = step % 2 == 0 ? 1 : 1 + random() % 9;
    region.pitch = (region.width + random() % 5) * region.valueBytes;
    const uint64_t to = (random() % 64) * region.valueBytes;
    region.destination = b.address + to;
    std::memset(b.host, 0xAA, bytes);
    std::vector<uint8_t> expected(bytes, 0xAA);
    for (uint64_t y = 0; y < region.height; ++y)
      for (uint64_t x = 0; x < region.width; ++x)
        std::memcpy(expected.data() + to + y * region.pitch + x * region.valueBytes, &region.value, region.valueBytes);
    runNow([&](Commands& commands) {
      commands.fill(region);
      return Status::Ok;
    });
    ASSERT_EQ(std::memcmp(expected.data(), b.host, bytes), 0) << "step " << step;
  }
}

TEST_F(QueueTest, TheCopyEngineIsOrderedWithShaders) {
  for (int step = 0; step < 20; ++step) {
    Queue& queue = device->queue(0);
    Position position(queue);
    const auto value = static_cast<uint32_t>(step + 1);
    ASSERT_EQ(queue.record(position,
                           [&](Commands& commands) {
                             commands.fill({a.address, value, 4, 5000});
                             return Status::Ok;
                           }),
              Status::Ok);
    ASSERT_EQ(queue.record(position,
                           [&](Commands& commands) {
                             commands.copyBuffer(b, 0, a, 0, 20000);
                             return Status::Ok;
                           }),
              Status::Ok);
    ASSERT_EQ(queue.record(position,
                           [&](Commands& commands) {
                             commands.copy({a.address + 40000, b.address, 20000});
                             return Status::Ok;
                           }),
              Status::Ok);
    ASSERT_EQ(queue.record(position,
                           [&](Commands& commands) {
                             commands.fill({b.address, 0, 4, 5000});
                             return Status::Ok;
                           }),
              Status::Ok);
    ASSERT_EQ(queue.wait(position.last.value, WaitMode::Auto), Status::Ok);
    const auto* words = reinterpret_cast<const uint32_t*>(host(a) + 40000);
    for (int i = 0; i < 5000; ++i) ASSERT_EQ(words[i], value);
  }
}

// STR-13: thousands of operations queue up and come out in order.
TEST_F(QueueTest, ManyOperationsStayInOrder) {
  Queue& queue = device->queue(0);
  Position position(queue);
  for (uint32_t i = 0; i < 3000; ++i)
    ASSERT_EQ(queue.record(position,
                           [&](Commands& commands) {
                             commands.fill({a.address, i, 4, 16});
                             return Status::Ok;
                           }),
              Status::Ok);
  ASSERT_EQ(queue.wait(position.last.value, WaitMode::Auto), Status::Ok);
  EXPECT_EQ(*static_cast<const uint32_t*>(a.host), 2999u);
}

// PIN-07: nobody calls wait, and yet all work reaches the device, however much of it came in one burst.
TEST_F(QueueTest, WorkIsSubmittedWithoutBeingWaitedFor) {
  Queue& queue = device->queue(0);
  Position position(queue);
  auto* word = static_cast<volatile uint32_t*>(a.host);
  *word = 0;
  uint32_t last = 0;
  for (const int pieces : {1, 3, 4, 5, 8, 11, 12, 13, 37}) {
    for (int i = 0; i < pieces; ++i) {
      ++last;
      ASSERT_EQ(queue.record(position,
                             [&](Commands& commands) {
                               commands.fill({a.address, last, 4, 1});
                               return Status::Ok;
                             }),
                Status::Ok);
    }
    EXPECT_TRUE(test::becomes([&] { return *word == last; })) << *word << " after " << pieces << " pieces";
  }
  ASSERT_EQ(queue.wait(position.last.value, WaitMode::Auto), Status::Ok);
}

// Pieces that come so soon after one another that they are kept back from a device that has nothing to do.
TEST_F(QueueTest, ABurstIsSubmittedWhenItEnds) {
  Queue& queue = device->queue(0);
  Position position(queue);
  const auto isKeptBack = [&] {  // although the piece before it is done
    const uint64_t before = position.last.value;
    const bool wasDone = queue.isKnownPassed(before);
    EXPECT_EQ(queue.record(position,
                           [](Commands& commands) {
                             commands.mark();
                             return Status::Ok;
                           }),
              Status::Ok);
    if (wasDone && !queue.isSubmitted(position.last.value)) return true;
    while (queue.poll(position.last.value) == Status::NotReady) {
    }
    return false;
  };
  for (int burst = 0; burst < 20; ++burst) {
    int tries = 0;
    while (tries < 5000 && !isKeptBack()) ++tries;
    if (tries == 5000) GTEST_SKIP() << "skipped: no piece comes soon enough after another here";
    EXPECT_TRUE(test::becomes([&] { return queue.poll(position.last.value) == Status::Ok; }));  // which submits nothing
  }
}

// What was made ahead is used like any other command buffer, also while other threads give work.
TEST_F(QueueTest, WarmsUpWhileItWorks) {
  Queue& queue = device->queue(0);
  std::thread warming([&] { EXPECT_EQ(queue.warmUp(), Status::Ok); });
  Position position(queue);
  for (uint32_t i = 1; i <= 200; ++i) {
    ASSERT_EQ(queue.record(position,
                           [&](Commands& commands) {
                             commands.fill({a.address + i * 4, i, 4, 1});
                             return Status::Ok;
                           }),
              Status::Ok);
    if (i % 50 != 0) continue;
    ASSERT_EQ(queue.wait(position.last.value, WaitMode::Auto), Status::Ok);
  }
  warming.join();
  for (uint32_t i = 1; i <= 200; ++i) EXPECT_EQ(static_cast<const uint32_t*>(a.host)[i], i);
}

TEST_F(QueueTest, ASealedPointIsNotDelayedByLaterWork) {
  Queue& queue = device->queue(0);
  Position position(queue);
  std::vector<Point> points;
  for (uint32_t i = 0; i < 50; ++i) {
    ASSERT_EQ(queue.record(position,
                           [&](Commands& commands) {
                             commands.fill({a.address, i, 4, 1});
                             return Status::Ok;
                           }),
              Status::Ok);
    points.push_back(queue.seal(position));
  }
  for (size_t i = 1; i < points.size(); ++i) EXPECT_GT(points[i].value, points[i - 1].value);
  for (const Point& point : points) EXPECT_EQ(queue.wait(point.value, WaitMode::Auto), Status::Ok);
}

TEST_F(QueueTest, APositionThatMovesComesAfterItsLastWork) {
  Queue& queue = device->queue(0);
  Queue other(*device, VK_NULL_HANDLE, queue.family(), {});
  Position position(queue);
  position.moveTo(other);  // nothing was given yet
  EXPECT_TRUE(position.waits.empty());
  position.last = {&other, 5, 2};
  position.moveTo(other);
  EXPECT_TRUE(position.waits.empty());
  position.moveTo(queue);
  ASSERT_EQ(position.waits.size(), 1u);
  EXPECT_EQ(position.waits[0].queue, &other);
  EXPECT_EQ(position.waits[0].value, 5u);
  EXPECT_EQ(position.last.queue, &queue);
  EXPECT_EQ(position.last.value, 0u);
}

TEST_F(QueueTest, CopiesOnQueuesOfTheirOwnAreOrderedWithKernels) {
  if (!device->copyQueue(true)) GTEST_SKIP() << "skipped: the device has no queues that only copy";
  Queue &kernels = device->queue(0), &in = *device->copyQueue(true), &out = *device->copyQueue(false);
  Memory first, second;
  for (Memory* memory : {&first, &second})
    ASSERT_EQ(device->allocator().allocate(MemoryUse::Device, bytes, *memory), Status::Ok);
  Position position(kernels);
  for (uint32_t round = 1; round <= 100; ++round) {
    std::fill_n(static_cast<uint32_t*>(a.host), bytes / 4, round);
    const auto record = [&](Queue& queue, auto&& what) {
      return queue.record(position, [&](Commands& commands) {
        what(commands);
        return Status::Ok;
      });
    };
    ASSERT_EQ(record(in, [&](Commands& commands) { commands.copyBuffer(first, 0, a, 0, bytes); }), Status::Ok);
    ASSERT_EQ(record(kernels,
                     [&](Commands& commands) {
                       commands.copy({second.address, first.address, bytes});
                     }),
              Status::Ok);
    ASSERT_EQ(record(out, [&](Commands& commands) { commands.copyBuffer(b, 0, second, 0, bytes); }), Status::Ok);
    ASSERT_EQ(position.last.queue, &out);
    ASSERT_EQ(out.wait(position.last.value, WaitMode::Auto), Status::Ok);
    const auto* const words = static_cast<const uint32_t*>(b.host);
    ASSERT_TRUE(std::all_of(words, words + bytes / 4, [&](uint32_t word) { return word == round; })) << round;
  }
  for (const Memory& memory : {first, second}) device->allocator().free(memory);
}

TEST_F(QueueTest, UploadsLiveUntilTheBatchHasRun) {
  Queue& queue = device->queue(0);
  Position position(queue);
  for (uint32_t i = 0; i < 500; ++i)
    ASSERT_EQ(queue.record(position,
                           [&](Commands& commands) {
                             void* memory = nullptr;
                             uint64_t address = 0;
                             const uint64_t size = i % 50 == 0 ? 100'000 : 64;
                             if (Status status = commands.upload(size, memory, address); status != Status::Ok)
                               return status;
                             std::memset(memory, static_cast<int>(i % 251), size);
                             commands.copy({b.address + i * 64, address, 64});
                             return Status::Ok;
                           }),
              Status::Ok);
  ASSERT_EQ(queue.wait(position.last.value, WaitMode::Auto), Status::Ok);
  for (uint32_t i = 0; i < 500 * 64; ++i) ASSERT_EQ(host(b)[i], (i / 64) % 251);
}

TEST_F(QueueTest, ManyThreadsRecordAtOnce) {
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t)
    threads.emplace_back([this, t] {
      Queue& queue = device->queue(t);
      Position position(queue);
      for (uint32_t i = 0; i < 200; ++i) {
        const Status status = queue.record(position, [&](Commands& commands) {
          commands.fill({a.address + t * 4096, i + t * 1000, 4, 1024});
          return Status::Ok;
        });
        if (status != Status::Ok || (i % 50 == 0 && queue.wait(position.last.value, WaitMode::Auto) != Status::Ok))
          ADD_FAILURE();
      }
      EXPECT_EQ(queue.wait(position.last.value, WaitMode::Auto), Status::Ok);
    });
  for (std::thread& thread : threads) thread.join();
  for (uint32_t t = 0; t < 4; ++t)
    EXPECT_EQ(reinterpret_cast<const uint32_t*>(a.host)[t * 1024 + 1023], 199 + t * 1000);
}

// Batches make their writes visible to the host from its first memory on, and what was written before is made so then.
TEST_F(VulkanTest, TheHostSeesWhatWasWrittenBeforeItLooked) {
  std::shared_ptr<Device> fresh;
  ASSERT_EQ(Device::create(*Instance::get().devices().front(), &device->probes(), fresh), Status::Ok);
  if (fresh->physical().isCpu()) {
    EXPECT_TRUE(fresh->hostReads());
    EXPECT_TRUE(fresh->hostSeesAll());
    GTEST_SKIP() << "skipped: a CPU device's memory is visible from the beginning";
  }
  Memory written;
  ASSERT_EQ(fresh->allocator().allocate(MemoryUse::Device, 4096, written), Status::Ok);
  std::vector<Position> positions;
  for (size_t i = 0; i < 3; ++i) {
    Queue& queue = fresh->queue(i);
    Position& position = positions.emplace_back(queue);
    ASSERT_EQ(queue.record(position,
                           [&](Commands& commands) {
                             commands.fill({written.address + 1024 * i, uint32_t(i + 1), 4, 256});
                             return Status::Ok;
                           }),
              Status::Ok);
    ASSERT_EQ(queue.wait(position.last.value, WaitMode::Auto), Status::Ok);
  }
  EXPECT_FALSE(fresh->hostReads());
  const auto* window = static_cast<const uint32_t*>(fresh->allocator().window(written));
  EXPECT_FALSE(fresh->hostSeesAll());
  EXPECT_FALSE(fresh->hostReads());  // not for one question
  ASSERT_TRUE(test::becomes([&] { return fresh->hostSeesAll(); }));
  for (size_t i = 0; window && i < 3; ++i) EXPECT_EQ(window[256 * i + 255], i + 1);
  fresh->allocator().free(written);
}

}  // namespace
}  // namespace mulciber::vk
