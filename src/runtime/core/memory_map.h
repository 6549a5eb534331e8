// Every address the program may hold, on either side, and the allocation it belongs to.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <vector>

#include "runtime/vk/memory.h"

namespace mulciber::core {

class Context;
class AdviceMap;
class GraphMemory;
class MemoryPool;

enum class MemoryKind : uint8_t { Device, Pinned, Managed, Registered, Module, Mapped };

// Pinned and managed memory has one number on both sides where the device can do that: hostAddress == deviceAddress.
struct Allocation {
  struct Part {
    uint64_t offset, size;
  };

  MemoryKind kind;
  uint64_t deviceAddress = 0;
  uint64_t hostAddress = 0;  // 0 when the host cannot reach it
  size_t size = 0;           // as asked for
  uint32_t flags = 0;        // as given to cudaHostAlloc and its kin
  uint64_t id = 0;           // unique in the process: CU_POINTER_ATTRIBUTE_BUFFER_ID
  std::weak_ptr<Context> context;
  int device = 0;
  vk::Memory memory;
  std::vector<Part> managed;                // all of managed memory, and the managed variables of a module, in order
  std::shared_ptr<AdviceMap> advice;        // where any of it is managed
  std::atomic<bool> isSynchronous{false};   // CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, as the program set it
  std::atomic<bool> isSynchronySet{false};  // until then managed memory is told to be synchronous
  std::shared_ptr<MemoryPool> pool;         // that it came from; null: from the device's own memory
  std::weak_ptr<GraphMemory> graphMemory;   // that a graph allocates there; of several, the last made

  bool isHostVisible() const { return hostAddress != 0; }
  bool isHost() const { return kind == MemoryKind::Pinned || kind == MemoryKind::Registered; }
  // The one that has the address inside; null when that is not managed.
  const Part* managedAt(uint64_t address) const;
  bool isManaged(uint64_t address) const { return managedAt(address) != nullptr; }
  // Synchronous copies to and from there, and fills, have been done when they return.
  bool isAwaited(uint64_t address) const { return isSynchronous || isManaged(address); }
  // Of an address on either side that lies inside.
  uint64_t offsetOf(uint64_t address) const {
    return address - deviceAddress < size ? address - deviceAddress : address - hostAddress;
  }
};
using AllocationRef = std::shared_ptr<Allocation>;

class MemoryMap {
 public:
  void add(const AllocationRef& allocation);
  void remove(const Allocation& allocation);

  // The allocation whose host or device range holds `address`; null when there is none.
  AllocationRef find(uint64_t address) const;
  // The same, but only when the `bytes` bytes from there lie inside it.
  AllocationRef find(uint64_t address, size_t bytes) const;
  // One that has any of these bytes; null when there is none.
  AllocationRef overlapping(uint64_t address, size_t bytes) const;

 private:
  mutable std::shared_mutex mutex_;
  std::map<uint64_t, AllocationRef> byAddress_;  // first addresses, host and device ones together
};

}  // namespace mulciber::core
