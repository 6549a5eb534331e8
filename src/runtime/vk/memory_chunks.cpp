#include "runtime/vk/memory_chunks.h"

#include <sys/mman.h>

#include <utility>

#include "runtime/vk/address_space.h"
#include "runtime/vk/conditions.h"
#include "util/log.h"

namespace mulciber::vk {

bool Allocator::State::isWindow(uint32_t type) const {
  const VkPhysicalDeviceMemoryProperties& memory = device.physical().memory;
  return std::any_of(memory.memoryTypes, memory.memoryTypes + memory.memoryTypeCount, [&](const VkMemoryType& other) {
    return other.heapIndex == memory.memoryTypes[type].heapIndex &&
           other.propertyFlags == VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  });
}

std::vector<uint32_t> Allocator::State::typesFor(MemoryUse use, uint32_t allowed, uint64_t size) const {
  constexpr VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  constexpr VkMemoryPropertyFlags visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
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

Status Allocator::State::createBuffer(Chunk& chunk, const void* next) {
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.pNext = next;
  info.size = chunk.size;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
               VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  if (canLeaveOutWork(device)) info.usage |= VK_BUFFER_USAGE_CONDITIONAL_RENDERING_BIT_EXT;
  if (const AdoptedDevice* engine = device.adopted()) info.usage |= engine->bufferUsage;
  device.share(info);
  return device.status(device.api().vkCreateBuffer(device.handle(), &info, device.callbacks(), &chunk.buffer),
                       "creating a buffer");
}

Status Allocator::State::bind(Chunk& chunk, uint32_t type, uint64_t bytes, const void* next) {
  const VolkDeviceTable& api = device.api();
  VkMemoryAllocateFlagsInfo flags{};
  flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
  flags.pNext = next;
  if (chunk.use != MemoryUse::Image) flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  info.pNext = &flags;
  info.allocationSize = bytes;
  info.memoryTypeIndex = type;
  const VkResult result = device.allocateMemory(info, chunk.memory);
  if (result != VK_SUCCESS) chunk.memory = VK_NULL_HANDLE;
  if (Status status = device.status(result, "allocating memory"); status != Status::Ok || chunk.use == MemoryUse::Image)
    return status;
  TRY(device.status(api.vkBindBufferMemory(device.handle(), chunk.buffer, chunk.memory, 0), "binding memory"));
  VkBufferDeviceAddressInfo address{};
  address.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
  address.buffer = chunk.buffer;
  chunk.address = api.vkGetBufferDeviceAddress(device.handle(), &address);
  return Status::Ok;
}

Status Allocator::State::map(Chunk& chunk) {
  return device.status(device.api().vkMapMemory(device.handle(), chunk.memory, 0, VK_WHOLE_SIZE, 0, &chunk.host),
                       "mapping memory");
}

bool Allocator::State::mapAtOwnAddress(Chunk& chunk, uint64_t bytes) {
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

void Allocator::State::destroy(Chunk& chunk) {
  if (chunk.owner) {
    chunk = {};
    return;
  }
  const VolkDeviceTable& api = device.api();
  chunk.planes->all.clear();
  if (chunk.host || chunk.window) api.vkUnmapMemory(device.handle(), chunk.memory);
  if (chunk.buffer != VK_NULL_HANDLE) api.vkDestroyBuffer(device.handle(), chunk.buffer, device.callbacks());
  if (chunk.memory != VK_NULL_HANDLE) device.freeMemory(chunk.memory);
  if (chunk.reserved) munmap(chunk.reserved, chunk.size);
  chunk = {};
}

std::shared_ptr<const void> Allocator::State::reserve(uint32_t type, uint64_t bytes) {
  const VkPhysicalDeviceMemoryProperties& memory = device.physical().memory;
  const uint32_t heap = memory.memoryTypes[type].heapIndex;
  // Drivers have been seen to overcommit rather than refuse.
  if (bytes > memory.memoryHeaps[heap].size - std::min(heapUsed[heap].load(), memory.memoryHeaps[heap].size))
    return nullptr;
  heapUsed[heap] += bytes;
  return {&heapUsed[heap], [bytes](std::atomic<uint64_t>* used) { *used -= bytes; }};
}

Status Allocator::State::tryChunk(Chunk& chunk, MemoryUse use, uint64_t size, uint32_t allowed) {
  const VolkDeviceTable& api = device.api();
  chunk.size = size;
  chunk.use = use;
  if (size > device.physical().properties13.maxBufferSize && device.physical().isCpu()) return Status::OutOfMemory;
  VkMemoryRequirements requirements{};
  const bool isForImages = use == MemoryUse::Image;
  TRY(createBuffer(chunk, nullptr));
  api.vkGetBufferMemoryRequirements(device.handle(), chunk.buffer, &requirements);
  if (isForImages) requirements.memoryTypeBits = allowed;
  const uint64_t bytes = roundUp(requirements.size, chunkGranularity);
  // Memory that the driver knows to be one buffer's is reached in larger pages: on an H200 random reads of 16 to 48
  // MiB take 110 to 130 us instead of 250 to 300, as natively (docs/performance.md). Images lie in such memory too,
  // beside a buffer that nothing uses.
  VkMemoryDedicatedAllocateInfo dedicated{};
  dedicated.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO;
  dedicated.buffer = chunk.buffer;
  const bool isDedicated = (use == MemoryUse::Device || isForImages) && bytes == requirements.size;
  Status status = Status::OutOfMemory;
  for (const uint32_t type : typesFor(use, requirements.memoryTypeBits, size)) {
    auto reservation = reserve(type, bytes);
    if (!reservation) continue;
    status = bind(chunk, type, bytes, isDedicated ? &dedicated : nullptr);
    if (status == Status::OutOfMemory) continue;
    if (status != Status::Ok) break;
    chunk.heap = device.physical().memory.memoryTypes[type].heapIndex;
    chunk.type = type;
    chunk.reservation = std::move(reservation);
    if (isForImages) return Status::Ok;
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

Status Allocator::State::newChunk(MemoryUse use, uint64_t size, uint32_t allowed, Chunk*& out) {
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

Status Allocator::State::newChunkFor(MemoryUse use, uint64_t bytes, uint64_t least, uint32_t allowed, Chunk*& out) {
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

void Allocator::State::drop(Chunk* chunk) {
  destroy(*chunk);
  chunks.erase(std::find_if(chunks.begin(), chunks.end(), [&](const auto& held) { return held.get() == chunk; }));
}

bool Allocator::State::dropEmpty() {
  std::vector<Chunk*> empty;
  for (const auto& chunk : chunks)
    if (!chunk->isImported && chunk->isEmpty() && chunk->isUnseen()) empty.push_back(chunk.get());
  for (Chunk* chunk : empty) drop(chunk);
  return !empty.empty();
}

Chunk* Allocator::State::keptChunk(MemoryUse use, uint64_t bytes, uint32_t allowed) const {
  Chunk* best = nullptr;
  for (const auto& chunk : chunks)
    if (isKept(*chunk) && chunk->use == use && (allowed >> chunk->type & 1) != 0 && chunk->size >= bytes &&
        chunk->size - bytes <= slackFor(bytes) && (!best || chunk->size < best->size))
      best = chunk.get();
  return best;
}

bool Allocator::State::isKept(const Chunk& chunk) {
  return !chunk.isImported && chunk.size != chunkBytes(chunk.use) && chunk.isEmpty();
}

Chunk* Allocator::State::take(MemoryUse use, uint64_t bytes, uint64_t alignedTo, uint32_t allowed, uint64_t& offset) {
  const auto takeFrom = [&](Chunk& chunk) { return chunk.free.take(bytes, alignedTo, chunk.address, offset); };
  if (Chunk* kept = isLarge(bytes, use) ? keptChunk(use, bytes, allowed) : nullptr; kept && takeFrom(*kept))
    return kept;
  // The newest chunks are the likeliest to have room. A small piece would spoil a kept one.
  for (auto held = chunks.rbegin(); held != chunks.rend(); ++held)
    if ((*held)->use == use && (allowed >> (*held)->type & 1) != 0 && !(*held)->isImported && !isKept(**held) &&
        takeFrom(**held))
      return held->get();
  return nullptr;
}

Status Allocator::State::allocate(MemoryUse use, uint64_t size, uint64_t alignedTo, uint32_t allowed, Memory& out) {
  std::lock_guard lock(mutex);
  uint64_t offset = 0;
  Chunk* chunk = take(use, size, alignedTo, allowed, offset);
  if (!chunk) {
    const bool large = isLarge(size, use);
    Status status = newChunkFor(use, size, large ? 0 : chunkBytes(use), allowed, chunk);
    if (status == Status::OutOfMemory && (dropEmpty() || !large)) status = newChunkFor(use, size, 0, allowed, chunk);
    if (status != Status::Ok) return status;
    chunk->free.take(size, alignedTo, chunk->address, offset);
  }
  allocated += size;
  out.chunk = chunk;
  out.offset = offset;
  out.size = size;
  out.address = chunk->address != 0 ? chunk->address + offset : 0;
  out.host = chunk->host ? static_cast<char*>(chunk->host) + offset : nullptr;
  return Status::Ok;
}

uint64_t Allocator::State::mostKept(uint32_t heap, MemoryUse use) const {
  constexpr uint64_t mostOfHost = 1u << 30, mostOfCpu = 256u << 20;
  const uint64_t share = device.physical().memory.memoryHeaps[heap].size / 8;
  if (device.physical().isCpu()) return std::min(share, mostOfCpu);
  return use == MemoryUse::Host ? std::min(share, mostOfHost) : share;
}

void Allocator::State::trimKept(const Chunk& emptied) {
  while (true) {
    uint64_t kept = 0;
    Chunk* oldest = nullptr;
    for (const auto& chunk : chunks) {
      if (!isKept(*chunk) || !chunk->isUnseen() || chunk->heap != emptied.heap || chunk->use != emptied.use) continue;
      kept += chunk->size;
      if (!oldest || chunk->emptySince < oldest->emptySince) oldest = chunk.get();
    }
    if (!oldest || kept <= mostKept(emptied.heap, emptied.use)) return;
    const bool isLast = oldest == &emptied;
    drop(oldest);
    if (isLast) return;
  }
}

}  // namespace mulciber::vk
