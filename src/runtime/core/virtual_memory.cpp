#include "runtime/core/virtual_memory.h"

#include <algorithm>

#include "runtime/core/context.h"
#include "runtime/core/device.h"
#include "runtime/vk/device.h"
#include "util/log.h"

namespace mulciber::core {

VirtualMemory& VirtualMemory::get() {
  static auto* const memory = new VirtualMemory;  // outlives static destructors
  return *memory;
}

VirtualMemory::Physical::~Physical() { vk::destroyPhysicalMemory(*vulkan, memory); }

namespace {

Error open(Device& device, std::shared_ptr<vk::Device>& out) {
  if (vk::hasSparseBuffers(device.physical())) return device.open(out);
  util::log().warn("{} cannot map memory at reserved addresses: its Vulkan driver has no sparse buffers",
                   device.name());
  return Error::NotSupported;
}

bool isMultiple(uint64_t value) { return value % VirtualMemory::granularity == 0; }

}  // namespace

// The reservation that holds all of these bytes.
VirtualMemory::Reservation* VirtualMemory::find(uint64_t address, uint64_t size) {
  const auto above = reservations_.upper_bound(address);
  if (above == reservations_.begin() || size == 0) return nullptr;
  auto& [first, reservation] = *std::prev(above);
  const uint64_t offset = address - first;
  return offset < reservation.size && size <= reservation.size - offset ? &reservation : nullptr;
}

Error VirtualMemory::reserve(Device& device, uint64_t size, uint64_t alignment, uint64_t& address) {
  if (size == 0 || !isMultiple(size) || (alignment & (alignment - 1)) != 0) return Error::InvalidValue;
  Reservation reservation;
  TRY(open(device, reservation.vulkan));
  alignment = std::max(alignment, granularity);
  // Room to begin at a multiple of the alignment.
  if (size > (uint64_t(1) << 48) || alignment > (uint64_t(1) << 48)) return Error::OutOfMemory;
  TRY(errorFrom(vk::createRange(*reservation.vulkan, size + alignment, reservation.range)));
  reservation.device = &device;
  reservation.size = size;
  address = (reservation.range.address + alignment - 1) / alignment * alignment;
  std::lock_guard lock(mutex_);
  reservations_.emplace(address, std::move(reservation));
  return Error::Success;
}

Error VirtualMemory::unreserve(uint64_t address, uint64_t size) {
  std::lock_guard lock(mutex_);
  const auto found = reservations_.find(address);
  if (found == reservations_.end() || found->second.size != size || !found->second.mappings.empty())
    return Error::InvalidValue;
  vk::destroyRange(*found->second.vulkan, found->second.range);
  reservations_.erase(found);
  return Error::Success;
}

bool VirtualMemory::canShare(const Device& device) { return vk::canShareRanges(device.physical()); }

Error VirtualMemory::create(Device& device, uint64_t size, bool isShared, uint64_t& handle) {
  if (size == 0 || !isMultiple(size)) return Error::InvalidValue;
  if (isShared && !canShare(device)) return Error::NotSupported;
  auto made = std::make_shared<Physical>();
  TRY(open(device, made->vulkan));
  auto status = vk::createPhysicalMemory(*made->vulkan, size, isShared, made->memory);
  if (status == vk::Status::OutOfMemory && device.trimPools(0))
    status = vk::createPhysicalMemory(*made->vulkan, size, isShared, made->memory);
  if (status != vk::Status::Ok) return errorFrom(status);
  made->device = device.ordinal();
  made->isShared = isShared;
  std::lock_guard lock(mutex_);
  made->handle = handle = nextHandle_++;
  handles_.emplace(handle, std::move(made));
  return Error::Success;
}

Error VirtualMemory::exportDescriptor(uint64_t handle, int& descriptor) const {
  std::lock_guard lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end() || !found->second->isShared) return Error::InvalidValue;
  return errorFrom(vk::exportMemory(*found->second->vulkan, found->second->memory, descriptor));
}

Error VirtualMemory::importDescriptor(Device& device, int descriptor, uint64_t& handle) {
  if (!canShare(device)) return Error::NotSupported;
  auto made = std::make_shared<Physical>();
  TRY(open(device, made->vulkan));
  const auto status = vk::importPhysicalMemory(*made->vulkan, descriptor, made->memory);
  if (status != vk::Status::Ok) return status == vk::Status::Failed ? Error::InvalidValue : errorFrom(status);
  made->device = device.ordinal();
  std::lock_guard lock(mutex_);
  made->handle = handle = nextHandle_++;
  handles_.emplace(handle, std::move(made));
  return Error::Success;
}

Error VirtualMemory::release(uint64_t handle) {
  std::lock_guard lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return Error::InvalidValue;
  if (--found->second->references == 0) handles_.erase(found);
  return Error::Success;
}

