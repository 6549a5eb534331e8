// The device the Vulkan tests share; tests are skipped where there is none.
#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "runtime/vk/device.h"

namespace mulciber::vk {

// Ends the test as skipped, from however deep in it.
[[noreturn]] inline void skipTest(const std::string& why) {
  [&] { GTEST_SKIP() << "skipped: " << why; }();
  using Result = testing::TestPartResult;
  throw testing::AssertionException(Result(Result::kSkip, __FILE__, __LINE__, why.c_str()));
}

class VulkanTest : public testing::Test {
 protected:
  void SetUp() override {
    if (Instance::get().devices().empty()) GTEST_SKIP() << "skipped: " << Instance::get().problem();
    static std::shared_ptr<Device> shared = [] {
      std::shared_ptr<Device> made;
      EXPECT_EQ(Device::create(*Instance::get().devices().front(), nullptr, made), Status::Ok);
      return made;
    }();
    ASSERT_TRUE(shared);
    device = shared.get();
  }

  // Runs one recording and waits for it.
  template <typename Record>
  void runNow(Record&& record) {
    Queue& queue = device->queue(0);
    Position position(queue);
    ASSERT_EQ(queue.record(position, record), Status::Ok);
    ASSERT_EQ(queue.wait(position.last.value, WaitMode::Auto), Status::Ok);
  }

  // Kernels that need what the device lacks are refused, and their tests have nothing to run.
  void skipIfDeviceLacks(const std::string& refusal) {
    const TargetProfile& profile = device->profile();
    if (profile.subgroupSize != 32 && refusal.find("subgroups of 32 lanes") != std::string::npos)
      skipTest("the device's subgroups are not 32 wide");
    if (!profile.exitedThreadsArrive && refusal.find("the device would wait for them") != std::string::npos)
      skipTest("the device's barriers wait for threads that have ended");
  }

  Device* device = nullptr;
};

}  // namespace mulciber::vk
