// Imports memory and semaphores of another device or process by file descriptors, and exports our own in the same
// way.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/vk/memory.h"
#include "runtime/vk/status.h"
#include "runtime/vk/volk.h"

namespace mulciber::vk {

class Device;
struct PhysicalDevice;

// A VkDeviceMemory of another owner. The caller keeps the descriptor: it is not closed here.
struct ExternalMemory {
  int descriptor = -1;
  uint64_t size = 0;
  bool isDedicated = false;  // made for one buffer or image
};

bool canImportMemory(const PhysicalDevice& physical);
bool canImportSemaphores(const PhysicalDevice& physical);

// Of one of these types; Failed where the driver knows no such memory. `next`: what else the allocation is to have, of
// structures for VkMemoryAllocateInfo.
Status importMemory(Device& device, const ExternalMemory& memory, uint32_t allowedTypes, const void* next,
                    VkDeviceMemory& out);

// Whether createSharedBuffer() gives memory.
bool canShareBuffers(const PhysicalDevice& physical);
// A buffer's memory, of a multiple of 2 MiB, which importBuffer() reaches as dedicated memory, in this process or
// another. It lives as long as the descriptor, which is the caller's, and all that imported it; `out` is an import of
// its first `size` bytes.
Status createSharedBuffer(Device& device, uint64_t whole, uint64_t size, int& descriptor, Memory& out);

// The bytes from `offset` on at addresses of their own, even where they have been imported before. The last reference
// to them is the allocator's: Allocator::free() lets them go. Failed when the driver does not know the memory.
Status importBuffer(Device& device, const ExternalMemory& memory, uint64_t offset, uint64_t size, Memory& out);

// The memory behind an image made for it; the caller frees it.
Status importImageMemory(Device& device, const ExternalMemory& memory, VkImage image, VkDeviceMemory& out);

class ImportedSemaphore {
 public:
  // Takes the descriptor over when it succeeds. Failed when the driver does not know the semaphore.
  static Status create(std::shared_ptr<Device> device, int descriptor, bool isTimeline,
                       std::shared_ptr<ImportedSemaphore>& out);
  ~ImportedSemaphore();
  ImportedSemaphore(const ImportedSemaphore&) = delete;
  ImportedSemaphore& operator=(const ImportedSemaphore&) = delete;

  VkSemaphore handle() const { return handle_; }
  Device& device() const { return *device_; }
  bool isTimeline() const { return isTimeline_; }
  // Whether a wait for the value takes no time. Of a binary semaphore nothing can be seen beforehand: its signal has
  // been submitted, as Vulkan wants it, and the answer is yes.
  bool hasReached(uint64_t value) const;

 private:
  ImportedSemaphore(std::shared_ptr<Device> device, bool isTimeline);

  const std::shared_ptr<Device> device_;
  const bool isTimeline_;
  VkSemaphore handle_ = VK_NULL_HANDLE;
};

}  // namespace mulciber::vk
