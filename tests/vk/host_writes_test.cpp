#include "runtime/vk/host_writes.h"

#include <gtest/gtest.h>

#include <vector>

namespace mulciber::vk {
namespace {

constexpr VkQueueFlags draws = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT;
constexpr VkQueueFlags computes = VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT;
constexpr VkQueueFlags copies = VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT;
constexpr VkQueueFlags decodes = VK_QUEUE_TRANSFER_BIT | VK_QUEUE_VIDEO_DECODE_BIT_KHR;

uint32_t chosen(const std::vector<VkQueueFlags>& flags, uint32_t family) {
  std::vector<VkQueueFamilyProperties> families;
  for (VkQueueFlags each : flags) families.push_back({each, 1, 64, {1, 1, 1}});
  return HostWrites::familyBeside(families, family);
}

TEST(HostWrites, TakesAFamilyThatOnlyCopies) {
  EXPECT_EQ(chosen({draws, copies, computes, decodes}, 2), 1u);  // as an H200 has them
  EXPECT_EQ(chosen({copies, draws}, 1), 0u);
}

TEST(HostWrites, TakesAnotherWhereNoneOnlyCopies) {
  EXPECT_EQ(chosen({decodes, draws, computes}, 2), 1u);
  EXPECT_EQ(chosen({decodes, computes}, 1), 0u);
  EXPECT_EQ(chosen({draws}, 0), 0u);
}

}  // namespace
}  // namespace mulciber::vk
