#include "runtime/vk/clock_keeper.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "vk/vulkan_test.h"

namespace mulciber::vk {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class ClockKeeperTest : public VulkanTest {
 protected:
  void SetUp() override {
    VulkanTest::SetUp();
    if (!device || IsSkipped()) return;
    // One of its own: others have used the shared one.
    ASSERT_EQ(Device::create(device->physical(), &device->probes(), own), Status::Ok);
    if (!own->clockKeeper()) GTEST_SKIP() << "skipped: the device keeps its clocks, or has no queue to spare";
  }
  void work() {
    Queue& queue = own->queue(0);
    Memory memory;
    ASSERT_EQ(own->allocator().allocate(MemoryUse::Host, 16, memory), Status::Ok);
    Position position(queue);
    ASSERT_EQ(queue.record(position,
                           [&](Commands& commands) {
                             commands.fill({memory.address, 0, 4, 4});
                             return Status::Ok;
                           }),
              Status::Ok);
    ASSERT_EQ(queue.wait(position.last.value, WaitMode::Auto), Status::Ok);
    own->allocator().free(memory);
  }
  uint64_t spinsWithin(Clock::duration time) {
    const uint64_t before = own->clockKeeper()->spins();
    std::this_thread::sleep_for(time);
    return own->clockKeeper()->spins() - before;
  }

  std::shared_ptr<Device> own;
};

TEST_F(ClockKeeperTest, SpinsWhileThereIsWorkNowAndThen) {
  EXPECT_EQ(spinsWithin(1500ms), 0u);  // probes known: nothing has run
  work();
  EXPECT_EQ(spinsWithin(500ms), 0u);  // a program may end soon
  EXPECT_GT(spinsWithin(1500ms), 50u);
  std::this_thread::sleep_for(5s);
  EXPECT_LT(spinsWithin(1s), 2u);
  work();
  EXPECT_GT(spinsWithin(500ms), 20u);  // at once
}

TEST_F(ClockKeeperTest, EndsWithTheDevice) {
  work();
  std::this_thread::sleep_for(1200ms);
  const Clock::time_point begin = Clock::now();
  own.reset();
  EXPECT_LT(Clock::now() - begin, 1s);
}

}  // namespace
}  // namespace mulciber::vk
