#include "runtime/vk/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/vk/address_space.h"
#include "runtime/vk/conditions.h"
#include "runtime/vk/device.h"
#include "runtime/vk/free_ranges.h"
#include "util/log.h"

namespace mulciber::vk {
namespace {

constexpr uint64_t roundUp(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

}  // namespace

// One VkDeviceMemory, with one buffer over all of it unless it is for images.
struct Chunk {
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkBuffer buffer = VK_NULL_HANDLE;
  uint64_t size = 0, address = 0;
  void* host = nullptr;
  void* window = nullptr;  // see Allocator::window()
  bool mayHaveWindow = false;
  void* reserved = nullptr;  // address space kept free of everything else
  uint32_t heap = 0, type = 0;
  MemoryUse use = MemoryUse::Device;
  bool isImported = false, hasEqualAddresses = false;
  std::shared_ptr<const void> owner;  // of a buffer that is not ours
  uint64_t emptySince = 0;            // the allocator's count of frees when it became empty

  FreeRanges free;
  bool isEmpty() const { return free.isAll(size); }
};

namespace {

// Memory that the host can see takes the driver longer to allocate when it is large (H200: 7 % at 4 GiB, up to twice
// the 7 s of 129 GB), and little of it is copied in small pieces.
constexpr uint64_t largestWindow = uint64_t{4} << 30;

// Of one allocation: more than any device has.
constexpr uint64_t mostBytes = uint64_t{1} << 48;
constexpr uint32_t anyType = ~0u;

constexpr uint64_t chunkGranularity = Allocator::largeAlignment;
constexpr uint64_t chunkBytes(MemoryUse use) { return use == MemoryUse::Device ? 128u << 20 : 32u << 20; }
// Allocations of that size get a chunk of their own.
constexpr bool isLarge(uint64_t bytes, MemoryUse use) { return bytes > chunkBytes(use) / 2; }
// Of a kept chunk beyond what is asked for, at most: that much stays free where it is of little use.
constexpr uint64_t slackFor(uint64_t bytes) { return std::max(2 * chunkGranularity, bytes / 16); }

}  // namespace

struct Allocator::State {
  explicit State(Device& owner) : device(owner) {}

  Device& device;
  std::mutex mutex;
  std::vector<std::unique_ptr<Chunk>> chunks;
  std::array<uint64_t, VK_MAX_MEMORY_HEAPS> heapUsed{};
  uint64_t allocated = 0, frees = 0;
  bool chunksAreAligned = true;  // until the driver has given an address that is no multiple of chunkGranularity

  // Whether all memory of the type's heap can be seen through the bus, and not just a part that is a heap of its own.
  bool isWindow(uint32_t type) const {
    const VkPhysicalDeviceMemoryProperties& memory = device.physical().memory;
    return std::any_of(memory.memoryTypes, memory.memoryTypes + memory.memoryTypeCount, [&](const VkMemoryType& other) {
      return other.heapIndex == memory.memoryTypes[type].heapIndex &&
             other.propertyFlags == VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    });
  }

  // The memory types for a use, best first.
  std::vector<uint32_t> typesFor(MemoryUse use, uint32_t allowed, uint64_t size) const {
    constexpr VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    constexpr VkMemoryPropertyFlags visible =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    constexpr VkMemoryPropertyFlags cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    const VkPhysicalDeviceMemoryProperties& memory = device.physical().memory;
    std::vector<std::pair<int, uint32_t>> ranked;
    for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
      const VkMemoryPropertyFlags flags = memory.memoryTypes[i].propertyFlags;
      if ((allowed >> i & 1) == 0 || (flags & VK_MEMORY_PROPERTY_PROTECTED_BIT) != 0) continue;
      if (use == MemoryUse::Device || use == MemoryUse::Image) {
        const bool isVisible = (flags & visible) == visible;
        const bool hasWindow = use == MemoryUse::Device && isVisible && size <= largestWindow && isWindow(i);
        if ((flags & local) != 0) ranked.emplace_back(hasWindow ? -1 : isVisible, i);
      } else if ((flags & visible) == visible) {
        ranked.emplace_back(((flags & cached) != 0 ? 0 : 2) + ((flags & local) != 0 ? 1 : 0), i);
      }
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<uint32_t> types;
    for (const auto& [rank, type] : ranked) types.push_back(type);
    return types;
  }

