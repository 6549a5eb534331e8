// A CUDA context: a device, its allocations, streams, events and modules, and the error that ended it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/core/event.h"
#include "runtime/core/handle_table.h"
#include "runtime/core/memory_map.h"
#include "runtime/core/stream.h"

namespace mulciber::vk {
class Device;
}

namespace mulciber::core {

class Array;
class Device;
class ExternalMemory;
class ExternalSemaphore;
class GraphicsResource;
class MipmappedArray;
class Module;
class PipelinesAhead;
class KernelServices;
class StreamOrder;
class SurfaceReference;
class TextureReference;
class TextureTable;
class Worker;
struct PtxSource;
struct JitLog;
using ModuleRef = std::shared_ptr<Module>;
using ArrayRef = std::shared_ptr<Array>;
using MipmappedArrayRef = std::shared_ptr<MipmappedArray>;
using TextureReferenceRef = std::shared_ptr<TextureReference>;
using SurfaceReferenceRef = std::shared_ptr<SurfaceReference>;

// Handles with a meaning of their own: CU_STREAM_LEGACY and CU_STREAM_PER_THREAD.
inline constexpr uintptr_t legacyStreamHandle = 1, perThreadStreamHandle = 2;

enum class Limit : int {  // as CUlimit numbers them
  StackSize = 0,
  PrintfFifoSize = 1,
  MallocHeapSize = 2,
  DeviceRuntimeSyncDepth = 3,
  DeviceRuntimePendingLaunchCount = 4,
  MaxL2FetchGranularity = 5,
  PersistingL2CacheSize = 6,
  SharedMemorySize = 7,
  Cigs = 8,
};

class Context : public std::enable_shared_from_this<Context> {
 public:
  static Error create(Device& device, uint32_t flags, std::shared_ptr<Context>& out);
  ~Context();

  // Waits for all work, then frees everything the context owns. Later calls give ContextIsDestroyed.
  void destroy();

  Device& device() const { return device_; }
  vk::Device& vulkan() const { return *vulkan_; }
  const std::shared_ptr<vk::Device>& sharedVulkan() const { return vulkan_; }
  bool mayStartThreads() const;  // an engine's may not always
  // The hash of the profile that kernels are translated for, which is a part of the cache's keys. Kernels that filter
  // textures by themselves have a profile of their own.
  const std::string& profileHash(bool filtersTextures) const { return profileHashes_[filtersTextures ? 1 : 0]; }
  uint64_t id() const { return id_; }
  uint32_t flags() const { return flags_; }
  void setFlags(uint32_t flags) { flags_ = flags; }

  // The first error that broke the context: every call gives it until the context is destroyed (HOST-12).
  Error error() const { return error_.load(std::memory_order_acquire); }
  void setError(Error error);
  // The error for a call whose work ended with that status. Here, and nowhere else, a lost device breaks the
  // context.
  Error errorAfter(vk::Status status);

  Error synchronize();            // all streams; drains printf and reports what kernels did wrong
  Error waitIdle();               // the same, and does no more than wait
  vk::WaitMode waitMode() const;  // as the schedule flags say

  // Memory. Sizes of 0 are InvalidValue for the driver API; the runtime API handles them before it calls.
  Error allocate(size_t bytes, uint64_t& address);
  Error allocatePitched(size_t widthBytes, size_t height, size_t depth, uint64_t& address, size_t& pitch);
  // Memory of an engine's or of another API's, already known to the allocator: device memory to the program from now
  // on, that free() lets go. InvalidValue when some of its addresses are known as other memory.
  Error addForeign(const vk::Memory& memory, uint64_t& address);
  Error free(uint64_t address);  // device and managed memory; waits for the device's use
  // In the order of a stream, from a pool of this device. What was not allocated so is freed after the stream's work.
  Error allocateAsync(MemoryPool& pool, size_t bytes, Stream& stream, uint64_t& address);
  Error freeAsync(uint64_t address, Stream& stream);
  // For a graph's nodes, from a pool of their own. It goes back behind the marker's place in the stream.
  Error allocateForGraph(MemoryKind kind, size_t bytes, AllocationRef& out);
  void release(const AllocationRef& allocation, uint64_t stream, std::shared_ptr<Marker> marker);
  Error allocateHost(size_t bytes, uint32_t flags, void*& pointer);
  Error freeHost(void* pointer);
  Error allocateManaged(size_t bytes, uint32_t flags, uint64_t& address);
  Error registerHost(void* pointer, size_t bytes, uint32_t flags);
  Error unregisterHost(void* pointer);
  Error hostToDevicePointer(void* pointer, uint64_t& address);
  // Blocking transfers of device memory on the side, for what the runtime itself wants to know; not ordered with
  // streams.
  Error readMemory(uint64_t address, void* out, size_t bytes);
  Error writeMemory(uint64_t address, const void* data, size_t bytes);
  void readString(uint64_t address, std::string& out);  // zero-terminated; empty when there is none
  void memoryInfo(size_t& freeBytes, size_t& totalBytes) const;
  bool freeUnused();  // what pools and destroyed textures hold back; false when there is nothing

