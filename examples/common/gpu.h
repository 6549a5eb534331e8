// An engine's Vulkan: an instance, a device with one queue, command buffers, and a timeline that each submission
// raises. Mulciber adds what it needs to the device before it is made, and gets a context on it.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/vulkan.h"
//
#include <mulciber/engine.hpp>

namespace example {

namespace cuda = mulciber::engine;

// A place in the timeline of somebody's work. Binary semaphores have no value.
struct TimelinePoint {
  VkSemaphore semaphore = VK_NULL_HANDLE;
  uint64_t value = 0;
};

struct HostBuffer {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  void* host = nullptr;
};

class Gpu {
 public:
  // With extensions of the instance that a window needs, the device can show pictures in one.
  explicit Gpu(const std::vector<const char*>& windowExtensions = {});
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  VkInstance instance() const { return instance_; }
  VkPhysicalDevice physicalDevice() const { return physical_; }
  VkDevice device() const { return device_; }
  VkQueue queue() const { return queue_; }
  uint32_t family() const { return family_; }  // of its queue
  const cuda::Context& context() const { return *context_; }
  std::string name() const;
  uint32_t largestImage() const;  // width and height

  // A command buffer of `slot`, whose last submission must have been waited for.
  VkCommandBuffer begin(uint32_t slot);
  // After `waits` and before `signals`; those without a semaphore are left out. What is given is where all of it has
  // been done.
  TimelinePoint submit(VkCommandBuffer commands, const std::vector<TimelinePoint>& waits = {},
                       const std::vector<TimelinePoint>& signals = {});
  void wait(TimelinePoint point) const;

  uint32_t memoryType(uint32_t allowed, VkMemoryPropertyFlags wanted) const;
  HostBuffer makeHostBuffer(VkDeviceSize bytes, VkBufferUsageFlags usage) const;
  void destroy(const HostBuffer& buffer) const;

 private:
  void makeDevice(bool hasWindow);

  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  uint32_t family_ = 0;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  std::vector<VkCommandBuffer> commands_;
  TimelinePoint timeline_;
  std::unique_ptr<cuda::Requirements> requirements_;
  std::unique_ptr<cuda::Context> context_;
};

// What kernels have written, to what the renderer does in these stages.
void makeVisible(VkCommandBuffer commands, VkPipelineStageFlags2 stages, VkAccessFlags2 reads);

}  // namespace example
