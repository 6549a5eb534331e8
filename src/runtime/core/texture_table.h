// The table of texture and surface objects that kernels read (texture_abi.h). It grows by a larger copy; the old one
// stays for the work that was given its address. A record is used again only when all work given before its object
// went has been done; so is what the object holds, which goes with a wait for the device, or when memory runs out.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "mulciber/texture_abi.h"
#include "runtime/core/error.h"
#include "runtime/core/marker.h"
#include "runtime/vk/memory.h"
#include "runtime/vk/queue.h"

namespace mulciber::core {

class Context;

// What a record stands for; it goes when no work can use it any more.
class TableObject {
 public:
  TableObject() = default;
  virtual ~TableObject() = default;
  TableObject(const TableObject&) = delete;
  TableObject& operator=(const TableObject&) = delete;
};
using TableObjectRef = std::shared_ptr<const TableObject>;

class TextureTable {
 public:
  explicit TextureTable(Context& context) : context_(context) {}
  ~TextureTable();
  TextureTable(const TextureTable&) = delete;
  TextureTable& operator=(const TextureTable&) = delete;

  Error add(abi::TextureRecord record, TableObjectRef object, uint64_t& handle);
  // Null for what is no handle.
  TableObjectRef find(uint64_t handle) const;
  Error remove(uint64_t handle);  // InvalidValue for what is no handle
  void clear();                   // nothing uses it any more
  // Lets destroyed objects go that no work can read any more; false when none has gone.
  bool retire();
  // The value for LaunchState::textures.
  Error address(uint64_t& out);
  // Whether there is a texture that no sampler reads as CUDA does (texture_abi.h).
  bool needsFilter() const { return filtered_.load(std::memory_order_acquire) != 0; }

 private:
  struct Slot {
    abi::TextureRecord record{};
    TableObjectRef object;  // null for free ones
    uint32_t uses = 0;      // the generation of the last handle
    bool isLeaving = false;
  };
  // Records whose objects went before these points.
  struct Leaving {
    std::vector<uint32_t> numbers;
    std::vector<vk::Point> points;
    std::vector<MarkerRef> markers;
  };

  Error grow();
  // Makes their places free as well. The objects are to end outside the lock, which the caller holds.
  void retire(std::vector<TableObjectRef>& gone);
  Error makeRoom(std::vector<TableObjectRef>& gone);
  bool hasPassed(const Leaving& leaving) const;
  const Slot* slotOf(uint64_t handle) const;
  void write(uint32_t number);

  Context& context_;
  mutable std::mutex mutex_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_, removed_;
  std::deque<Leaving> leaving_;
  vk::Memory memory_;
  std::vector<vk::Memory> old_;
  std::atomic<bool> hasDestroyed_{false};  // some are removed or leaving
  std::atomic<uint64_t> address_{0};
  std::atomic<uint32_t> filtered_{0};  // records of textures that samplers do not serve
};

}  // namespace mulciber::core
