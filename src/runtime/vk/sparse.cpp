#include "runtime/vk/sparse.h"

#include <sys/mman.h>

#include <vector>

#include "runtime/vk/address_space.h"
#include "runtime/vk/device.h"
#include "runtime/vk/external.h"
#include "util/environment.h"
#include "util/log.h"

namespace mulciber::vk {

namespace {

constexpr VkBufferCreateFlags bufferFlags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT | VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT;
constexpr VkBufferUsageFlags bufferUsage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                           VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
                                           VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
constexpr auto descriptorType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;

Status createBuffer(Device& device, VkBufferCreateFlags flags, uint64_t size, VkBuffer& out) {
  // Shared memory may only be bound to buffers that were created for it.
  VkExternalMemoryBufferCreateInfo shared{};
  shared.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO;
  shared.handleTypes = descriptorType;
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  if (canShareRanges(device.physical())) info.pNext = &shared;
  info.flags = flags;
  info.size = size;
  info.usage = bufferUsage;
  const VkResult result = device.api().vkCreateBuffer(device.handle(), &info, device.callbacks(), &out);
  if (result != VK_SUCCESS) out = VK_NULL_HANDLE;
  return device.status(result, "reserving addresses");
}

// Types of memory that can be bound to a range.
Status allowedTypes(Device& device, uint32_t& out) {
  VkBuffer buffer = VK_NULL_HANDLE;
  TRY(createBuffer(device, bufferFlags, sparseGranularity, buffer));
  VkMemoryRequirements requirements{};
  device.api().vkGetBufferMemoryRequirements(device.handle(), buffer, &requirements);
  device.api().vkDestroyBuffer(device.handle(), buffer, device.callbacks());
  out = requirements.memoryTypeBits;
  return Status::Ok;
}

VkMemoryAllocateFlagsInfo withAddresses(const void* next) {
  VkMemoryAllocateFlagsInfo flags{};
  flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
  flags.pNext = next;
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  return flags;
}

}  // namespace

bool canShareRanges(const PhysicalDevice& physical) {
  // How large imported memory is is known of NVIDIA's driver alone, and Mesa's for processors binds other memory to
  // ranges than what was imported.
  if (!util::environment().sharedMemory || physical.driver() != Driver::Nvidia) return false;
  if (!hasSparseBuffers(physical) || !canImportMemory(physical)) return false;
  VkPhysicalDeviceExternalBufferInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO;
  info.flags = bufferFlags;
  info.usage = bufferUsage;
  info.handleType = descriptorType;
  VkExternalBufferProperties properties{};
  properties.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES;
  physical.functions.vkGetPhysicalDeviceExternalBufferProperties(physical.handle, &info, &properties);
  constexpr VkExternalMemoryFeatureFlags both =
      VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
  return (properties.externalMemoryProperties.externalMemoryFeatures & both) == both;
}

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
    if (status = createBuffer(device, bufferFlags, size, range.buffer); status != Status::Ok) break;
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

namespace {

// NVIDIA's driver gives memory that may be exported compressed pages where ordinary buffers reach it, in this device
// and in those that import it, and others where sparse buffers do: each then reads other than what the other wrote.
// Memory of one ordinary buffer has no such pages.
Status createOwnBuffer(Device& device, uint64_t size, uint32_t& types, VkBuffer& out) {
  TRY(createBuffer(device, 0, size, out));
  VkMemoryRequirements requirements{};
  device.api().vkGetBufferMemoryRequirements(device.handle(), out, &requirements);
  types &= requirements.memoryTypeBits;
  if (requirements.size == size) return Status::Ok;
  util::log().warn("for a buffer of {} bytes the driver needs {}: memory of that size cannot be shared", size,
                   requirements.size);
  return Status::Unsupported;
}

Status allocate(Device& device, uint64_t size, bool isShared, PhysicalMemory& out) {
  uint32_t types = 0;
  TRY(allowedTypes(device, types));
  VkMemoryDedicatedAllocateInfo dedicated{};
  dedicated.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO;
  if (isShared) TRY(createOwnBuffer(device, size, types, out.buffer));
  dedicated.buffer = out.buffer;
  VkExportMemoryAllocateInfo exported{};
  exported.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO;
  exported.pNext = &dedicated;
  exported.handleTypes = descriptorType;
  const VkPhysicalDeviceMemoryProperties& memory = device.physical().memory;
  for (uint32_t type = 0; type < memory.memoryTypeCount; ++type) {
    if ((types >> type & 1) == 0) continue;
    if ((memory.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) == 0) continue;
    out.reservation = device.allocator().reserve(type, size);
    if (!out.reservation) continue;
    const VkMemoryAllocateFlagsInfo flags = withAddresses(isShared ? &exported : nullptr);
    VkMemoryAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    info.pNext = &flags;
    info.allocationSize = size;
    info.memoryTypeIndex = type;
    VkResult result = device.allocateMemory(info, out.memory);
    if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY && device.allocator().trim())
      result = device.allocateMemory(info, out.memory);
    if (result != VK_SUCCESS) out.memory = VK_NULL_HANDLE;
    TRY(device.status(result, "allocating memory to map"));
    out.size = size;
    if (!isShared) return Status::Ok;
    return device.status(device.api().vkBindBufferMemory(device.handle(), out.buffer, out.memory, 0),
                         "binding memory to share");
  }
  return Status::OutOfMemory;
}

}  // namespace

Status createPhysicalMemory(Device& device, uint64_t size, bool isShared, PhysicalMemory& out) {
  const Status status = allocate(device, size, isShared, out);
  if (status != Status::Ok) destroyPhysicalMemory(device, out);
  return status;
}

Status exportMemory(Device& device, const PhysicalMemory& memory, int& descriptor) {
  VkMemoryGetFdInfoKHR info{};
  info.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR;
  info.memory = memory.memory;
  info.handleType = descriptorType;
  return device.status(device.api().vkGetMemoryFdKHR(device.handle(), &info, &descriptor), "exporting memory");
}

// A descriptor does not tell how large the memory is. NVIDIA's driver imports less than there is, and not more: so the
// most that it imports is what there is.
Status importPhysicalMemory(Device& device, int descriptor, PhysicalMemory& out) {
  uint32_t types = 0;
  TRY(allowedTypes(device, types));
  const VkMemoryAllocateFlagsInfo flags = withAddresses(nullptr);
  const auto import = [&](uint64_t size) {
    PhysicalMemory larger;
    larger.size = size;
    TRY(importMemory(device, {descriptor, size}, types, &flags, larger.memory));
    destroyPhysicalMemory(device, out);
    out = larger;
    return Status::Ok;
  };
  uint64_t step = sparseGranularity;
  Status status = import(step);
  for (; status == Status::Ok; step *= 2) status = import(out.size + step);
  for (; step != 0 && status != Status::DeviceLost && out.size != 0;
       step = step / 2 / sparseGranularity * sparseGranularity)
    status = import(out.size + step);
  if (status == Status::DeviceLost) destroyPhysicalMemory(device, out);
  if (out.size != 0) return Status::Ok;
  util::log().warn("the Vulkan driver finds no memory behind a file descriptor that is to be imported");
  return status == Status::DeviceLost ? status : Status::Failed;
}

void destroyPhysicalMemory(Device& device, PhysicalMemory& memory) {
  if (memory.buffer != VK_NULL_HANDLE) device.api().vkDestroyBuffer(device.handle(), memory.buffer, device.callbacks());
  if (memory.memory != VK_NULL_HANDLE) device.freeMemory(memory.memory);
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
