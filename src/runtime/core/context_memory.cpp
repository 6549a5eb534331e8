// Memory of a context: allocations of every kind, and what it reads and writes of them by itself.
#include <algorithm>
#include <cstring>

#include "runtime/core/capture.h"
#include "runtime/core/context.h"
#include "runtime/core/device.h"
#include "runtime/core/graph.h"
#include "runtime/core/managed_advice.h"
#include "runtime/core/memory_pool.h"
#include "runtime/core/stream_order.h"
#include "runtime/core/texture_table.h"
#include "runtime/vk/device.h"

namespace mulciber::core {
namespace {

std::atomic<uint64_t> nextAllocationId{1};

constexpr uint32_t attachGlobal = 1, attachHost = 2;  // CU_MEM_ATTACH_GLOBAL, CU_MEM_ATTACH_HOST
constexpr uint64_t endOfHost = uint64_t{1} << 47;     // of a process's addresses

}  // namespace

void Context::addAllocation(const AllocationRef& allocation, MemoryKind kind, size_t bytes, uint32_t flags) {
  allocation->kind = kind;
  allocation->deviceAddress = allocation->memory.address;
  allocation->size = bytes;
  allocation->flags = flags;
  allocation->id = nextAllocationId.fetch_add(1);
  allocation->context = weak_from_this();
  allocation->device = device_.ordinal();
  // Who takes it from the context's takes it from the map, where it has to be by then.
  device_.memory().add(allocation);
  std::unique_lock lock(mutex_);
  allocations_.insert(allocation);
}

Error Context::addMemory(MemoryKind kind, vk::MemoryUse use, size_t bytes, uint32_t flags, AllocationRef& out) {
  TRY(error());
  auto allocation = std::make_shared<Allocation>();
  vk::Status status = vulkan_->allocator().allocate(use, bytes, allocation->memory);
  if (status == vk::Status::OutOfMemory && freeUnused())
    status = vulkan_->allocator().allocate(use, bytes, allocation->memory);
  if (status != vk::Status::Ok) return errorFrom(status);
  if (use == vk::MemoryUse::Host) allocation->hostAddress = reinterpret_cast<uint64_t>(allocation->memory.host);
  addAllocation(allocation, kind, bytes, flags);
  if (error() == Error::ContextIsDestroyed) {  // meanwhile
    releaseMemory(allocation);
    return Error::ContextIsDestroyed;
  }
  out = std::move(allocation);
  return Error::Success;
}

// False when another thread was first.
bool Context::forget(const AllocationRef& allocation) {
  {
    std::unique_lock lock(mutex_);
    if (allocations_.erase(allocation) == 0) return false;
  }
  device_.memory().remove(*allocation);
  return true;
}

bool Context::freeUnused() {
  const bool hadTextures = textures_->retire();
  return device_.trimPools(0) || hadTextures;
}

void Context::giveBack(const Allocation& allocation) {
  if (allocation.pool) allocation.pool->giveBack(allocation.memory, allocation.size, 0, nullptr);
  else vulkan_->allocator().free(allocation.memory);
}

void Context::releaseMemory(const AllocationRef& allocation) {
  if (forget(allocation)) giveBack(*allocation);
}

Error Context::addFromPool(MemoryPool& pool, size_t bytes, Stream* stream, AllocationRef& out) {
  auto allocation = std::make_shared<Allocation>();
  Error failed = pool.allocate(*this, stream, bytes, allocation->memory);
  if (failed == Error::OutOfMemory && freeUnused()) failed = pool.allocate(*this, stream, bytes, allocation->memory);
  if (failed != Error::Success) return failed;
  allocation->pool = pool.shared_from_this();
  if (pool.kind() != MemoryKind::Device) allocation->hostAddress = reinterpret_cast<uint64_t>(allocation->memory.host);
  if (pool.kind() == MemoryKind::Managed) {
    allocation->managed = {{0, bytes}};
    allocation->advice = std::make_shared<AdviceMap>(bytes);
  }
  addAllocation(allocation, pool.kind(), bytes, pool.kind() == MemoryKind::Managed ? attachGlobal : 0);
  out = std::move(allocation);
  return Error::Success;
}

Error Context::allocateForGraph(MemoryKind kind, size_t bytes, AllocationRef& out) {
  TRY(error());
  return addFromPool(*device_.graphPool(kind), bytes, nullptr, out);
}

void Context::release(const AllocationRef& allocation, uint64_t stream, MarkerRef marker) {
  if (forget(allocation)) allocation->pool->giveBack(allocation->memory, allocation->size, stream, std::move(marker));
}

Error Context::allocateAsync(MemoryPool& pool, size_t bytes, Stream& stream, uint64_t& address) {
  TRY(error());
  if (const CaptureRef capture = stream.capture()) {
    if (&pool.device() != &device_) return Error::InvalidValue;
    const Error failed = capture->add(stream, AllocationNode{shared_from_this(), pool.kind(), bytes, nullptr});
    if (failed != Error::Success) return failed;
    const auto* const node = capture->tell(stream).nodes.front()->as<AllocationNode>();
    address = node->memory->address();
    return Error::Success;
  }
  TRY(stream.refuseInCapture());
  TRY(unsafeDuringCapture());
  if (&pool.device() != &device_) return Error::InvalidValue;
  AllocationRef allocation;
  TRY(addFromPool(pool, bytes, &stream, allocation));
  address = allocation->deviceAddress;
  return Error::Success;
}

Error Context::freeAsync(uint64_t address, Stream& stream) {
  TRY(error());
  const GraphMemoryRef ofGraph = GraphMemory::find(device_.memory(), address);
  if (const CaptureRef capture = stream.capture())  // a graph can only free what a graph has allocated
    return ofGraph ? capture->add(stream, FreeNode{ofGraph}) : Error::InvalidValue;
  TRY(unsafeDuringCapture());
  const AllocationRef allocation = device_.memory().find(address);
  if (!allocation || allocation->deviceAddress != address) return Error::InvalidValue;
  if (!allocation->pool) {
    if (allocation->kind == MemoryKind::Managed) return Error::NotSupported;
    if (allocation->kind != MemoryKind::Device) return Error::InvalidValue;
  }
  const ContextRef owner = allocation->context.lock();
  if (!owner) return Error::InvalidValue;
  if (!allocation->pool || &stream.context() != owner.get()) {
    TRY(stream.finish());
    return owner->free(address);
  }
  MarkerRef marker;
  TRY(stream.place(marker));
  if (ofGraph) return ofGraph->free(std::move(marker), stream.id());
  owner->release(allocation, stream.id(), std::move(marker));
  return Error::Success;
}

Error Context::allocate(size_t bytes, uint64_t& address) {
  TRY(unsafeDuringCapture());
  if (bytes == 0) return Error::InvalidValue;
  AllocationRef allocation;
  TRY(addMemory(MemoryKind::Device, vk::MemoryUse::Device, bytes, 0, allocation));
  address = allocation->deviceAddress;
  return Error::Success;
}

Error Context::allocatePitched(size_t widthBytes, size_t height, size_t depth, uint64_t& address, size_t& pitch) {
  if (widthBytes == 0 || height == 0 || depth == 0) return Error::InvalidValue;
  constexpr size_t alignment = vk::Allocator::alignment;  // also what textures need of a pitch
  if (widthBytes > SIZE_MAX - alignment) return Error::OutOfMemory;
  const size_t row = (widthBytes + alignment - 1) / alignment * alignment;
  size_t total = 0;
  if (__builtin_mul_overflow(row, height, &total) || __builtin_mul_overflow(total, depth, &total))
    return Error::OutOfMemory;
  TRY(allocate(total, address));
  pitch = row;
  return Error::Success;
}

Error Context::addForeign(const vk::Memory& memory, uint64_t& address) {
  TRY(error());
  if (device_.memory().overlapping(memory.address, memory.size)) return Error::InvalidValue;
  auto allocation = std::make_shared<Allocation>();
  allocation->memory = memory;
  addAllocation(allocation, MemoryKind::Device, memory.size, 0);
  address = memory.address;
  return Error::Success;
}

Error Context::free(uint64_t address) {
  TRY(error());
  TRY(unsafeDuringCapture());
  if (address == 0) return Error::Success;
  const AllocationRef allocation = device_.memory().find(address);
  if (!allocation || allocation->deviceAddress != address) return Error::InvalidValue;
  const bool isPinned = allocation->kind == MemoryKind::Pinned && allocation->pool;
  if (allocation->kind != MemoryKind::Device && allocation->kind != MemoryKind::Managed && !isPinned)
    return Error::InvalidValue;
  const ContextRef owner = allocation->context.lock();
  if (!owner) return Error::InvalidValue;
  TRY(owner->waitIdle());
  if (const GraphMemoryRef ofGraph = GraphMemory::of(*allocation)) return ofGraph->free(nullptr, 0);
  owner->releaseMemory(allocation);
  return Error::Success;
}

Error Context::allocateHost(size_t bytes, uint32_t flags, void*& pointer) {
  TRY(unsafeDuringCapture());
  if (bytes == 0) return Error::InvalidValue;
  AllocationRef allocation;
  TRY(addMemory(MemoryKind::Pinned, vk::MemoryUse::Host, bytes, flags, allocation));
  pointer = allocation->memory.host;
  return Error::Success;
}

Error Context::freeHost(void* pointer) {
  TRY(error());
  TRY(unsafeDuringCapture());
  if (!pointer) return Error::Success;
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const AllocationRef allocation = device_.memory().find(address);
  if (!allocation || allocation->kind != MemoryKind::Pinned || allocation->pool || allocation->hostAddress != address)
    return Error::InvalidValue;
  const ContextRef owner = allocation->context.lock();
  if (!owner) return Error::InvalidValue;
  TRY(owner->waitIdle());
  owner->releaseMemory(allocation);
  return Error::Success;
}

Error Context::allocateManaged(size_t bytes, uint32_t flags, uint64_t& address) {
  TRY(unsafeDuringCapture());
  if (bytes == 0 || (flags != attachGlobal && flags != attachHost)) return Error::InvalidValue;
  if (!vulkan_->allocator().hasEqualAddresses()) return Error::NotSupported;
  AllocationRef allocation;
  TRY(addMemory(MemoryKind::Managed, vk::MemoryUse::Host, bytes, flags, allocation));
  if (allocation->hostAddress != allocation->deviceAddress) {
    releaseMemory(allocation);
    return Error::OutOfMemory;
  }
  allocation->managed = {{0, bytes}};
  allocation->advice = std::make_shared<AdviceMap>(bytes);
  address = allocation->deviceAddress;
  return Error::Success;
}

Error Context::registerHost(void* pointer, size_t bytes, uint32_t flags) {
  TRY(error());
  TRY(unsafeDuringCapture());
  if (!pointer || bytes == 0) return Error::InvalidValue;
  if (!vulkan_->allocator().canImportHost()) return Error::NotSupported;
  const auto address = reinterpret_cast<uint64_t>(pointer);
  if (bytes > endOfHost - std::min(address, endOfHost)) return Error::OutOfMemory;
  if (const AllocationRef other = device_.memory().overlapping(address, bytes))
    return other->kind == MemoryKind::Registered ? Error::HostMemoryAlreadyRegistered : Error::InvalidValue;
  auto allocation = std::make_shared<Allocation>();
  if (const vk::Status status = vulkan_->allocator().importHost(pointer, bytes, allocation->memory);
      status != vk::Status::Ok)
    return status == vk::Status::OutOfMemory ? Error::OutOfMemory : Error::InvalidValue;
  allocation->hostAddress = address;
  addAllocation(allocation, MemoryKind::Registered, bytes, flags);
  return Error::Success;
}

Error Context::unregisterHost(void* pointer) {
  TRY(error());
  TRY(unsafeDuringCapture());
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const AllocationRef allocation = device_.memory().find(address);
  if (!allocation) return Error::HostMemoryNotRegistered;
  if (allocation->kind != MemoryKind::Registered || allocation->hostAddress != address) return Error::InvalidValue;
  const ContextRef owner = allocation->context.lock();
  if (!owner) return Error::InvalidValue;
  TRY(owner->waitIdle());
  owner->releaseMemory(allocation);
  return Error::Success;
}

Error Context::hostToDevicePointer(void* pointer, uint64_t& address) {
  const auto host = reinterpret_cast<uint64_t>(pointer);
  const AllocationRef allocation = device_.memory().find(host);
  if (!allocation || !allocation->isHostVisible()) return Error::InvalidValue;
  address = allocation->deviceAddress + allocation->offsetOf(host);
  return Error::Success;
}

void Context::memoryInfo(size_t& freeBytes, size_t& totalBytes) const {
  uint64_t available = 0, total = 0;
  vulkan_->allocator().usage(available, total);
  freeBytes = available;
  totalBytes = total;
}

Error Context::readMemory(uint64_t address, void* out, size_t bytes) {
  const AllocationRef allocation = device_.memory().find(address, bytes);
  if (!allocation) return Error::InvalidValue;
  const uint64_t offset = allocation->offsetOf(address);
  if (allocation->memory.host) {
    std::memcpy(out, static_cast<const char*>(allocation->memory.host) + offset, bytes);
    return Error::Success;
  }
  vk::Memory staging;
  TRY(errorFrom(vulkan_->allocator().allocate(vk::MemoryUse::Staging, bytes, staging)));
  vk::Queue& queue = vulkan_->queue(0);
  vk::Position position(queue);
  vk::Status status = queue.record(position, [&](vk::Commands& commands) {
    commands.copy({staging.address, allocation->deviceAddress + offset, bytes});
    commands.makeVisibleToHost();
    return vk::Status::Ok;
  });
  if (status == vk::Status::Ok) status = queue.wait(position.last.value, vk::WaitMode::Auto);
  if (status == vk::Status::Ok) std::memcpy(out, staging.host, bytes);
  vulkan_->allocator().free(staging);
  return errorFrom(status);
}

Error Context::writeMemory(uint64_t address, const void* data, size_t bytes) {
  const AllocationRef allocation = device_.memory().find(address, bytes);
  if (!allocation) return Error::InvalidValue;
  const uint64_t offset = allocation->offsetOf(address);
  if (allocation->memory.host) {
    std::memcpy(static_cast<char*>(allocation->memory.host) + offset, data, bytes);
    return Error::Success;
  }
  vk::Queue& queue = vulkan_->queue(0);
  vk::Position position(queue);
  vk::Status status = queue.record(position, [&](vk::Commands& commands) {
    void* host = nullptr;
    uint64_t source = 0;
    TRY(commands.upload(bytes, host, source));
    std::memcpy(host, data, bytes);
    commands.copy({allocation->deviceAddress + offset, source, bytes});
    return vk::Status::Ok;
  });
  if (status == vk::Status::Ok) status = queue.wait(position.last.value, vk::WaitMode::Auto);
  return errorFrom(status);
}

void Context::readString(uint64_t address, std::string& out) {
  out.clear();
  constexpr size_t most = 1u << 16;
  while (out.size() < most) {
    const AllocationRef allocation = device_.memory().find(address + out.size());
    if (!allocation) return;
    char piece[256];
    const uint64_t left = allocation->size - allocation->offsetOf(address + out.size());
    const size_t bytes = std::min<uint64_t>(sizeof(piece), left);
    if (readMemory(address + out.size(), piece, bytes) != Error::Success) return;
    const size_t length = strnlen(piece, bytes);
    out.append(piece, length);
    if (length < bytes) return;
  }
}

}  // namespace mulciber::core
