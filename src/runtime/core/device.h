// A CUDA device: one Vulkan physical device, its properties as CUDA words them, and its primary context.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "mulciber/translator.h"
#include "runtime/core/error.h"

namespace mulciber::vk {
class Device;
struct AdoptedDevice;
struct PhysicalDevice;
}  // namespace mulciber::vk

namespace mulciber::core {

class Context;
class MemoryMap;
class MemoryPool;
enum class MemoryKind : uint8_t;
class ShaderCache;
using MemoryPoolRef = std::shared_ptr<MemoryPool>;
using ContextRef = std::shared_ptr<Context>;

// What a block and a multiprocessor can hold.
struct DeviceShape {
  uint32_t threadsPerBlock, threadsPerMultiprocessor, blocksPerMultiprocessor, multiprocessors;
  uint32_t sharedPerBlock, sharedPerBlockOptin, sharedPerMultiprocessor;  // bytes
  uint32_t sharedReserved, sharedUnit;                                    // as MultiprocessorLimits has them
};

class Device {
 public:
  static constexpr int adoptedOrdinal = -1;  // of every engine's device

  Device(int ordinal, const vk::PhysicalDevice& physical, ShaderCache& cache);
  // On an engine's Vulkan device, which is open from the beginning. It is none of those that CUDA counts.
  static Error adopt(vk::AdoptedDevice engine, ShaderCache& cache, std::shared_ptr<Device>& out);
  ~Device();

  int ordinal() const { return ordinal_; }
  bool isAdopted() const { return ordinal_ == adoptedOrdinal; }
  ShaderCache& cache() const { return cache_; }
  std::string name() const;
  std::array<uint8_t, 16> uuid() const;
  uint64_t totalMemory() const;
  uint32_t computeCapability() const { return computeCapability_; }  // 10 * major + minor
  std::string pciBusId() const;                                      // "0000:1b:00.0"; zeros where Vulkan does not say

  DeviceShape shape() const;
  // By CUdevice_attribute number, which cudaDeviceAttr shares. InvalidValue for numbers CUDA does not have.
  Error attribute(int attribute, int& value) const;

  // The primary context (features.md HOST-02, HOST-03). `retain` makes it when it is not there.
  Error retainPrimary(ContextRef& out);
  Error holdPrimary(ContextRef& out);  // for the runtime API, which has one reference once it has used the context
  Error releasePrimary();
  Error resetPrimary();  // destroys it whatever the count; the next retain makes a fresh one
  void primaryState(uint32_t& flags, bool& active) const;
  Error setPrimaryFlags(uint32_t flags);
  ContextRef activePrimary() const;  // null when there is none
  Error createContext(uint32_t flags, ContextRef& out);
  // Whether they name no more than one way of waiting, and nothing CUDA does not have.
  static bool areContextFlags(uint32_t flags);

  // Memory pools, of Device, Managed and Pinned memory: the default one of each is always there, another may take its
  // place for cudaMallocAsync.
  MemoryPoolRef defaultPool(MemoryKind kind);
  MemoryPoolRef currentPool(MemoryKind kind);
  Error setCurrentPool(MemoryPool* pool, MemoryKind kind);
  MemoryPoolRef addPool(MemoryPoolRef pool);     // gives it back
  Error destroyPool(MemoryPool* pool);           // its memory stays until the frees have taken their turn
  MemoryPoolRef pool(const MemoryPool* handle);  // null for what is no pool of this device
  MemoryPoolRef graphPool(MemoryKind kind);      // that graphs allocate from; no handle stands for it
  void trimGraphPools();
  void trimPools();                    // to the threshold of each: after every wait for the device
  bool trimPools(uint64_t keepBytes);  // false when there are no pools

  // Where the addresses of its memory are looked up. Vulkan gives addresses that are unique in one Vulkan device: an
  // engine's has a map of its own. CUDA's are unique in the process, and share one.
  MemoryMap& memory() const;

  // The Vulkan device, made at first use and made again after it was lost. A sentence in the log when it fails.
  Error open(std::shared_ptr<vk::Device>& out);

  const vk::PhysicalDevice& physical() const { return physical_; }

 private:
  const int ordinal_;
  const vk::PhysicalDevice& physical_;
  uint32_t computeCapability_;
  ShaderCache& cache_;
  std::mutex openMutex_;
  std::shared_ptr<vk::Device> vulkan_;
  mutable std::mutex mutex_;  // guards the primary context
  ContextRef primary_;
  uint32_t primaryCount_ = 0, primaryFlags_ = 0;
  bool isHeldByRuntime_ = false;
  void dropDestroyedPools();
  std::unique_ptr<MemoryMap> ownMemory_;  // where it is adopted
  std::mutex poolMutex_;
  struct PoolsOfKind {
    MemoryPoolRef byDefault, current, ofGraphs;
  };
  PoolsOfKind& poolsOf(MemoryKind kind);
  std::array<PoolsOfKind, 3> poolsByKind_;
  std::vector<MemoryPoolRef> pools_;           // all that a handle stands for
  std::vector<MemoryPoolRef> destroyedPools_;  // that still have memory
  std::atomic<bool> hasPools_{false};
};

}  // namespace mulciber::core
