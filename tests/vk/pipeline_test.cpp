// What drivers tell of a pipeline.
#include "runtime/vk/pipeline.h"

#include <gtest/gtest.h>

#include <cstring>

namespace mulciber::vk {
namespace {

VkPipelineExecutableStatisticKHR statistic(const char* name, uint64_t value) {
  VkPipelineExecutableStatisticKHR result{};
  std::strcpy(result.name, name);
  result.format = VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR;
  result.value.u64 = value;
  return result;
}

TEST(PipelineTest, RegistersAreFoundByTheNamesOfDrivers) {
  const VkPipelineExecutableStatisticKHR nvidia[] = {statistic("Binary Size", 1664), statistic("Register Count", 40),
                                                     statistic("Stack Size", 0)};
  EXPECT_EQ(registersOf(nvidia), 40u);
  VkPipelineExecutableStatisticKHR amd[] = {statistic("SGPRs", 128), statistic("VGPRs", 24)};
  EXPECT_EQ(registersOf(amd), 24u);
  amd[1].format = VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR;
  EXPECT_EQ(registersOf(amd), std::nullopt);
  const VkPipelineExecutableStatisticKHR other[] = {statistic("Basic blocks", 11)};
  EXPECT_EQ(registersOf(other), std::nullopt);
}

}  // namespace
}  // namespace mulciber::vk
