// A command buffer on its way through a queue, with everything that must live until it has run. Reused.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/vk/memory.h"
#include "runtime/vk/status.h"
#include "runtime/vk/volk.h"

namespace mulciber::vk {

class Device;

struct Batch {
  struct Wait {
    VkSemaphore timeline;
    uint64_t value;
  };

  VkCommandPool pool = VK_NULL_HANDLE;
  VkCommandBuffer commandBuffer = VK_NULL_HANDLE;
  uint64_t value = 0;  // of the queue's timeline, once run
  uint32_t commands = 0;
  VkPipeline bound = VK_NULL_HANDLE;
  std::vector<Wait> waits;
  std::vector<VkSemaphoreSubmitInfo> waitInfos;  // storage for the submission
  std::vector<std::shared_ptr<const void>> kept;

  // Memory for what the device reads during this batch: one block that stays, more when that is not enough.
  Memory arena;
  uint64_t arenaUsed = 0;
  std::vector<Memory> moreArenas;

  Status create(Device& device, uint32_t family);
  Status begin(Device& device);
  Status end(Device& device);
  void reset(Device& device);
  void destroy(Device& device);
  Status upload(Device& device, uint64_t bytes, void*& host, uint64_t& address);
};

// What kernels wrote to pinned memory can be read by the host once this has been passed, and so has `alsoBefore`.
void makeVisibleToHost(Device& device, VkCommandBuffer commandBuffer, VkPipelineStageFlags2 alsoBefore);

}  // namespace mulciber::vk
