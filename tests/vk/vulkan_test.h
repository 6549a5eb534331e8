// The device the Vulkan tests share; tests are skipped where there is none.
#pragma once

#include <memory>

#include <gtest/gtest.h>

#include "runtime/vk/device.h"

namespace mulciber::vk {

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

  Device* device = nullptr;
};

}  // namespace mulciber::vk