Error VirtualMemory::map(uint64_t address, uint64_t size, uint64_t offset, uint64_t handle) {
  std::lock_guard lock(mutex_);
  Reservation* const reservation = find(address, size);
  const auto memory = handles_.find(handle);
  if (!reservation || memory == handles_.end()) return Error::InvalidValue;
  const Physical& physical = *memory->second;
  if (!isMultiple(address) || !isMultiple(size) || !isMultiple(offset)) return Error::InvalidValue;
  if (offset > physical.memory.size || size > physical.memory.size - offset) return Error::InvalidValue;
  const auto next = reservation->mappings.lower_bound(address);
  if (next != reservation->mappings.end() && next->first < address + size) return Error::InvalidValue;
  if (next != reservation->mappings.begin()) {
    const auto& [first, mapping] = *std::prev(next);
    if (first + mapping.size > address) return Error::InvalidValue;
  }
  if (physical.vulkan != reservation->vulkan) {
    util::log().warn("memory of one device cannot be mapped at addresses that were reserved for another");
    return Error::NotSupported;
  }
  const auto status = vk::bindRange(*reservation->vulkan, reservation->range, address - reservation->range.address,
                                    size, &physical.memory, offset);
  if (status != vk::Status::Ok) return errorFrom(status);
  reservation->mappings.emplace(address, Mapping{size, memory->second});
  return Error::Success;
}

Error VirtualMemory::unmap(uint64_t address, uint64_t size) {
  std::lock_guard lock(mutex_);
  Reservation* const reservation = find(address, size);
  if (!reservation) return Error::InvalidValue;
  auto& mappings = reservation->mappings;
  const auto first = mappings.lower_bound(address), last = mappings.lower_bound(address + size);
  // Mappings go as a whole.
  if (first != mappings.begin() && std::prev(first)->first + std::prev(first)->second.size > address)
    return Error::InvalidValue;
  if (first != last && std::prev(last)->first + std::prev(last)->second.size > address + size)
    return Error::InvalidValue;
  if (first == last) return Error::Success;
  for (const auto& queue : reservation->vulkan->queues()) TRY(errorFrom(queue->waitIdle(vk::WaitMode::Auto)));
  for (auto mapping = first; mapping != last; ++mapping) {
    const auto status = vk::bindRange(*reservation->vulkan, reservation->range,
                                      mapping->first - reservation->range.address, mapping->second.size, nullptr, 0);
    if (status != vk::Status::Ok) return errorFrom(status);
  }
  mappings.erase(first, last);
  publish(*reservation);
  return Error::Success;
}

Error VirtualMemory::setAccess(uint64_t address, uint64_t size, bool isAccessible) {
  std::lock_guard lock(mutex_);
  Reservation* const reservation = find(address, size);
  if (!reservation) return Error::InvalidValue;
  // All of the range must be mapped, and mappings have one kind of access.
  uint64_t at = address;
  for (auto mapping = reservation->mappings.find(address);
       mapping != reservation->mappings.end() && mapping->first == at && at < address + size; ++mapping)
    at += mapping->second.size;
  if (at != address + size) return Error::InvalidValue;
  for (auto mapping = reservation->mappings.find(address);
       mapping != reservation->mappings.end() && mapping->first < at; ++mapping)
    mapping->second.isAccessible = isAccessible;
  publish(*reservation);
  return Error::Success;
}

// Neighbouring mappings are one piece of memory to copies and fills.
void VirtualMemory::publish(Reservation& reservation) {
  std::map<uint64_t, uint64_t> runs;
  for (const auto& [address, mapping] : reservation.mappings) {
    if (!mapping.isAccessible) continue;
    if (!runs.empty() && runs.rbegin()->first + runs.rbegin()->second == address) runs.rbegin()->second += mapping.size;
    else runs.emplace(address, mapping.size);
  }
  MemoryMap& memory = reservation.device->memory();
  auto& allocations = reservation.allocations;
  for (auto held = allocations.begin(); held != allocations.end();) {
    const auto run = runs.find(held->first);
    if (run != runs.end() && run->second == held->second->size) {
      runs.erase(run);
      ++held;
      continue;
    }
    memory.remove(*held->second);
    held = allocations.erase(held);
  }
  for (const auto& [address, size] : runs) {
    auto allocation = std::make_shared<Allocation>();
    allocation->kind = MemoryKind::Mapped;
    allocation->deviceAddress = allocation->memory.address = address;
    allocation->size = size;
    allocation->context = reservation.device->activePrimary();
    allocation->device = reservation.device->ordinal();
    memory.add(allocation);
    allocations.emplace(address, std::move(allocation));
  }
}

Error VirtualMemory::access(uint64_t address, bool& isAccessible) const {
  std::lock_guard lock(mutex_);
  auto above = reservations_.upper_bound(address);
  if (above == reservations_.begin()) return Error::NotFound;
  const auto& mappings = std::prev(above)->second.mappings;
  const auto next = mappings.upper_bound(address);
  if (next == mappings.begin() || address - std::prev(next)->first >= std::prev(next)->second.size)
    return Error::NotFound;
  isAccessible = std::prev(next)->second.isAccessible;
  return Error::Success;
}

Error VirtualMemory::retain(uint64_t address, uint64_t& handle) {
  std::lock_guard lock(mutex_);
  Reservation* const reservation = find(address, 1);
  if (!reservation) return Error::InvalidValue;
  const auto next = reservation->mappings.upper_bound(address);
  if (next == reservation->mappings.begin()) return Error::InvalidValue;
  const auto& [first, mapping] = *std::prev(next);
  if (address - first >= mapping.size) return Error::InvalidValue;
  handle = mapping.memory->handle;
  // The program may have released it already.
  if (handles_.emplace(handle, mapping.memory).second) mapping.memory->references = 0;
  ++mapping.memory->references;
  return Error::Success;
}

Error VirtualMemory::propertiesOf(uint64_t handle, int& ordinal, bool& isShared) const {
  std::lock_guard lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return Error::InvalidValue;
  ordinal = found->second->device;
  isShared = found->second->isShared;
  return Error::Success;
}

}  // namespace mulciber::core
