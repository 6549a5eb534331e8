// Stream-ordered allocation (cudaMallocAsync): memory kept in segments, and handed out again as soon as the stream that
// asks for it is known to come after the one that freed it.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "runtime/core/error.h"
#include "runtime/core/memory_map.h"

namespace mulciber::vk {
class Device;
}

namespace mulciber::core {

class Context;
class Device;
class Marker;
class Stream;

enum class PoolAttribute : int {  // as CUmemPool_attribute numbers them
  ReuseFollowEventDependencies = 1,
  ReuseAllowOpportunistic = 2,
  ReuseAllowInternalDependencies = 3,
  ReleaseThreshold = 4,
  ReservedCurrent = 5,
  ReservedHigh = 6,
  UsedCurrent = 7,
  UsedHigh = 8,
};

enum class PoolSharing : uint8_t { None, Exported, Imported };

// A place in a pool's memory, as one process tells it another (CUmemPoolPtrExportData).
struct SharedPointer {
  uint64_t magic, segmentBytes, offset, bytes;
  std::array<uint8_t, 16> device;
};

class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  // Of Device, Managed or Pinned memory. The largest size is a multiple of the granularity. Of `descriptor`, which
  // becomes the pool's, where it is imported.
  MemoryPool(Device& device, MemoryKind kind, uint64_t maxBytes, PoolSharing sharing = PoolSharing::None,
             int descriptor = -1);
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  Device& device() const { return device_; }
  MemoryKind kind() const { return kind_; }

  // Memory that work given to the stream from now on may use; without a stream, any work. `out` may be a little larger.
  Error allocate(Context& context, Stream* stream, uint64_t bytes, vk::Memory& out);
  // Memory that work behind the marker may use; null: anyone, now.
  void giveBack(const vk::Memory& memory, uint64_t bytes, uint64_t stream, std::shared_ptr<Marker> marker);

  // Between processes, by file descriptors (shared_pool.cpp). An imported pool has the memory of pointers alone.
  static bool canBeShared(const Device& device);
  PoolSharing sharing() const { return sharing_; }
  Error exportDescriptor(int& out);  // the caller's own
  // The caller keeps the descriptor.
  static Error importDescriptor(Device& device, int descriptor, std::shared_ptr<MemoryPool>& out);
  static Error exportPointer(uint64_t address, SharedPointer& out);
  Error importPointer(Context& context, const SharedPointer& pointer, uint64_t& address) const;

  // Gives back segments that hold nothing, while more than that many bytes are reserved.
  void trim(uint64_t keepBytes);
  void trimToThreshold();
  // Of a destroyed pool: gives back what it can, and says whether nothing waits for a stream any more.
  bool isSettled();

  // InvalidValue for what CUDA does not let programs set. Values of the first three are 0 or 1.
  Error attribute(PoolAttribute attribute, uint64_t& value) const;
  Error setAttribute(PoolAttribute attribute, uint64_t value);

 private:
  struct Segment {
    std::shared_ptr<vk::Device> vulkan;
    vk::Memory memory;
    uint64_t used = 0;
  };
  // A free piece. It waits for the marker of one stream, or for nothing: pieces that differ in that stay apart.
  struct Piece {
    Segment* segment;
    uint64_t bytes;
    uint64_t stream = 0;
    std::shared_ptr<Marker> marker = {};
  };
  using Pieces = std::map<uint64_t, Piece>;  // by address

  Pieces::iterator addPiece(uint64_t address, Piece piece);
  Pieces::iterator removePiece(Pieces::iterator piece);
  void settle(size_t mostLooks);
  vk::Memory take(Pieces::iterator piece, uint64_t bytes);
  Error grow(const std::shared_ptr<vk::Device>& vulkan, uint64_t bytes);
  void addSegment(Segment segment, uint64_t bytes);
  Error makeShared(const std::shared_ptr<vk::Device>& vulkan);
  uint64_t sharedBytes() const;
  void trimLocked(uint64_t keepBytes);
  void freeSegments(uint64_t keepBytes);

  Device& device_;
  const MemoryKind kind_;
  const uint64_t maxBytes_;  // 0: as much as there is
  const PoolSharing sharing_;
  int descriptor_;  // of the memory, once it is there; -1 of what is not shared
  mutable std::mutex mutex_;
  std::list<Segment> segments_;
  Pieces pieces_;
  std::set<std::pair<uint64_t, uint64_t>> bySize_;  // (bytes, address)
  std::set<uint64_t> waiting_;                      // addresses of pieces with a marker
  uint64_t reserved_ = 0, reservedHigh_ = 0, used_ = 0, usedHigh_ = 0, threshold_ = 0;
  bool followEvents_ = true, opportunistic_ = true, internalDependencies_ = true;
};
using MemoryPoolRef = std::shared_ptr<MemoryPool>;

}  // namespace mulciber::core
