#include "runtime/vk/queue_plan.h"

#include <algorithm>
#include <tuple>

namespace mulciber::vk {

namespace {

using Families = std::span<const VkQueueFamilyProperties>;
using Place = QueuePlan::Place;

// The family whose queues kernels run on: one that does not draw, else the one with the most queues. On an H200 the
// queues that draw leave kernels half the shared memory of a multiprocessor, start small blocks more slowly, and take
// turns with each other (docs/performance.md).
uint32_t kernelFamily(Families families) {
  auto rank = [&](uint32_t family) {
    const VkQueueFamilyProperties& properties = families[family];
    const bool computes = (properties.queueFlags & VK_QUEUE_COMPUTE_BIT) != 0;
    const bool draws = (properties.queueFlags & VK_QUEUE_GRAPHICS_BIT) != 0;
    return std::tuple(computes, !draws, properties.queueCount);
  };
  uint32_t best = 0;
  for (uint32_t i = 1; i < families.size(); ++i)
    if (rank(i) > rank(best)) best = i;
  return best;
}

bool onlyCopies(VkQueueFlags flags) {
  constexpr VkQueueFlags copies = VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT | VK_QUEUE_PROTECTED_BIT;
  return (flags & VK_QUEUE_TRANSFER_BIT) != 0 && (flags & ~copies) == 0;
}

bool drawsOrComputes(VkQueueFlags flags) { return (flags & (VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT)) != 0; }

bool decodes(VkQueueFlags flags) {
  return (flags & VK_QUEUE_TRANSFER_BIT) != 0 && (flags & VK_QUEUE_VIDEO_DECODE_BIT_KHR) != 0 &&
         !drawsOrComputes(flags);
}

std::vector<Place> queuesThat(bool (*can)(VkQueueFlags), Families families, uint32_t except) {
  std::vector<Place> places;
  for (uint32_t family = 0; family < families.size(); ++family)
    for (uint32_t i = 0; family != except && can(families[family].queueFlags) && i < families[family].queueCount; ++i)
      places.push_back({family, i});
  return places;
}

}  // namespace

QueuePlan QueuePlan::of(Families families, const Wishes& wishes) {
  QueuePlan plan;
  const uint32_t family = kernelFamily(families);
  const uint32_t available = families[family].queueCount, count = std::min(available, wishes.kernelQueues);
  for (uint32_t i = 0; i < count; ++i) plan.kernels.push_back({family, i});
  if (wishes.clockKeeper && available > count) plan.clockKeeper = {family, count};

  const std::vector<Place> copying = queuesThat(onlyCopies, families, family);
  std::vector<Place> spare = copying;  // for host writes, best first
  for (bool (*can)(VkQueueFlags) : {decodes, drawsOrComputes}) {
    const std::vector<Place> more = queuesThat(can, families, family);
    spare.insert(spare.end(), more.begin(), more.end());
  }
  // Queues that draw serve host writes badly (host_writes.h).
  const bool leavesOne = spare.size() > 2 && !drawsOrComputes(families[spare[2].family].queueFlags);
  if (wishes.copyQueues && copying.size() >= 2 && (!wishes.hostWrites || leavesOne)) {
    plan.copiesIn = copying[0];
    plan.copiesOut = copying[1];
    spare.erase(spare.begin(), spare.begin() + 2);
  }
  if (wishes.hostWrites && !spare.empty()) plan.hostWrites = spare.front();
  return plan;
}

uint32_t QueuePlan::queuesOf(uint32_t family) const {
  uint32_t count = 0;
  auto add = [&](const std::optional<Place>& place) {
    if (place && place->family == family) count = std::max(count, place->index + 1);
  };
  for (const Place& place : kernels) add(place);
  for (const auto& place : {copiesIn, copiesOut, clockKeeper, hostWrites}) add(place);
  return count;
}

std::vector<uint32_t> QueuePlan::families() const {
  std::vector<uint32_t> all{kernels.front().family};
  for (const auto& place : {copiesIn, copiesOut})
    if (place && std::ranges::find(all, place->family) == all.end()) all.push_back(place->family);
  return all;
}

}  // namespace mulciber::vk
