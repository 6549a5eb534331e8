// Shares a device's Vulkan queues out among kernels, copies, the clock keeper and host writes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/vk/volk.h"

namespace mulciber::vk {

struct QueuePlan {
  struct Place {
    uint32_t family, index;
    bool operator==(const Place&) const = default;
  };
  std::vector<Place> kernels;
  // Copies to the device, and to the host. Of one direction each, since those to the host wait for kernels as a rule,
  // and the others must not wait with them.
  std::optional<Place> copiesIn, copiesOut;
  std::optional<Place> clockKeeper, hostWrites;

  struct Wishes {
    uint32_t kernelQueues = 1;
    bool copyQueues = false, clockKeeper = false, hostWrites = false;
  };
  static QueuePlan of(std::span<const VkQueueFamilyProperties> families, const Wishes& wishes);

  std::vector<uint32_t> families() const;    // of the queues that use memory, each once
  uint32_t queuesOf(uint32_t family) const;  // how many the device has to be made with
};

}  // namespace mulciber::vk
