#include "runtime/vk/external.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mutex>
#include <utility>
#include <vector>

#include "runtime/vk/address_space.h"
#include "runtime/vk/device.h"
#include "util/log.h"

namespace mulciber::vk {

namespace {

constexpr auto opaqueDescriptor = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
constexpr VkBufferUsageFlags bufferUsage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                           VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
                                           VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;

// Nothing tells of which type the memory is. Memory that is shared between devices lies on the device as a rule.
std::vector<uint32_t> typesToTry(const Device& device, uint32_t allowed) {
  const VkPhysicalDeviceMemoryProperties& memory = device.physical().memory;
  std::vector<uint32_t> types;
  for (const bool local : {true, false})
    for (uint32_t type = 0; type < memory.memoryTypeCount; ++type) {
      const VkMemoryPropertyFlags flags = memory.memoryTypes[type].propertyFlags;
      if ((allowed >> type & 1) != 0 && ((flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0) == local &&
          (flags & VK_MEMORY_PROPERTY_PROTECTED_BIT) == 0)
        types.push_back(type);
    }
  return types;
}

// The driver did not take over the copy of a descriptor. Vulkan says that it is ours then; Mesa's driver for processors
// has closed it, and another thread may have opened something else under its number since.
void closeCopy(int copy, int descriptor) {
  struct stat one {
  }, other{};
  if (fstat(copy, &one) == 0 && fstat(descriptor, &other) == 0 && one.st_dev == other.st_dev &&
      one.st_ino == other.st_ino)
    close(copy);
}

}  // namespace

Status importMemory(Device& device, const ExternalMemory& memory, uint32_t allowed, const void* next,
                    VkDeviceMemory& out) {
  static std::mutex oneCopy;  // so that a number that was closed is no copy that another import has made
  const std::lock_guard lock(oneCopy);
  for (const uint32_t type : typesToTry(device, allowed)) {
    VkImportMemoryFdInfoKHR import{};
    import.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR;
    import.pNext = next;
    import.handleType = opaqueDescriptor;
    import.fd = fcntl(memory.descriptor, F_DUPFD_CLOEXEC, 0);  // the driver keeps what it has imported
    if (import.fd < 0) return Status::Failed;
    VkMemoryAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    info.pNext = &import;
    info.allocationSize = memory.size;
    info.memoryTypeIndex = type;
    const VkResult result = device.allocateMemory(info, out);
    if (result == VK_SUCCESS) return Status::Ok;
    out = VK_NULL_HANDLE;
    closeCopy(import.fd, memory.descriptor);
    if (result == VK_ERROR_DEVICE_LOST) return device.status(result, "importing memory");
    // For memory of another type NVIDIA's driver says that memory has run out, or takes it; on an H200 what it took
    // held what it should.
  }
  return Status::Failed;
}

namespace {

Status importKnown(Device& device, const ExternalMemory& memory, uint32_t allowed, const void* next,
                   VkDeviceMemory& out) {
  const Status status = importMemory(device, memory, allowed, next, out);
  if (status == Status::Failed)
    util::log().warn("the Vulkan driver finds no memory of {} bytes behind a file descriptor that is to be imported",
                     memory.size);
  return status;
}

// What Memory::chunk of imported memory keeps.
struct ImportedBuffer {
  explicit ImportedBuffer(Device& owner) : device(owner) {}
  ~ImportedBuffer() {
    if (device.isStuck()) return;
    if (buffer != VK_NULL_HANDLE) device.api().vkDestroyBuffer(device.handle(), buffer, device.callbacks());
    if (memory != VK_NULL_HANDLE) device.freeMemory(memory);
    if (reserved) munmap(reserved, size);
  }
  ImportedBuffer(const ImportedBuffer&) = delete;
  ImportedBuffer& operator=(const ImportedBuffer&) = delete;

  Status create(const ExternalMemory& external, uint64_t bytes);
  Status createBuffer(uint64_t bytes, VkMemoryRequirements& needed);

