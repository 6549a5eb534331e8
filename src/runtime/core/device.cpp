#include "runtime/core/device.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "probeHash.h"
#include "runtime/core/context.h"
#include "runtime/core/explanation.h"
#include "runtime/core/memory_pool.h"
#include "runtime/core/occupancy.h"
#include "runtime/core/pipelines_ahead.h"
#include "runtime/core/platform.h"
#include "runtime/core/shader_cache.h"
#include "runtime/core/trace.h"
#include "runtime/vk/device.h"
#include "runtime/vk/sparse.h"
#include "util/environment.h"
#include "util/exit_gate.h"
#include "util/log.h"

namespace mulciber::core {

namespace {
constexpr uint32_t contextFlagMask = 0xFF;  // CU_CTX_FLAGS_MASK

// Mesa's driver for CPUs has one for each processor, 32 at most, or as many as its own variable says.
uint32_t lavapipeThreads() {
  constexpr unsigned most = 32;
  unsigned threads = std::clamp(std::thread::hardware_concurrency(), 1u, most);
  if (const char* wanted = std::getenv("LP_NUM_THREADS"))
    threads = std::clamp(static_cast<unsigned>(std::strtoul(wanted, nullptr, 10)), 1u, most);
  return threads;
}
}  // namespace

Device::Device(int ordinal, const vk::PhysicalDevice& physical, ShaderCache& cache)
    : ordinal_(ordinal), physical_(physical), cache_(cache) {
  const int64_t wanted = util::environment().computeCapability;
  computeCapability_ = wanted > 0 && wanted < 1000 ? static_cast<uint32_t>(wanted) : TargetProfile().computeCapability;
  if (isAdopted()) ownMemory_ = std::make_unique<MemoryMap>();
}

Device::~Device() = default;

MemoryMap& Device::memory() const { return ownMemory_ ? *ownMemory_ : Platform::get().memory(); }

std::string Device::name() const { return physical_.properties().deviceName; }

std::array<uint8_t, 16> Device::uuid() const {
  std::array<uint8_t, 16> out;
  std::memcpy(out.data(), physical_.properties11.deviceUUID, out.size());
  return out;
}

uint64_t Device::totalMemory() const {
  uint64_t most = 0;
  for (uint32_t i = 0; i < physical_.memory.memoryHeapCount; ++i)
    if ((physical_.memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0)
      most = std::max<uint64_t>(most, physical_.memory.memoryHeaps[i].size);
  return most;
}

std::string Device::pciBusId() const {
  const auto& pci = physical_.pci;
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", pci.pciDomain, pci.pciBus, pci.pciDevice, pci.pciFunction);
}

DeviceShape Device::shape() const {
  const VkPhysicalDeviceLimits& limits = physical_.limits();
  DeviceShape shape;
  shape.threadsPerBlock = std::min(limits.maxComputeWorkGroupInvocations, 1024u);
  shape.sharedPerBlock = std::min(limits.maxComputeSharedMemorySize, 48u << 10);
  shape.sharedPerBlockOptin = limits.maxComputeSharedMemorySize;
  if (physical_.isCpu()) {
    // A driver thread runs one block at a time. Asking reads files of the system: once, for launches look here.
    static const uint32_t threads = lavapipeThreads();
    shape.multiprocessors = threads;
    shape.threadsPerMultiprocessor = shape.threadsPerBlock;
    shape.blocksPerMultiprocessor = 1;
    shape.sharedPerMultiprocessor = limits.maxComputeSharedMemorySize;
    shape.sharedReserved = 0;
    shape.sharedUnit = 1;
  } else {
    shape.multiprocessors = physical_.multiprocessors.shaderSMCount != 0 ? physical_.multiprocessors.shaderSMCount : 16;
    shape.threadsPerMultiprocessor =
        physical_.multiprocessors.shaderWarpsPerSM != 0 ? physical_.multiprocessors.shaderWarpsPerSM * 32 : 1024;
    // What CUDA offers on such a device: a launch that takes more than Vulkan does has it in device memory.
    const MultiprocessorLimits cuda = multiprocessorLimits(computeCapability());
    shape.blocksPerMultiprocessor = cuda.blocks;
    shape.sharedReserved = cuda.sharedReserved;
    shape.sharedUnit = cuda.sharedUnit;
    shape.sharedPerBlockOptin = std::max(limits.maxComputeSharedMemorySize, cuda.sharedBytes - cuda.sharedReserved);
    shape.sharedPerMultiprocessor = std::max(limits.maxComputeSharedMemorySize, cuda.sharedBytes);
  }
  return shape;
}

Error Device::attribute(int attribute, int& value) const {
  // What the expressions of device_attributes.def use.
  const VkPhysicalDeviceLimits& limits = physical_.limits();
  const DeviceShape device = shape();
  const auto& pci = physical_.pci;
  const uint32_t capability = computeCapability_;
  const bool isIntegrated = physical_.properties().deviceType != VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
  // Vulkan has no atomic operations that the host takes part in: on an H200 the host's additions to a word are lost
  // while a kernel adds to it as well, in pinned and in managed memory. CUDA has them in managed memory there.
  const bool isHost = physical_.isCpu();
  const bool hasManaged = physical_.isCpu() || physical_.mapPlaced.memoryMapPlaced == VK_TRUE;
  const bool canRegister = physical_.externalHost.minImportedHostPointerAlignment != 0;
  // Vulkan does not say; programs print them and estimate with them.
  constexpr int clockKilohertz = 1'000'000, memoryBusBits = 256, l2Bytes = 4 << 20;
  switch (attribute) {
#define ATTRIBUTE(number, name, expression) \
  case number:                              \
    value = static_cast<int>(expression);   \
    return Error::Success;
#include "runtime/core/device_attributes.def"
#undef ATTRIBUTE
    default: return Error::InvalidValue;
  }
}

namespace {

// `make` opens the device with what is known of it from before, or null.
template <class Make>
vk::Status openWithProbes(const vk::PhysicalDevice& physical, ShaderCache& cache, std::shared_ptr<vk::Device>& out,
                          Make&& make) {
  const std::string key = fmt::format("probes|{}|{}", probeHash, physical.identity());
  vk::ProbeResults known;
  const auto cached = cache.load(key);
  const bool isKnown = cached && cached->size() == sizeof(known);
  if (isKnown) std::memcpy(&known, cached->data(), sizeof(known));
  TRY(make(isKnown ? &known : nullptr));
  if (!isKnown) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&out->probes());
    cache.store(key, {bytes, sizeof(known)});
  }
  return vk::Status::Ok;
}

Error cannotOpen(vk::Status status, const std::string& name) {
  util::log().error("the Vulkan device {} cannot be opened", name);
  return status == vk::Status::OutOfMemory ? Error::OutOfMemory : Error::DeviceUnavailable;
}

}  // namespace