  Status createBuffer(Chunk& chunk, const void* next) {
    VkBufferCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.pNext = next;
    info.size = chunk.size;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
                 VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    if (canLeaveOutWork(device)) info.usage |= VK_BUFFER_USAGE_CONDITIONAL_RENDERING_BIT_EXT;
    if (const AdoptedDevice* engine = device.adopted()) {
      info.usage |= engine->bufferUsage;
      if (engine->families.size() > 1) {
        info.sharingMode = VK_SHARING_MODE_CONCURRENT;
        info.queueFamilyIndexCount = static_cast<uint32_t>(engine->families.size());
        info.pQueueFamilyIndices = engine->families.data();
      }
    }
    return device.status(device.api().vkCreateBuffer(device.handle(), &info, device.callbacks(), &chunk.buffer),
                         "creating a buffer");
  }

  // Memory of one type behind the chunk's buffer, and its address; memory alone where there is no buffer.
  Status bind(Chunk& chunk, uint32_t type, uint64_t bytes, const void* next) {
    const VolkDeviceTable& api = device.api();
    VkMemoryAllocateFlagsInfo flags{};
    flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
    flags.pNext = next;
    if (chunk.buffer != VK_NULL_HANDLE) flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    VkMemoryAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    info.pNext = &flags;
    info.allocationSize = bytes;
    info.memoryTypeIndex = type;
    const VkResult result = api.vkAllocateMemory(device.handle(), &info, device.callbacks(), &chunk.memory);
    if (result != VK_SUCCESS) chunk.memory = VK_NULL_HANDLE;
    if (Status status = device.status(result, "allocating memory");
        status != Status::Ok || chunk.buffer == VK_NULL_HANDLE)
      return status;
    if (Status status =
            device.status(api.vkBindBufferMemory(device.handle(), chunk.buffer, chunk.memory, 0), "binding memory");
        status != Status::Ok)
      return status;
    VkBufferDeviceAddressInfo address{};
    address.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
    address.buffer = chunk.buffer;
    chunk.address = api.vkGetBufferDeviceAddress(device.handle(), &address);
    return Status::Ok;
  }

  Status map(Chunk& chunk) {
    return device.status(device.api().vkMapMemory(device.handle(), chunk.memory, 0, VK_WHOLE_SIZE, 0, &chunk.host),
                         "mapping memory");
  }

  // Maps at the chunk's own device address. False when the process has something there, or the driver will not.
  bool mapAtOwnAddress(Chunk& chunk, uint64_t bytes) {
    const uint64_t granularity = device.physical().mapPlacedProperties.minPlacedMemoryMapAlignment;
    if (granularity == 0 || chunk.address % granularity != 0 || bytes % granularity != 0) return false;
    void* const reserved = reserveAddresses(chunk.address, bytes);
    if (!reserved) return false;
    VkMemoryMapPlacedInfoEXT placed{};
    placed.sType = VK_STRUCTURE_TYPE_MEMORY_MAP_PLACED_INFO_EXT;
    placed.pPlacedAddress = reserved;
    VkMemoryMapInfoKHR info{};
    info.sType = VK_STRUCTURE_TYPE_MEMORY_MAP_INFO_KHR;
    info.pNext = &placed;
    info.flags = VK_MEMORY_MAP_PLACED_BIT_EXT;
    info.memory = chunk.memory;
    info.size = VK_WHOLE_SIZE;
    void* host = nullptr;
    if (device.mapMemory2(device.handle(), &info, &host) != VK_SUCCESS) {
      munmap(reserved, bytes);
      return false;
    }
    chunk.host = host;
    chunk.hasEqualAddresses = true;
    return true;
  }

  void destroy(Chunk& chunk) {
    if (chunk.owner) {
      chunk = {};
      return;
    }
    const VolkDeviceTable& api = device.api();
    if (chunk.host || chunk.window) api.vkUnmapMemory(device.handle(), chunk.memory);
    if (chunk.buffer != VK_NULL_HANDLE) api.vkDestroyBuffer(device.handle(), chunk.buffer, device.callbacks());
    if (chunk.memory != VK_NULL_HANDLE) {
      api.vkFreeMemory(device.handle(), chunk.memory, device.callbacks());
      heapUsed[chunk.heap] -= std::min(heapUsed[chunk.heap], chunk.size);
    }
    if (chunk.reserved) munmap(chunk.reserved, chunk.size);
    chunk = {};
  }