  Device& device;
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  uint64_t size = 0, address = 0;
  void* reserved = nullptr;
  std::shared_ptr<const void> reservation;  // of memory that was made here
};

Status ImportedBuffer::createBuffer(uint64_t bytes, VkMemoryRequirements& needed) {
  const VolkDeviceTable& api = device.api();
  if (buffer != VK_NULL_HANDLE) api.vkDestroyBuffer(device.handle(), buffer, device.callbacks());
  VkExternalMemoryBufferCreateInfo handles{};
  handles.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO;
  handles.handleTypes = opaqueDescriptor;
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.pNext = &handles;
  info.size = bytes;
  info.usage = bufferUsage;
  device.share(info);
  const VkResult result = api.vkCreateBuffer(device.handle(), &info, device.callbacks(), &buffer);
  if (result != VK_SUCCESS) buffer = VK_NULL_HANDLE;
  TRY(device.status(result, "creating a buffer for imported memory"));
  api.vkGetBufferMemoryRequirements(device.handle(), buffer, &needed);
  return Status::Ok;
}

// NotReady when its addresses clash with the process's.
Status ImportedBuffer::create(const ExternalMemory& external, uint64_t bytes) {
  const VolkDeviceTable& api = device.api();
  VkMemoryRequirements needed{};
  Status made = createBuffer(bytes, needed);
  // Memory that belongs to one buffer is imported for one that fills it.
  if (made == Status::Ok && external.isDedicated && needed.size < external.size)
    made = createBuffer(external.size, needed);
  if (made != Status::Ok) return made;
  if (needed.size > external.size) {
    util::log().warn("a buffer over {} bytes of imported memory needs {}, and the memory has {}", bytes, needed.size,
                     external.size);
    return Status::Unsupported;
  }
  VkMemoryDedicatedAllocateInfo dedicated{};
  dedicated.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO;
  dedicated.buffer = buffer;
  VkMemoryAllocateFlagsInfo flags{};
  flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  if (external.isDedicated) flags.pNext = &dedicated;
  TRY(importKnown(device, external, needed.memoryTypeBits, &flags, memory));
  const VkResult result = api.vkBindBufferMemory(device.handle(), buffer, memory, 0);
  TRY(device.status(result, "binding imported memory"));
  VkBufferDeviceAddressInfo where{};
  where.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
  where.buffer = buffer;
  address = api.vkGetBufferDeviceAddress(device.handle(), &where);
  size = bytes;
  if (device.physical().isCpu()) return Status::Ok;  // its addresses are the process's own
  reserved = reserveAddresses(address, size);
  return reserved ? Status::Ok : Status::NotReady;
}

}  // namespace

bool canImportMemory(const PhysicalDevice& physical) { return physical.has("VK_KHR_external_memory_fd"); }

bool canImportSemaphores(const PhysicalDevice& physical) { return physical.has("VK_KHR_external_semaphore_fd"); }

bool canShareBuffers(const PhysicalDevice& physical) {
  if (!canImportMemory(physical)) return false;
  VkPhysicalDeviceExternalBufferInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO;
  info.usage = bufferUsage;
  info.handleType = opaqueDescriptor;
  VkExternalBufferProperties properties{};
  properties.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES;
  physical.functions.vkGetPhysicalDeviceExternalBufferProperties(physical.handle, &info, &properties);
  constexpr VkExternalMemoryFeatureFlags both =
      VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
  return (properties.externalMemoryProperties.externalMemoryFeatures & both) == both;
}

namespace {

Status createSharedMemory(Device& device, uint64_t size, int& descriptor, std::shared_ptr<const void>& reservation) {
  ImportedBuffer made(device);
  VkMemoryRequirements needed{};
  TRY(made.createBuffer(size, needed));
  if (needed.size != size) {
    util::log().warn("for a buffer of {} bytes the driver needs {}: memory of that size cannot be shared", size,
                     needed.size);
    return Status::Unsupported;
  }
  VkMemoryDedicatedAllocateInfo dedicated{};
  dedicated.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO;
  dedicated.buffer = made.buffer;
  VkExportMemoryAllocateInfo exported{};
  exported.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO;
  exported.pNext = &dedicated;
  exported.handleTypes = opaqueDescriptor;
  VkMemoryAllocateFlagsInfo flags{};
  flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
  flags.pNext = &exported;
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  info.pNext = &flags;
  info.allocationSize = size;
  info.memoryTypeIndex = typesToTry(device, needed.memoryTypeBits).front();
  reservation = device.allocator().reserve(info.memoryTypeIndex, size);
  if (!reservation) return Status::OutOfMemory;
  VkResult result = device.allocateMemory(info, made.memory);
  if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY && device.allocator().trim())
    result = device.allocateMemory(info, made.memory);
  TRY(device.status(result, "allocating memory to share"));
  VkMemoryGetFdInfoKHR get{};
  get.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR;
  get.memory = made.memory;
  get.handleType = opaqueDescriptor;
  return device.status(device.api().vkGetMemoryFdKHR(device.handle(), &get, &descriptor), "exporting memory");
}

Status importCounted(Device& device, const ExternalMemory& memory, uint64_t offset, uint64_t size,
                     const std::shared_ptr<const void>& reservation, Memory& out) {
  constexpr int attempts = 8;
  std::vector<std::shared_ptr<ImportedBuffer>> aside;  // so that the driver gives other addresses
  for (int attempt = 0; attempt < attempts; ++attempt) {
    auto made = std::make_shared<ImportedBuffer>(device);
    const Status status = made->create(memory, offset + size);
    if (status == Status::Ok) {
      const VkBuffer buffer = made->buffer;
      made->reservation = reservation;
      return device.allocator().wrap(buffer, offset, size, std::move(made), out);
    }
    if (status != Status::NotReady) return status;
    aside.push_back(std::move(made));
  }
  util::log().warn("the addresses of imported memory clash with the program's");
  return Status::OutOfMemory;
}

}  // namespace

Status createSharedBuffer(Device& device, uint64_t whole, uint64_t size, int& descriptor, Memory& out) {
  std::shared_ptr<const void> reservation;
  TRY(createSharedMemory(device, whole, descriptor, reservation));
  const Status status = importCounted(device, {descriptor, whole, true}, 0, size, reservation, out);
  if (status != Status::Ok) close(std::exchange(descriptor, -1));
  return status;
}

Status importBuffer(Device& device, const ExternalMemory& memory, uint64_t offset, uint64_t size, Memory& out) {
  return importCounted(device, memory, offset, size, nullptr, out);
}

Status importImageMemory(Device& device, const ExternalMemory& memory, VkImage image, VkDeviceMemory& out) {
  VkMemoryRequirements needed{};
  device.api().vkGetImageMemoryRequirements(device.handle(), image, &needed);
  VkMemoryDedicatedAllocateInfo dedicated{};
  dedicated.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO;
  dedicated.image = image;
  return importKnown(device, memory, needed.memoryTypeBits, memory.isDedicated ? &dedicated : nullptr, out);
}

ImportedSemaphore::ImportedSemaphore(std::shared_ptr<Device> device, bool isTimeline)
    : device_(std::move(device)), isTimeline_(isTimeline) {}

ImportedSemaphore::~ImportedSemaphore() {
  if (handle_ != VK_NULL_HANDLE) device_->api().vkDestroySemaphore(device_->handle(), handle_, device_->callbacks());
}

Status ImportedSemaphore::create(std::shared_ptr<Device> device, int descriptor, bool isTimeline,
                                 std::shared_ptr<ImportedSemaphore>& out) {
  std::shared_ptr<ImportedSemaphore> made(new ImportedSemaphore(std::move(device), isTimeline));
  Device& owner = *made->device_;
  VkSemaphoreTypeCreateInfo type{};
  type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
  type.semaphoreType = isTimeline ? VK_SEMAPHORE_TYPE_TIMELINE : VK_SEMAPHORE_TYPE_BINARY;
  VkSemaphoreCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  info.pNext = &type;
  VkResult result = owner.api().vkCreateSemaphore(owner.handle(), &info, owner.callbacks(), &made->handle_);
  if (result != VK_SUCCESS) made->handle_ = VK_NULL_HANDLE;
  TRY(owner.status(result, "creating a semaphore"));
  VkImportSemaphoreFdInfoKHR import{};
  import.sType = VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR;
  import.semaphore = made->handle_;
  import.handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
  import.fd = descriptor;
  result = owner.api().vkImportSemaphoreFdKHR(owner.handle(), &import);
  TRY(owner.status(result, "importing a semaphore"));
  out = std::move(made);
  return Status::Ok;
}

bool ImportedSemaphore::hasReached(uint64_t value) const {
  if (!isTimeline_) return true;
  uint64_t now = 0;
  // A lost device waits for nothing.
  const VkResult result = device_->api().vkGetSemaphoreCounterValue(device_->handle(), handle_, &now);
  return device_->status(result, "reading an imported timeline") != Status::Ok || now >= value;
}

}  // namespace mulciber::vk