Error Device::open(std::shared_ptr<vk::Device>& out) {
  std::lock_guard lock(openMutex_);
  if (isAdopted() && vulkan_->isLost()) return Error::DeviceUnavailable;
  if (!vulkan_ || vulkan_->isLost()) {
    vulkan_.reset();
    const vk::Status status = openWithProbes(physical_, cache_, vulkan_, [&](const vk::ProbeResults* known) {
      return vk::Device::create(physical_, known, vulkan_);
    });
    if (status != vk::Status::Ok) return cannotOpen(status, name());
    util::watchExit();
    if (Trace* const trace = Trace::active()) trace->addDevice(vulkan_, *this);
    if (Explanation* const explanation = Explanation::active()) explanation->addDevice(name(), *vulkan_);
  }
  out = vulkan_;
  return Error::Success;
}

Error Device::adopt(vk::AdoptedDevice engine, ShaderCache& cache, std::shared_ptr<Device>& out) {
  const vk::PhysicalDevice& physical = *engine.physical;  // goes with the device
  const std::string name = physical.properties().deviceName;
  std::shared_ptr<vk::Device> vulkan;
  const vk::Status status = openWithProbes(physical, cache, vulkan, [&](const vk::ProbeResults* known) {
    return vk::Device::adopt(std::move(engine), known, vulkan);
  });
  if (status != vk::Status::Ok) return cannotOpen(status, name);
  out = std::make_shared<Device>(adoptedOrdinal, vulkan->physical(), cache);
  out->vulkan_ = std::move(vulkan);
  return Error::Success;
}

// With its lock held.
Device::PoolsOfKind& Device::poolsOf(MemoryKind kind) {
  PoolsOfKind& pools = poolsByKind_[static_cast<size_t>(kind)];
  if (!pools.byDefault) {
    pools.byDefault = pools.current = pools_.emplace_back(std::make_shared<MemoryPool>(*this, kind, 0));
    hasPools_.store(true, std::memory_order_release);
  }
  return pools;
}

MemoryPoolRef Device::defaultPool(MemoryKind kind) {
  std::lock_guard lock(poolMutex_);
  return poolsOf(kind).byDefault;
}

MemoryPoolRef Device::currentPool(MemoryKind kind) {
  std::lock_guard lock(poolMutex_);
  return poolsOf(kind).current;
}

MemoryPoolRef Device::addPool(MemoryPoolRef pool) {
  std::lock_guard lock(poolMutex_);
  pools_.push_back(pool);
  hasPools_.store(true, std::memory_order_release);
  return pool;
}

MemoryPoolRef Device::pool(const MemoryPool* handle) {
  std::lock_guard lock(poolMutex_);
  const auto found = std::find_if(pools_.begin(), pools_.end(), [&](const auto& pool) { return pool.get() == handle; });
  return found == pools_.end() ? nullptr : *found;
}

