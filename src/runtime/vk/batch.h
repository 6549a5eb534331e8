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
  bool isShown = false;  // the host reads what it writes
  VkPipeline bound = VK_NULL_HANDLE;
  uint64_t boundConstants = 0;  // their address, and how many bytes
  uint32_t boundConstantBytes = 0;
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
  // Before what follows in these stages all writes are done; and visible to the host, if it looks.
  void finishWrites(Device& device, VkPipelineStageFlags2 before);
  void reset(Device& device);
  void destroy(Device& device);
  Status upload(Device& device, uint64_t bytes, void*& host, uint64_t& address);
};

}  // namespace mulciber::vk
