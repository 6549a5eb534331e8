// The chunks of device memory that the allocator cuts its pieces from. For the allocator's own sources alone.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/vk/device.h"
#include "runtime/vk/free_ranges.h"
#include "runtime/vk/image.h"
#include "runtime/vk/memory.h"

namespace mulciber::vk {

// Images over a chunk's memory: planeOver().
struct Planes {
  struct One {
    uint64_t offset, rowBytes;
    std::shared_ptr<Image> image;
  };
  std::mutex mutex;
  std::vector<One> all;
};

// One VkDeviceMemory, with one buffer over all of it. For images the buffer has no memory: see tryChunk().
struct Chunk {
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkBuffer buffer = VK_NULL_HANDLE;
  uint64_t size = 0, address = 0;
  void* host = nullptr;
  void* window = nullptr;  // see Allocator::window()
  bool mayHaveWindow = false;
  void* reserved = nullptr;  // address space kept free of everything else
  uint32_t heap = 0, type = 0;
  std::shared_ptr<const void> reservation;  // of what it takes of the heap
  MemoryUse use = MemoryUse::Device;
  bool isImported = false, hasEqualAddresses = false;
  std::shared_ptr<const void> owner;  // of a buffer that is not ours
  uint64_t emptySince = 0;            // the allocator's count of frees when it became empty

  std::unique_ptr<Planes> planes = std::make_unique<Planes>();

  FreeRanges free;
  bool isEmpty() const { return free.isAll(size); }
  // By nobody any more, so that it may go.
  bool isUnseen() const {
    std::lock_guard lock(planes->mutex);
    return std::ranges::all_of(planes->all, [](const Planes::One& plane) { return plane.image.use_count() == 1; });
  }
};

constexpr uint64_t roundUp(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

// Memory that the host can see takes the driver longer to allocate when it is large (H200: 7 % at 4 GiB, up to twice
// the 7 s of 129 GB), and little of it is copied in small pieces.
inline constexpr uint64_t largestWindow = uint64_t{4} << 30;

// Of one allocation: more than any device has.
inline constexpr uint64_t mostBytes = uint64_t{1} << 48;
inline constexpr uint32_t anyType = ~0u;

inline constexpr uint64_t chunkGranularity = Allocator::largeAlignment;
constexpr uint64_t chunkBytes(MemoryUse use) { return use == MemoryUse::Device ? 128u << 20 : 32u << 20; }
// Allocations of that size get a chunk of their own.
constexpr bool isLarge(uint64_t bytes, MemoryUse use) { return bytes > chunkBytes(use) / 2; }
// Of a kept chunk beyond what is asked for, at most: that much stays free where it is of little use.
constexpr uint64_t slackFor(uint64_t bytes) { return std::max(2 * chunkGranularity, bytes / 16); }

// All that is behind an allocator; whoever calls holds the mutex, but for allocate().
struct Allocator::State {
  explicit State(Device& owner) : device(owner) {}

  Device& device;
  std::mutex mutex;
  std::array<std::atomic<uint64_t>, VK_MAX_MEMORY_HEAPS> heapUsed{};  // atomic: reservations end without the lock
  std::vector<std::unique_ptr<Chunk>> chunks;
  uint64_t allocated = 0, frees = 0;
  bool chunksAreAligned = true;  // until the driver has given an address that is no multiple of chunkGranularity

  // Whether all memory of the type's heap can be seen through the bus, and not just a part that is a heap of its own.
  bool isWindow(uint32_t type) const;

  // The memory types for a use, best first.
  std::vector<uint32_t> typesFor(MemoryUse use, uint32_t allowed, uint64_t size) const;

  Status createBuffer(Chunk& chunk, const void* next);

  // Memory of one type behind the chunk's buffer, and its address; for images memory alone.
  Status bind(Chunk& chunk, uint32_t type, uint64_t bytes, const void* next);

  Status map(Chunk& chunk);

  // Maps at the chunk's own device address. False when the process has something there, or the driver will not.
  bool mapAtOwnAddress(Chunk& chunk, uint64_t bytes);

  void destroy(Chunk& chunk);

  // Allocator::reserve().
  std::shared_ptr<const void> reserve(uint32_t type, uint64_t bytes);

  Status tryChunk(Chunk& chunk, MemoryUse use, uint64_t size, uint32_t allowed);

  // A chunk whose addresses clash with the process's is put aside until one that does not is found, so that the driver
  // gives another address.
  Status newChunk(MemoryUse use, uint64_t size, uint32_t allowed, Chunk*& out);

  // A chunk of at least `least` bytes with room for `bytes` at their alignment. CPU drivers give addresses of any page,
  // so that the piece may have to begin later.
  Status newChunkFor(MemoryUse use, uint64_t bytes, uint64_t least, uint32_t allowed, Chunk*& out);

  void drop(Chunk* chunk);

  // Chunks kept for later that hold nothing: given back when memory runs out.
  bool dropEmpty();

  // A large chunk kept empty, of about that size.
  Chunk* keptChunk(MemoryUse use, uint64_t bytes, uint32_t allowed) const;

  static bool isKept(const Chunk& chunk);

  // Takes a piece of a chunk there is; null when none has room.
  Chunk* take(MemoryUse use, uint64_t bytes, uint64_t alignedTo, uint32_t allowed, uint64_t& offset);

  // In memory of one of the allowed types.
  Status allocate(MemoryUse use, uint64_t size, uint64_t alignedTo, uint32_t allowed, Memory& out);

  // How much a heap's large chunks may hold while they are empty. The driver takes milliseconds to make one (5 ms for
  // 256 MiB), so a program that allocates and frees in turn should get its old one.
  uint64_t mostKept(uint32_t heap, MemoryUse use) const;

  // After a chunk has become empty: those that were so for longest go while there is too much.
  void trimKept(const Chunk& emptied);
};

}  // namespace mulciber::vk
