#include "runtime/core/memory_map.h"

#include <algorithm>
#include <mutex>

namespace mulciber::core {

const Allocation::Part* Allocation::managedAt(uint64_t address) const {
  const uint64_t offset = offsetOf(address);
  const auto above = std::ranges::upper_bound(managed, offset, {}, &Part::offset);
  if (above == managed.begin()) return nullptr;
  const Part& part = *std::prev(above);
  return offset - part.offset < part.size ? &part : nullptr;
}

void MemoryMap::add(const AllocationRef& allocation) {
  std::unique_lock lock(mutex_);
  byAddress_[allocation->deviceAddress] = allocation;
  if (allocation->hostAddress != 0) byAddress_[allocation->hostAddress] = allocation;
}

void MemoryMap::remove(const Allocation& allocation) {
  std::unique_lock lock(mutex_);
  for (const uint64_t address : {allocation.deviceAddress, allocation.hostAddress})
    if (const auto found = byAddress_.find(address); found != byAddress_.end() && found->second.get() == &allocation)
      byAddress_.erase(found);
}

AllocationRef MemoryMap::find(uint64_t address) const {
  std::shared_lock lock(mutex_);
  auto above = byAddress_.upper_bound(address);
  if (above == byAddress_.begin()) return nullptr;
  const auto& [first, allocation] = *std::prev(above);
  return address - first < allocation->size ? allocation : nullptr;
}

AllocationRef MemoryMap::find(uint64_t address, size_t bytes) const {
  AllocationRef allocation = find(address);
  if (!allocation) return nullptr;
  const uint64_t inside = allocation->offsetOf(address);
  return bytes <= allocation->size - inside ? allocation : nullptr;
}

AllocationRef MemoryMap::overlapping(uint64_t address, size_t bytes) const {
  if (AllocationRef around = find(address)) return around;
  std::shared_lock lock(mutex_);
  const auto next = byAddress_.lower_bound(address);
  return next != byAddress_.end() && next->first - address < bytes ? next->second : nullptr;
}

}  // namespace mulciber::core
