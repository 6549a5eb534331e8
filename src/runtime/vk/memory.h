// Device memory: large chunks with a device address each, sub-allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/vk/status.h"
#include "runtime/vk/volk.h"

namespace mulciber::vk {

class Device;
struct Chunk;

enum class MemoryUse : uint8_t {
  Device,   // fastest for kernels; the host may not reach it
  Host,     // the host reads and writes it, cached and coherent; at its own device address where the device can
  Staging,  // the same, but of what the device writes the host sees only what Commands::makeVisibleToHost() says
  Upload,   // the host writes and never reads it: the device's own where the host reaches it, else as Staging
  Image,    // of images: it has no address, and only they reach it
};

// A piece of a chunk. Plain data: whoever allocated it frees it through the allocator.
struct Memory {
  Chunk* chunk = nullptr;
  uint64_t offset = 0, size = 0;
  uint64_t address = 0;  // for the device; 0 when it has none
  void* host = nullptr;  // where the host reaches it; null when it cannot
};

class Allocator {
 public:
  // Of every allocation, and of those of 1 MiB and more: what CUDA's allocator gives.
  static constexpr uint64_t alignment = 512, largeAlignment = 2u << 20;
  static constexpr uint64_t alignmentOf(uint64_t bytes) { return bytes < 1u << 20 ? alignment : largeAlignment; }

  explicit Allocator(Device& device);
  ~Allocator();

  Status allocate(MemoryUse use, uint64_t size, Memory& out);
  Status allocateImage(const VkMemoryRequirements& needed, Memory& out);
  // The allocator keeps large pieces, within bounds, for the next request of about that size; they count as free.
  void free(const Memory& memory);
  // Frees the memory when the last reference goes.
  std::shared_ptr<const void> owner(const Memory& memory);
  // Gives kept memory back to the driver; allocate() does so itself before it fails. False when none was kept.
  bool trim();

  // The address at which the host reaches the memory, a GPU's own through the bus: the host copies small pieces
  // faster than the device. Null where the host does not reach it.
  void* window(const Memory& memory);

  // Makes memory of the host's own, whole pages, known to the device.
  Status importHost(void* pointer, uint64_t size, Memory& out);
  bool canImportHost() const;

  // A piece of a buffer that somebody else made, with an address. free() forgets it and lets `owner`, not null, go.
  Status wrap(VkBuffer buffer, uint64_t offset, uint64_t size, std::shared_ptr<const void> owner, Memory& out);

  // Whether MemoryUse::Host gives one number on both sides.
  bool hasEqualAddresses() const;

  static VkBuffer buffer(const Memory& memory);  // the chunk's; `offset` is the place in it
  static VkDeviceMemory deviceMemory(const Memory& memory);

  // Counts memory of the type that is allocated past the allocator, as long as the reservation is kept. Null when the
  // type's heap has not so much left.
  std::shared_ptr<const void> reserve(uint32_t type, uint64_t bytes);
  void usage(uint64_t& freeBytes, uint64_t& totalBytes) const;
  uint64_t allocatedBytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mulciber::vk
