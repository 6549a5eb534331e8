// Pools between processes. A pool that programs may export is one piece of memory, made with its first use: its file
// descriptor is the pool's handle, and a pointer is told as a place in it.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "runtime/core/context.h"
#include "runtime/core/device.h"
#include "runtime/core/memory_pool.h"
#include "runtime/core/platform.h"
#include "runtime/vk/device.h"
#include "runtime/vk/external.h"
#include "util/log.h"

namespace mulciber::core {

namespace {

constexpr uint64_t granularity = 2u << 20;
constexpr uint64_t leastDefault = 64u << 20;
constexpr uint64_t partOfDevice = 64;
constexpr uint64_t pointerMagic = 0x6C6F6F706C756D01;

// No program has as much memory as what cannot be rounded.
uint64_t roundUp(uint64_t value) {
  return value > UINT64_MAX - granularity ? value : (value + granularity - 1) / granularity * granularity;
}

}  // namespace

MemoryPool::MemoryPool(Device& device, MemoryKind kind, uint64_t maxBytes, PoolSharing sharing, int descriptor)
    : device_(device), kind_(kind), maxBytes_(roundUp(maxBytes)), sharing_(sharing), descriptor_(descriptor) {}

bool MemoryPool::canBeShared(const Device& device) { return vk::canShareBuffers(device.physical()); }

// What a pool's program sees as its largest size, where it says none.
uint64_t MemoryPool::sharedBytes() const {
  return maxBytes_ != 0 ? maxBytes_ : roundUp(std::max(leastDefault, device_.totalMemory() / partOfDevice));
}

// The caller holds the lock.
Error MemoryPool::makeShared(const std::shared_ptr<vk::Device>& vulkan) {
  if (!segments_.empty()) return Error::OutOfMemory;
  const uint64_t bytes = sharedBytes();
  Segment segment{vulkan, {}};
  TRY(errorFrom(vk::createSharedBuffer(*vulkan, bytes, bytes, descriptor_, segment.memory)));
  addSegment(std::move(segment), bytes);
  return Error::Success;
}

Error MemoryPool::exportDescriptor(int& out) {
  if (sharing_ != PoolSharing::Exported) return Error::InvalidValue;
  std::shared_ptr<vk::Device> vulkan;
  TRY(device_.open(vulkan));
  std::lock_guard lock(mutex_);
  if (segments_.empty()) TRY(makeShared(vulkan));
  out = fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
  return out >= 0 ? Error::Success : Error::OperatingSystem;
}

Error MemoryPool::importDescriptor(Device& device, int descriptor, MemoryPoolRef& out) {
  const int kept = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (kept < 0) return Error::InvalidValue;
  out = device.addPool(std::make_shared<MemoryPool>(device, MemoryKind::Device, 0, PoolSharing::Imported, kept));
  return Error::Success;
}

Error MemoryPool::exportPointer(uint64_t address, SharedPointer& out) {
  const AllocationRef allocation = currentMemory().find(address);
  if (!allocation || allocation->deviceAddress != address || !allocation->pool) return Error::InvalidValue;
  MemoryPool& pool = *allocation->pool;
  if (pool.sharing_ != PoolSharing::Exported) return Error::InvalidValue;
  std::lock_guard lock(pool.mutex_);
  const Segment& segment = pool.segments_.front();
  out = {pointerMagic, segment.memory.size, address - segment.memory.address, allocation->size, pool.device_.uuid()};
  return Error::Success;
}

Error MemoryPool::importPointer(Context& context, const SharedPointer& pointer, uint64_t& address) const {
  if (sharing_ != PoolSharing::Imported || &context.device() != &device_) return Error::InvalidValue;
  if (pointer.magic != pointerMagic || pointer.bytes == 0 || pointer.offset > pointer.segmentBytes ||
      pointer.bytes > pointer.segmentBytes - pointer.offset)
    return Error::InvalidValue;
  if (pointer.device != device_.uuid()) {
    util::log().warn("the memory of an imported pool is another device's");
    return Error::InvalidDevice;
  }
  vk::Memory mapped;
  TRY(errorFrom(vk::importBuffer(context.vulkan(), {descriptor_, pointer.segmentBytes, true}, pointer.offset,
                                 pointer.bytes, mapped)));
  const Error error = context.addForeign(mapped, address);
  if (error != Error::Success) context.vulkan().allocator().free(mapped);
  return error;
}

}  // namespace mulciber::core
