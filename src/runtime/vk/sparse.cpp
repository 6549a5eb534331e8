#include "runtime/vk/sparse.h"

#include <sys/mman.h>

#include <vector>

#include "runtime/vk/address_space.h"
#include "runtime/vk/device.h"

namespace mulciber::vk {

namespace {

Status createSparseBuffer(Device& device, uint64_t size, VkBuffer& out) {
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.flags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT | VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT;
  info.size = size;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
               VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  const VkResult result = device.api().vkCreateBuffer(device.handle(), &info, device.callbacks(), &out);
  if (result != VK_SUCCESS) out = VK_NULL_HANDLE;
  return device.status(result, "reserving addresses");
}

}  // namespace

bool hasSparseBuffers(const PhysicalDevice& physical) {
  const auto& features = physical.features2.features;
  if (!features.sparseBinding || !features.sparseResidencyBuffer) return false;
  for (const VkQueueFamilyProperties& family : physical.queueFamilies)
    if ((family.queueFlags & VK_QUEUE_COMPUTE_BIT) != 0 && (family.queueFlags & VK_QUEUE_SPARSE_BINDING_BIT) == 0)
      return false;
  return true;
}

Status createRange(Device& device, uint64_t size, AddressRange& out) {
  constexpr int attempts = 8;
  std::vector<AddressRange> aside;  // so that the driver gives other addresses
  Status status = Status::OutOfMemory;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    AddressRange range;
    range.size = size;
    if (status = createSparseBuffer(device, size, range.buffer); status != Status::Ok) break;
    VkBufferDeviceAddressInfo address{};
    address.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
    address.buffer = range.buffer;
    range.address = device.api().vkGetBufferDeviceAddress(device.handle(), &address);
    // A CPU device's addresses are the process's own.
    if (device.physical().isCpu() || (range.reserved = reserveAddresses(range.address, size))) {
      out = range;
      break;
    }
    aside.push_back(range);
    status = Status::OutOfMemory;
  }
  for (AddressRange& range : aside) destroyRange(device, range);
  return status;
}

void destroyRange(Device& device, AddressRange& range) {
  if (range.buffer != VK_NULL_HANDLE) device.api().vkDestroyBuffer(device.handle(), range.buffer, device.callbacks());
  if (range.reserved) munmap(range.reserved, range.size);
  range = {};
}

Status createPhysicalMemory(Device& device, uint64_t size, PhysicalMemory& out) {
  VkBuffer buffer = VK_NULL_HANDLE;
  TRY(createSparseBuffer(device, sparseGranularity, buffer));
  VkMemoryRequirements requirements{};
  device.api().vkGetBufferMemoryRequirements(device.handle(), buffer, &requirements);
  device.api().vkDestroyBuffer(device.handle(), buffer, device.callbacks());
  const VkPhysicalDeviceMemoryProperties& memory = device.physical().memory;
  for (uint32_t type = 0; type < memory.memoryTypeCount; ++type) {
    if ((requirements.memoryTypeBits >> type & 1) == 0) continue;
    if ((memory.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) == 0) continue;
    if (size > memory.memoryHeaps[memory.memoryTypes[type].heapIndex].size) continue;
    VkMemoryAllocateFlagsInfo flags{};
    flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    VkMemoryAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    info.pNext = &flags;
    info.allocationSize = size;
    info.memoryTypeIndex = type;
    VkResult result = device.api().vkAllocateMemory(device.handle(), &info, device.callbacks(), &out.memory);
    if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY && device.allocator().trim())
      result = device.api().vkAllocateMemory(device.handle(), &info, device.callbacks(), &out.memory);
    out.size = size;
    if (result != VK_SUCCESS) out = {};
    return device.status(result, "allocating memory to map");
  }
  return Status::OutOfMemory;
}

void destroyPhysicalMemory(Device& device, PhysicalMemory& memory) {
  if (memory.memory != VK_NULL_HANDLE) device.api().vkFreeMemory(device.handle(), memory.memory, device.callbacks());
  memory = {};
}

Status bindRange(Device& device, const AddressRange& range, uint64_t offset, uint64_t size,
                 const PhysicalMemory* memory, uint64_t memoryOffset) {
  VkSparseMemoryBind bind{};
  bind.resourceOffset = offset;
  bind.size = size;
  if (memory) {
    bind.memory = memory->memory;
    bind.memoryOffset = memoryOffset;
  }
  VkSparseBufferMemoryBindInfo buffer{};
  buffer.buffer = range.buffer;
  buffer.bindCount = 1;
  buffer.pBinds = &bind;
  VkBindSparseInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO;
  info.bufferBindCount = 1;
  info.pBufferBinds = &buffer;
  VkFenceCreateInfo fenceInfo{};
  fenceInfo.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
  VkFence fence = VK_NULL_HANDLE;
  const VolkDeviceTable& api = device.api();
  TRY(device.status(api.vkCreateFence(device.handle(), &fenceInfo, device.callbacks(), &fence), "making a fence"));
  Status status = device.queue(0).bindSparse(info, fence);
  if (status == Status::Ok)
    status = device.status(api.vkWaitForFences(device.handle(), 1, &fence, VK_TRUE, UINT64_MAX), "mapping memory");
  api.vkDestroyFence(device.handle(), fence, device.callbacks());
  return status;
}

}  // namespace mulciber::vk
