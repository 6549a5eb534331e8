#include "runtime/vk/queue_plan.h"

#include <gtest/gtest.h>

#include <vector>

namespace mulciber::vk {
namespace {

using Place = QueuePlan::Place;

constexpr VkQueueFlags draws = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT;
constexpr VkQueueFlags computes = VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT;
constexpr VkQueueFlags copies = VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT;
constexpr VkQueueFlags decodes = VK_QUEUE_TRANSFER_BIT | VK_QUEUE_VIDEO_DECODE_BIT_KHR;
constexpr VkQueueFlags seesFlow = VK_QUEUE_TRANSFER_BIT | VK_QUEUE_OPTICAL_FLOW_BIT_NV;

struct Family {
  VkQueueFlags flags;
  uint32_t count;
};

QueuePlan planFor(const std::vector<Family>& given, const QueuePlan::Wishes& wishes) {
  std::vector<VkQueueFamilyProperties> families;
  for (const Family& family : given) families.push_back({family.flags, family.count, 64, {1, 1, 1}});
  return QueuePlan::of(families, wishes);
}

const std::vector<Family> h200 = {{draws, 16}, {copies, 2}, {computes, 8}, {decodes, 7}, {seesFlow, 1}};
constexpr QueuePlan::Wishes everything{3, true, true, true};

TEST(QueuePlan, OfAnH200) {
  const QueuePlan plan = planFor(h200, everything);
  EXPECT_EQ(plan.kernels, (std::vector<Place>{{2, 0}, {2, 1}, {2, 2}}));
  EXPECT_EQ(plan.clockKeeper, (Place{2, 3}));
  EXPECT_EQ(plan.copiesIn, (Place{1, 0}));
  EXPECT_EQ(plan.copiesOut, (Place{1, 1}));
  EXPECT_EQ(plan.hostWrites, (Place{3, 0}));
  EXPECT_EQ(plan.families(), (std::vector<uint32_t>{2, 1}));
  EXPECT_EQ(plan.queuesOf(0), 0u);
  EXPECT_EQ(plan.queuesOf(1), 2u);
  EXPECT_EQ(plan.queuesOf(2), 4u);
  EXPECT_EQ(plan.queuesOf(3), 1u);
}

TEST(QueuePlan, LeavesOutWhatIsNotWished) {
  const QueuePlan plan = planFor(h200, {2, false, false, true});
  EXPECT_EQ(plan.kernels.size(), 2u);
  EXPECT_FALSE(plan.clockKeeper || plan.copiesIn || plan.copiesOut);
  EXPECT_EQ(plan.hostWrites, (Place{1, 0}));
  EXPECT_EQ(plan.families(), (std::vector<uint32_t>{2}));
  EXPECT_EQ(plan.queuesOf(1), 1u);
}

TEST(QueuePlan, OneQueueDoesEverythingWhereThereIsNoOther) {
  const QueuePlan plan = planFor({{draws, 1}}, everything);
  EXPECT_EQ(plan.kernels, (std::vector<Place>{{0, 0}}));
  EXPECT_FALSE(plan.clockKeeper || plan.copiesIn || plan.copiesOut || plan.hostWrites);
}

TEST(QueuePlan, CopiesOfBothDirectionsDoNotShareAQueue) {
  EXPECT_FALSE(planFor({{draws, 1}, {copies, 1}}, {1, true, false, false}).copiesIn);
  const QueuePlan plan = planFor({{copies, 1}, {computes, 1}, {copies, 1}}, {1, true, false, false});
  EXPECT_EQ(plan.copiesIn, (Place{0, 0}));
  EXPECT_EQ(plan.copiesOut, (Place{2, 0}));
  EXPECT_EQ(plan.families(), (std::vector<uint32_t>{1, 0, 2}));
}

TEST(QueuePlan, HostWritesComeBeforeCopies) {
  // Without another family that serves them they get a queue that only copies.
  const QueuePlan plan = planFor({{draws, 16}, {copies, 2}, {computes, 8}}, everything);
  EXPECT_EQ(plan.hostWrites, (Place{1, 0}));
  EXPECT_FALSE(plan.copiesIn || plan.copiesOut);
  EXPECT_EQ(planFor({{draws, 16}, {copies, 3}, {computes, 8}}, everything).hostWrites, (Place{1, 2}));
}

TEST(QueuePlan, HostWritesTakeWhatDecodesAndThenWhatDraws) {
  EXPECT_EQ(planFor({{draws, 1}, {decodes, 1}, {computes, 1}}, everything).hostWrites, (Place{1, 0}));
  EXPECT_EQ(planFor({{draws, 1}, {seesFlow, 1}, {computes, 1}}, everything).hostWrites, (Place{0, 0}));
  EXPECT_FALSE(planFor({{seesFlow, 1}, {computes, 1}}, everything).hostWrites);
}

}  // namespace
}  // namespace mulciber::vk
