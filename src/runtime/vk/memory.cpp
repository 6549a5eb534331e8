#include "runtime/vk/memory.h"

#include <algorithm>
#include <utility>

#include "runtime/vk/memory_chunks.h"

namespace mulciber::vk {

Allocator::Allocator(Device& device) : state_(std::make_unique<State>(device)) {}

Allocator::~Allocator() {
  for (const auto& chunk : state_->chunks) state_->destroy(*chunk);
}

Status Allocator::allocate(MemoryUse use, uint64_t size, Memory& out) {
  State& state = *state_;
  if (use == MemoryUse::Upload) {
    if (allocate(MemoryUse::Device, size, out) == Status::Ok) {
      out.host = window(out);
      if (out.host) return Status::Ok;
      free(out);
    }
    use = MemoryUse::Staging;
  }
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
  if (!keep && chunk.isUnseen()) state.drop(&chunk);
}

std::shared_ptr<const void> Allocator::owner(const Memory& memory) {
  return {memory.chunk, [this, memory](const void*) { free(memory); }};
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
  TRY(device.status(device.api().vkGetMemoryHostPointerPropertiesEXT(device.handle(), handleType, import.pHostPointer,
                                                                     &pointerProperties),
                    "importing host memory"));
  VkExternalMemoryBufferCreateInfo external{};
  external.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO;
  external.handleTypes = handleType;

  std::lock_guard lock(state.mutex);
  TRY(state.createBuffer(*chunk, &external));
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

std::shared_ptr<const void> Allocator::reserve(uint32_t type, uint64_t bytes) {
  State& state = *state_;
  std::lock_guard lock(state.mutex);
  auto reservation = state.reserve(type, bytes);
  return reservation || !state.dropEmpty() ? reservation : state.reserve(type, bytes);
}

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
