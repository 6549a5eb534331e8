#include "runtime/vk/descriptors.h"

#include <set>

#include "vulkan_test.h"

namespace mulciber::vk {
namespace {

class DescriptorsTest : public VulkanTest {
 protected:
  void SetUp() override {
    VulkanTest::SetUp();
    if (!IsSkipped() && !device->descriptors()) GTEST_SKIP() << "skipped: kernels of the device cannot choose images";
  }
  uint32_t numberOf(const SamplerDescription& description) {
    uint32_t number = UINT32_MAX;
    EXPECT_EQ(device->descriptors()->sampler(description, number), Status::Ok);
    return number;
  }
};

// Devices have room for 4,000 of them.
TEST_F(DescriptorsTest, EqualSamplersAreOne) {
  std::set<uint32_t> numbers;
  for (int i = 0; i < 10000; ++i) {
    SamplerDescription description;
    description.filter = i % 2 == 0 ? VK_FILTER_NEAREST : VK_FILTER_LINEAR;
    description.maxLevel = static_cast<float>(i % 5);
    numbers.insert(numberOf(description));
  }
  EXPECT_EQ(numbers.size(), 10u);
}

// Until none is left, which is said and changes nothing of the others. Other tests share the device.
TEST_F(DescriptorsTest, OtherSamplersAreOthers) {
  std::shared_ptr<Device> own;
  ASSERT_EQ(Device::create(device->physical(), &device->probes(), own), Status::Ok);
  uint32_t first = UINT32_MAX, again = UINT32_MAX;
  ASSERT_EQ(own->descriptors()->sampler({}, first), Status::Ok);
  std::set<uint32_t> numbers = {first};
  Status status = Status::Ok;
  for (int i = 1; i < 40000 && status == Status::Ok; ++i) {
    SamplerDescription description;
    description.levelBias = static_cast<float>(i) / 4096;
    uint32_t number = 0;
    status = own->descriptors()->sampler(description, number);
    if (status == Status::Ok) {
      EXPECT_TRUE(numbers.insert(number).second);
    }
  }
  EXPECT_EQ(status, Status::OutOfMemory);
  EXPECT_EQ(own->descriptors()->sampler({}, again), Status::Ok);
  EXPECT_EQ(again, first);
}

}  // namespace
}  // namespace mulciber::vk