  Status tryChunk(Chunk& chunk, MemoryUse use, uint64_t size, uint32_t allowed) {
    const VolkDeviceTable& api = device.api();
    chunk.size = size;
    chunk.use = use;
    if (size > device.physical().properties13.maxBufferSize && device.physical().isCpu()) return Status::OutOfMemory;
    VkMemoryRequirements requirements{size, 1, allowed};
    if (use != MemoryUse::Image) {
      if (Status status = createBuffer(chunk, nullptr); status != Status::Ok) return status;
      api.vkGetBufferMemoryRequirements(device.handle(), chunk.buffer, &requirements);
    }
    const uint64_t bytes = roundUp(requirements.size, chunkGranularity);
    // Memory that the driver knows to be one buffer's is reached in larger pages: on an H200 random reads of 16 to 48
    // MiB take 110 to 130 us instead of 250 to 300, as natively (docs/performance.md).
    VkMemoryDedicatedAllocateInfo dedicated{};
    dedicated.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO;
    dedicated.buffer = chunk.buffer;
    const bool isDedicated = use == MemoryUse::Device && bytes == requirements.size;
    Status status = Status::OutOfMemory;
    for (const uint32_t type : typesFor(use, requirements.memoryTypeBits, size)) {
      const uint32_t heap = device.physical().memory.memoryTypes[type].heapIndex;
      // Drivers have been seen to overcommit rather than refuse.
      if (heapUsed[heap] + bytes > device.physical().memory.memoryHeaps[heap].size) continue;
      status = bind(chunk, type, bytes, isDedicated ? &dedicated : nullptr);
      if (status == Status::OutOfMemory) continue;
      if (status != Status::Ok) break;
      chunk.heap = heap;
      chunk.type = type;
      heapUsed[heap] += chunk.size;
      if (use == MemoryUse::Image) return Status::Ok;
      const bool visible =
          (device.physical().memory.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0;
      if (use == MemoryUse::Host && device.mapMemory2) {
        if (!mapAtOwnAddress(chunk, bytes)) return Status::NotReady;
        return Status::Ok;
      }
      if (use == MemoryUse::Host || (visible && device.physical().isCpu())) {
        if (status = map(chunk); status != Status::Ok) break;
        chunk.hasEqualAddresses = reinterpret_cast<uint64_t>(chunk.host) == chunk.address;
      } else if (chunk.reserved = reserveAddresses(chunk.address, chunk.size); !chunk.reserved) {
        // A host pointer could have the same number as a device pointer.
        return Status::NotReady;
      }
      chunk.mayHaveWindow = use == MemoryUse::Device && visible && !chunk.host && size <= largestWindow;
      return Status::Ok;
    }
    return status;
  }

  // A chunk whose addresses clash with the process's is put aside until one that does not is found, so that the driver
  // gives another address.
  Status newChunk(MemoryUse use, uint64_t size, uint32_t allowed, Chunk*& out) {
    constexpr int attempts = 8;
    std::vector<std::unique_ptr<Chunk>> aside;
    Status status = Status::OutOfMemory;
    for (int attempt = 0; attempt < attempts; ++attempt) {
      auto chunk = std::make_unique<Chunk>();
      status = tryChunk(*chunk, use, size, allowed);
      if (status == Status::NotReady && attempt + 1 == attempts) {
        util::log().info("device addresses clash with the program's: pointers will differ between host and device");
        if (use == MemoryUse::Host) status = map(*chunk);
        else status = Status::Ok;
      }
      if (status == Status::Ok) {
        chunk->free.give(0, chunk->size);
        out = chunk.get();
        chunks.push_back(std::move(chunk));
        break;
      }
      if (status != Status::NotReady) {
        destroy(*chunk);
        break;
      }
      aside.push_back(std::move(chunk));
    }
    for (const auto& chunk : aside) destroy(*chunk);
    return status;
  }

  // A chunk of at least `least` bytes with room for `bytes` at their alignment. CPU drivers give addresses of any page,
  // so that the piece may have to begin later.
  Status newChunkFor(MemoryUse use, uint64_t bytes, uint64_t least, uint32_t allowed, Chunk*& out) {
    const auto needed = [&] {
      return std::max(least, roundUp(bytes, chunkGranularity) + (chunksAreAligned ? 0 : chunkGranularity));
    };
    const Status status = newChunk(use, needed(), allowed, out);
    if (status != Status::Ok || out->address % chunkGranularity == 0) return status;
    chunksAreAligned = false;
    if (out->size >= needed()) return status;
    drop(out);
    return newChunk(use, needed(), allowed, out);
  }

  void drop(Chunk* chunk) {
    destroy(*chunk);
    chunks.erase(std::find_if(chunks.begin(), chunks.end(), [&](const auto& held) { return held.get() == chunk; }));
  }

  // Chunks kept for later that hold nothing: given back when memory runs out.
  bool dropEmpty() {
    std::vector<Chunk*> empty;
    for (const auto& chunk : chunks)
      if (!chunk->isImported && chunk->isEmpty()) empty.push_back(chunk.get());
    for (Chunk* chunk : empty) drop(chunk);
    return !empty.empty();
  }

  // A large chunk kept empty, of about that size.
  Chunk* keptChunk(MemoryUse use, uint64_t bytes, uint32_t allowed) const {
    Chunk* best = nullptr;
    for (const auto& chunk : chunks)
      if (isKept(*chunk) && chunk->use == use && (allowed >> chunk->type & 1) != 0 && chunk->size >= bytes &&
          chunk->size - bytes <= slackFor(bytes) && (!best || chunk->size < best->size))
        best = chunk.get();
    return best;
  }

  static bool isKept(const Chunk& chunk) {
    return !chunk.isImported && chunk.size != chunkBytes(chunk.use) && chunk.isEmpty();
  }

  // Takes a piece of a chunk there is; null when none has room.
  Chunk* take(MemoryUse use, uint64_t bytes, uint64_t alignment, uint32_t allowed, uint64_t& offset) {
    const auto takeFrom = [&](Chunk& chunk) { return chunk.free.take(bytes, alignment, chunk.address, offset); };
    if (Chunk* kept = isLarge(bytes, use) ? keptChunk(use, bytes, allowed) : nullptr; kept && takeFrom(*kept))
      return kept;
    // The newest chunks are the likeliest to have room. A small piece would spoil a kept one.
    for (auto held = chunks.rbegin(); held != chunks.rend(); ++held)
      if ((*held)->use == use && (allowed >> (*held)->type & 1) != 0 && !(*held)->isImported && !isKept(**held) &&
          takeFrom(**held))
        return held->get();
    return nullptr;
  }

  // In memory of one of the allowed types.
  Status allocate(MemoryUse use, uint64_t size, uint64_t alignment, uint32_t allowed, Memory& out) {
    std::lock_guard lock(mutex);
    uint64_t offset = 0;
    Chunk* chunk = take(use, size, alignment, allowed, offset);
    if (!chunk) {
      const bool large = isLarge(size, use);
      Status status = newChunkFor(use, size, large ? 0 : chunkBytes(use), allowed, chunk);
      if (status == Status::OutOfMemory && (dropEmpty() || !large)) status = newChunkFor(use, size, 0, allowed, chunk);
      if (status != Status::Ok) return status;
      chunk->free.take(size, alignment, chunk->address, offset);
    }
    allocated += size;
    out.chunk = chunk;
    out.offset = offset;
    out.size = size;
    out.address = chunk->address != 0 ? chunk->address + offset : 0;
    out.host = chunk->host ? static_cast<char*>(chunk->host) + offset : nullptr;
    return Status::Ok;
  }

  // How much a heap's large chunks may hold while they are empty. The driver takes milliseconds to make one (5 ms for
  // 256 MiB), so a program that allocates and frees in turn should get its old one.
  uint64_t mostKept(uint32_t heap, MemoryUse use) const {
    constexpr uint64_t mostOfHost = 1u << 30, mostOfCpu = 256u << 20;
    const uint64_t share = device.physical().memory.memoryHeaps[heap].size / 8;
    if (device.physical().isCpu()) return std::min(share, mostOfCpu);
    return use == MemoryUse::Host ? std::min(share, mostOfHost) : share;
  }

  // After a chunk has become empty: those that were so for longest go while there is too much.
  void trimKept(const Chunk& emptied) {
    while (true) {
      uint64_t kept = 0;
      Chunk* oldest = nullptr;
      for (const auto& chunk : chunks) {
        if (!isKept(*chunk) || chunk->heap != emptied.heap || chunk->use != emptied.use) continue;
        kept += chunk->size;
        if (!oldest || chunk->emptySince < oldest->emptySince) oldest = chunk.get();
      }
      if (!oldest || kept <= mostKept(emptied.heap, emptied.use)) return;
      const bool isLast = oldest == &emptied;
      drop(oldest);
      if (isLast) return;
    }
  }
};

Allocator::Allocator(Device& device) : state_(std::make_unique<State>(device)) {}

Allocator::~Allocator() {
  for (const auto& chunk : state_->chunks) state_->destroy(*chunk);
}

Status Allocator::allocate(MemoryUse use, uint64_t size, Memory& out) {
  State& state = *state_;
  if (use == MemoryUse::Host) state.device.hostWillRead();
  if (use == MemoryUse::Staging) use = MemoryUse::Host;
  if (size > mostBytes) return Status::OutOfMemory;
  const uint64_t bytes = roundUp(std::max<uint64_t>(size, 1), alignment);
  return state.allocate(use, bytes, alignmentOf(bytes), anyType, out);
}

Status Allocator::allocateImage(const VkMemoryRequirements& needed, Memory& out) {
  if (needed.size > mostBytes) return Status::OutOfMemory;
  return state_->allocate(MemoryUse::Image, roundUp(needed.size, alignment), std::max(needed.alignment, alignment),
                          needed.memoryTypeBits, out);
}

void Allocator::free(const Memory& memory) {
  if (!memory.chunk) return;
  State& state = *state_;
  std::lock_guard lock(state.mutex);
  Chunk& chunk = *memory.chunk;
  if (chunk.isImported) {
    state.drop(&chunk);
    return;
  }
  state.allocated -= memory.size;
  chunk.free.give(memory.offset, memory.size);
  if (!chunk.isEmpty()) return;
  chunk.emptySince = ++state.frees;
  if (chunk.size != chunkBytes(chunk.use) && isLarge(chunk.size, chunk.use)) {
    state.trimKept(chunk);
    return;
  }
  // One empty chunk of the ordinary size is kept, so that a program which allocates and frees in turn stays fast.
  const bool keep = chunk.size == chunkBytes(chunk.use) &&
                    std::none_of(state.chunks.begin(), state.chunks.end(), [&](const auto& other) {
                      return other.get() != &chunk && other->use == chunk.use && !other->isImported &&
                             other->size == chunk.size && other->isEmpty();
                    });
  if (!keep) state.drop(&chunk);
}

bool Allocator::trim() {
  std::lock_guard lock(state_->mutex);
  return state_->dropEmpty();
}

void* Allocator::window(const Memory& memory) {
  Chunk* const chunk = memory.chunk;
  if (!chunk) return nullptr;
  State& state = *state_;
  std::lock_guard lock(state.mutex);
  if (std::exchange(chunk->mayHaveWindow, false) &&
      state.device.api().vkMapMemory(state.device.handle(), chunk->memory, 0, VK_WHOLE_SIZE, 0, &chunk->window) !=
          VK_SUCCESS)
    chunk->window = nullptr;
  void* const base = chunk->window ? chunk->window : chunk->host;
  return base ? static_cast<char*>(base) + memory.offset : nullptr;
}

bool Allocator::canImportHost() const {
  return state_->device.physical().externalHost.minImportedHostPointerAlignment != 0;
}

Status Allocator::importHost(void* pointer, uint64_t size, Memory& out) {
  State& state = *state_;
  Device& device = state.device;
  const uint64_t granularity = device.physical().externalHost.minImportedHostPointerAlignment;
  if (granularity == 0) return Status::Unsupported;
  device.hostWillRead();
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const uint64_t first = address / granularity * granularity;
  constexpr auto handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
  auto chunk = std::make_unique<Chunk>();
  chunk->isImported = true;
  chunk->use = MemoryUse::Host;
  chunk->size = roundUp(address + size, granularity) - first;

  VkImportMemoryHostPointerInfoEXT import{};
  import.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT;
  import.handleType = handleType;
  import.pHostPointer = reinterpret_cast<void*>(first);  // NOLINT: addresses are numbers here
  VkMemoryHostPointerPropertiesEXT pointerProperties{};
  pointerProperties.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT;
  if (Status status = device.status(device.api().vkGetMemoryHostPointerPropertiesEXT(
                                        device.handle(), handleType, import.pHostPointer, &pointerProperties),
                                    "importing host memory");
      status != Status::Ok)
    return status;
  VkExternalMemoryBufferCreateInfo external{};
  external.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO;
  external.handleTypes = handleType;

  std::lock_guard lock(state.mutex);
  if (Status status = state.createBuffer(*chunk, &external); status != Status::Ok) return status;
  VkMemoryRequirements requirements{};
  device.api().vkGetBufferMemoryRequirements(device.handle(), chunk->buffer, &requirements);
  Status status = Status::Unsupported;
  const uint32_t allowed = requirements.memoryTypeBits & pointerProperties.memoryTypeBits;
  for (uint32_t type = 0; type < 32 && status != Status::Ok; ++type)
    if ((allowed >> type & 1) != 0) status = state.bind(*chunk, type, chunk->size, &import);
  if (status != Status::Ok) {
    state.destroy(*chunk);
    return status;
  }
  chunk->heap = VK_MAX_MEMORY_HEAPS - 1;  // the program's memory, not a heap's
  out.chunk = chunk.get();
  out.offset = address - first;
  out.size = size;
  out.address = chunk->address + out.offset;
  out.host = pointer;
  state.chunks.push_back(std::move(chunk));
  return Status::Ok;
}

Status Allocator::wrap(VkBuffer buffer, uint64_t offset, uint64_t size, std::shared_ptr<const void> owner,
                       Memory& out) {
  State& state = *state_;
  VkBufferDeviceAddressInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
  info.buffer = buffer;
  const uint64_t address = state.device.api().vkGetBufferDeviceAddress(state.device.handle(), &info);
  if (address == 0) return Status::Unsupported;
  auto chunk = std::make_unique<Chunk>();
  chunk->buffer = buffer;
  chunk->address = address;
  chunk->size = offset + size;
  chunk->heap = VK_MAX_MEMORY_HEAPS - 1;  // counted by whoever allocated it
  chunk->isImported = true;
  chunk->owner = std::move(owner);
  out = {chunk.get(), offset, size, address + offset, nullptr};
  std::lock_guard lock(state.mutex);
  state.chunks.push_back(std::move(chunk));
  return Status::Ok;
}

bool Allocator::hasEqualAddresses() const { return state_->device.mapMemory2 || state_->device.physical().isCpu(); }

VkBuffer Allocator::buffer(const Memory& memory) { return memory.chunk->buffer; }

VkDeviceMemory Allocator::deviceMemory(const Memory& memory) { return memory.chunk->memory; }

void Allocator::usage(uint64_t& freeBytes, uint64_t& totalBytes) const {
  const Device& device = state_->device;
  const VkPhysicalDeviceMemoryProperties& memory = device.physical().memory;
  uint32_t heap = 0;
  for (uint32_t i = 0; i < memory.memoryHeapCount; ++i)
    if ((memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0 &&
        memory.memoryHeaps[i].size > memory.memoryHeaps[heap].size)
      heap = i;
  totalBytes = memory.memoryHeaps[heap].size;
  std::lock_guard lock(state_->mutex);
  uint64_t held = state_->heapUsed[heap];
  for (const auto& chunk : state_->chunks)  // room inside chunks is free too
    if (!chunk->isImported && chunk->heap == heap) held -= chunk->free.total();
  freeBytes = totalBytes - std::min(totalBytes, held);
  if (!device.physical().has("VK_EXT_memory_budget")) return;
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget{};
  budget.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT;
  VkPhysicalDeviceMemoryProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2;
  properties.pNext = &budget;
  device.physical().functions.vkGetPhysicalDeviceMemoryProperties2(device.physical().handle, &properties);
  // Other processes' use counts as well: what the driver says we may have, less what we hold.
  const uint64_t available = budget.heapBudget[heap] - std::min(budget.heapBudget[heap], held);
  freeBytes = std::min(freeBytes, available);
}

uint64_t Allocator::allocatedBytes() const {
  std::lock_guard lock(state_->mutex);
  return state_->allocated;
}

}  // namespace mulciber::vk
