// Ranges of device addresses to which memory is bound and unbound: sparse buffers, and the memory for them.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/vk/status.h"
#include "runtime/vk/volk.h"

namespace mulciber::vk {

class Device;
struct PhysicalDevice;

struct AddressRange {
  VkBuffer buffer = VK_NULL_HANDLE;
  uint64_t address = 0, size = 0;
  void* reserved = nullptr;  // the same addresses of the process, kept free of everything else
};

struct PhysicalMemory {
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkBuffer buffer = VK_NULL_HANDLE;  // shared memory's own: it is allocated for this one
  uint64_t size = 0;
  std::shared_ptr<const void> reservation;  // null when it was imported: it is counted where it was made
};

bool hasSparseBuffers(const PhysicalDevice& physical);
// Whether memory that is bound to ranges can be exported as a file descriptor, and imported from one.
bool canShareRanges(const PhysicalDevice& physical);

// What sizes and places must be multiples of.
inline constexpr uint64_t sparseGranularity = 2u << 20;

Status createRange(Device& device, uint64_t size, AddressRange& out);
void destroyRange(Device& device, AddressRange& range);
Status createPhysicalMemory(Device& device, uint64_t size, bool isShared, PhysicalMemory& out);
// Of memory that was created to be shared. The descriptor is the caller's.
Status exportMemory(Device& device, const PhysicalMemory& memory, int& descriptor);
// The caller keeps the descriptor.
Status importPhysicalMemory(Device& device, int descriptor, PhysicalMemory& out);
void destroyPhysicalMemory(Device& device, PhysicalMemory& memory);

// Waits until it is done. Null memory takes away what was there. Work that uses the range must have ended.
Status bindRange(Device& device, const AddressRange& range, uint64_t offset, uint64_t size,
                 const PhysicalMemory* memory, uint64_t memoryOffset);

}  // namespace mulciber::vk