Error Device::setCurrentPool(MemoryPool* handle, MemoryKind kind) {
  MemoryPoolRef wanted = pool(handle);
  if (!wanted || wanted->kind() != kind || wanted->sharing() == PoolSharing::Imported) return Error::InvalidValue;
  std::lock_guard lock(poolMutex_);
  poolsOf(kind).current = std::move(wanted);
  return Error::Success;
}

Error Device::destroyPool(MemoryPool* handle) {
  MemoryPoolRef gone = pool(handle);
  if (!gone) return Error::InvalidValue;
  std::lock_guard lock(poolMutex_);
  PoolsOfKind& pools = poolsOf(gone->kind());
  if (gone == pools.byDefault || std::erase(pools_, gone) == 0) return Error::InvalidValue;
  if (pools.current == gone) pools.current = pools.byDefault;
  destroyedPools_.push_back(std::move(gone));
  dropDestroyedPools();
  return Error::Success;
}

// Each allocation holds its pool, and a free that waits for its stream is the pool's own affair. The caller holds the
// lock.
void Device::dropDestroyedPools() {
  std::erase_if(destroyedPools_, [](const MemoryPoolRef& pool) { return pool->isSettled() && pool.use_count() == 1; });
}

MemoryPoolRef Device::graphPool(MemoryKind kind) {
  std::lock_guard lock(poolMutex_);
  MemoryPoolRef& pool = poolsByKind_[static_cast<size_t>(kind)].ofGraphs;
  if (!pool) pool = std::make_shared<MemoryPool>(*this, kind, 0);
  hasPools_.store(true, std::memory_order_release);
  return pool;
}

void Device::trimGraphPools() {
  std::lock_guard lock(poolMutex_);
  for (const PoolsOfKind& pools : poolsByKind_)
    if (pools.ofGraphs) pools.ofGraphs->trim(0);
}

void Device::trimPools() {
  if (!hasPools_.load(std::memory_order_acquire)) return;
  std::lock_guard lock(poolMutex_);
  for (const MemoryPoolRef& pool : pools_) pool->trimToThreshold();
  dropDestroyedPools();
}

bool Device::trimPools(uint64_t keepBytes) {
  if (!hasPools_.load(std::memory_order_acquire)) return false;
  {
    std::lock_guard lock(poolMutex_);
    for (const MemoryPoolRef& pool : pools_) pool->trim(keepBytes);
    dropDestroyedPools();
  }
  trimGraphPools();
  return true;
}

bool Device::areContextFlags(uint32_t flags) {
  const uint32_t schedule = flags & 7;
  return (flags & ~contextFlagMask) == 0 && (schedule & (schedule - 1)) == 0;
}

Error Device::createContext(uint32_t flags, ContextRef& out) {
  if (!areContextFlags(flags)) return Error::InvalidValue;
  TRY(Context::create(*this, flags, out));
  if (!isAdopted()) out->pipelinesAhead().begin();
  return Error::Success;
}

Error Device::retainPrimary(ContextRef& out) {
  std::lock_guard lock(mutex_);
  if (!primary_) TRY(createContext(primaryFlags_, primary_));
  ++primaryCount_;
  out = primary_;
  return Error::Success;
}

Error Device::holdPrimary(ContextRef& out) {
  std::unique_lock lock(mutex_);
  if (isHeldByRuntime_) {
    out = primary_;
    return Error::Success;
  }
  lock.unlock();
  TRY(retainPrimary(out));
  lock.lock();
  // Another thread may have come first.
  if (isHeldByRuntime_) --primaryCount_;
  isHeldByRuntime_ = true;
  return Error::Success;
}

Error Device::releasePrimary() {
  ContextRef gone;
  std::lock_guard lock(mutex_);
  if (primaryCount_ == 0) return Error::InvalidContext;
  if (--primaryCount_ != 0) return Error::Success;
  isHeldByRuntime_ = false;
  gone = std::move(primary_);
  primary_.reset();
  gone->destroy();
  return Error::Success;
}

Error Device::resetPrimary() {
  std::lock_guard lock(mutex_);
  primaryFlags_ = 0;
  if (!primary_) return Error::Success;
  const ContextRef gone = std::move(primary_);
  primary_.reset();
  primaryCount_ = 0;
  isHeldByRuntime_ = false;
  gone->destroy();
  return Error::Success;
}

void Device::primaryState(uint32_t& flags, bool& active) const {
  std::lock_guard lock(mutex_);
  flags = primary_ ? primary_->flags() : primaryFlags_;
  active = primary_ != nullptr;
}

ContextRef Device::activePrimary() const {
  std::lock_guard lock(mutex_);
  return primary_;
}

Error Device::setPrimaryFlags(uint32_t flags) {
  if (!areContextFlags(flags)) return Error::InvalidValue;
  std::lock_guard lock(mutex_);
  primaryFlags_ = flags;
  if (primary_) primary_->setFlags(flags);
  return Error::Success;
}

}  // namespace mulciber::core
