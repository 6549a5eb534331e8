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
  }
  static uint64_t spinsWithin(const ClockKeeper& keeper, Clock::duration time) {
    const uint64_t before = keeper.spins();
    std::this_thread::sleep_for(time);
    return keeper.spins() - before;
  }

  std::shared_ptr<Device> own;
};

// On any device: the keeper has the device's first queue, which nobody else uses meanwhile.
TEST_F(ClockKeeperTest, SpinsWhileThereIsWorkNowAndThen) {
  VkQueue handle = VK_NULL_HANDLE;
  const uint32_t family = own->queue(0).family();
  own->api().vkGetDeviceQueue(own->handle(), family, 0, &handle);
  std::unique_ptr<Queue> queue;
  ASSERT_EQ(own->makeQueue(handle, family, {}, queue), Status::Ok);
  ClockKeeper keeper(*own, std::move(queue));
  EXPECT_EQ(spinsWithin(keeper, 1500ms), 0u);
  keeper.noteWork(own->queue(0));
  EXPECT_EQ(spinsWithin(keeper, 300ms), 0u);  // the clocks of a new device are up
  EXPECT_GT(spinsWithin(keeper, 1500ms), 10u);
  std::this_thread::sleep_for(6s);
  EXPECT_LT(spinsWithin(keeper, 1s), 2u);
  keeper.noteWork(own->queue(0));
  EXPECT_GT(spinsWithin(keeper, 1s), 5u);  // at once
  const Clock::time_point begin = Clock::now();
  keeper.stop();
  EXPECT_LT(Clock::now() - begin, 1s);
  keeper.noteWork(own->queue(0));
  EXPECT_EQ(spinsWithin(keeper, 100ms), 0u);
}

TEST_F(ClockKeeperTest, IsToldOfADevicesWork) {
  if (!own->clockKeeper()) GTEST_SKIP() << "skipped: only NVIDIA's driver lowers clocks in this way";
  Queue& queue = own->queue(0);
  Memory memory;
  ASSERT_EQ(own->allocator().allocate(MemoryUse::Host, 16, memory), Status::Ok);
  Position position(queue);
  const auto fill = [&](Commands& commands) {
    commands.fill({memory.address, 0, 4, 4});
    return Status::Ok;
  };
  ASSERT_EQ(queue.record(position, fill), Status::Ok);
  ASSERT_EQ(queue.wait(position.last.value, WaitMode::Auto), Status::Ok);
  own->allocator().free(memory);
  EXPECT_GT(spinsWithin(*own->clockKeeper(), 2500ms), 50u);
  own.reset();  // ends it
}

}  // namespace
}  // namespace mulciber::vk