  // Streams. A handle is a Stream*, 0, or one of the two special numbers; InvalidHandle for anything else.
  Error createStream(uint32_t flags, int priority, Stream*& out);
  Error destroyStream(Stream* stream);
  Error stream(uintptr_t handle, bool perThreadDefault, StreamRef& out);
  const StreamRef& legacyStream() const { return legacyStream_; }
  Error perThreadStream(StreamRef& out);
  void endThread();                        // its per-thread stream goes; what was given to it is still done
  std::vector<StreamRef> streams() const;  // all but the legacy one

  // Events. A handle is an Event*.
  Error createEvent(uint32_t flags, Event*& out);
  Error destroyEvent(Event* event);
  Error event(Event* handle, EventRef& out) const;

  // Modules. Several sources are linked into one.
  Error loadModule(const std::vector<PtxSource>& sources, JitLog* log, Module*& out);
  Error unloadModule(Module* module);
  Error module(Module* handle, ModuleRef& out) const;
  std::vector<ModuleRef> modules() const;

  HandleTable<Array>& arrays() { return arrays_; }
  HandleTable<MipmappedArray>& mipmappedArrays() { return mipmappedArrays_; }
  HandleTable<ExternalMemory>& externalMemory() { return externalMemory_; }
  HandleTable<ExternalSemaphore>& externalSemaphores() { return externalSemaphores_; }
  HandleTable<GraphicsResource>& graphicsResources() { return graphicsResources_; }
  const HandleTable<GraphicsResource>& graphicsResources() const { return graphicsResources_; }
  HandleTable<TextureReference>& textureReferences() { return textureReferences_; }
  HandleTable<SurfaceReference>& surfaceReferences() { return surfaceReferences_; }

  Error limit(Limit limit, size_t& value) const;
  Error setLimit(Limit limit, size_t value);

  KernelServices& services() { return *services_; }
  StreamOrder& order() { return *order_; }
  Worker& worker() { return *worker_; }
  TextureTable& textures() { return *textures_; }
  PipelinesAhead& pipelinesAhead() { return *pipelinesAhead_; }

 private:
  Context(Device& device, std::shared_ptr<vk::Device> vulkan, uint32_t flags);
  Error create();
  void addAllocation(const AllocationRef& allocation, MemoryKind kind, size_t bytes, uint32_t flags);
  Error addMemory(MemoryKind kind, vk::MemoryUse use, size_t bytes, uint32_t flags, AllocationRef& out);
  Error addFromPool(MemoryPool& pool, size_t bytes, Stream* stream, AllocationRef& out);
  bool forget(const AllocationRef& allocation);
  void giveBack(const Allocation& allocation);
  void releaseMemory(const AllocationRef& allocation);
  Error waitForQueues();
  Error retire(Stream& stream);
  vk::Queue& nextQueue();
  friend class Module;

  Device& device_;
  std::shared_ptr<vk::Device> vulkan_;
  const uint64_t id_;
  const std::array<std::string, 2> profileHashes_;
  std::atomic<uint32_t> flags_;
  std::atomic<Error> error_{Error::Success};
  std::atomic<bool> destroyed_{false};
  std::atomic<uint32_t> queuesGiven_{0};

  HandleTable<Stream> streams_;
  HandleTable<Event> events_;
  HandleTable<Module> modules_;
  HandleTable<Array> arrays_;
  HandleTable<MipmappedArray> mipmappedArrays_;
  HandleTable<ExternalMemory> externalMemory_;
  HandleTable<ExternalSemaphore> externalSemaphores_;
  HandleTable<GraphicsResource> graphicsResources_;
  HandleTable<TextureReference> textureReferences_;
  HandleTable<SurfaceReference> surfaceReferences_;
  mutable std::shared_mutex mutex_;  // guards what is below, up to the limits
  std::unordered_map<std::thread::id, StreamRef> perThread_;
  std::unordered_set<AllocationRef> allocations_;
  std::array<size_t, 9> limits_;

  StreamRef legacyStream_;
  std::unique_ptr<StreamOrder> order_;
  std::unique_ptr<KernelServices> services_;
  std::unique_ptr<Worker> worker_;
  std::unique_ptr<TextureTable> textures_;
  std::unique_ptr<PipelinesAhead> pipelinesAhead_;
};
using ContextRef = std::shared_ptr<Context>;

}  // namespace mulciber::core
