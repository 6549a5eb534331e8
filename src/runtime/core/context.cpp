#include "runtime/core/context.h"

#include <algorithm>
#include <cstring>

#include "runtime/core/array.h"
#include "runtime/core/capture.h"
#include "runtime/core/device.h"
#include "runtime/core/external.h"
#include "runtime/core/graph.h"
#include "runtime/core/kernel_services.h"
#include "runtime/core/managed_advice.h"
#include "runtime/core/memory_pool.h"
#include "runtime/core/module.h"
#include "runtime/core/platform.h"
#include "runtime/core/stream_order.h"
#include "runtime/core/texture_table.h"
#include "runtime/core/worker.h"
#include "runtime/vk/device.h"

namespace mulciber::core {

namespace {

std::atomic<uint64_t> nextContextId{1}, nextAllocationId{1};

constexpr std::array<size_t, 9> defaultLimits = {1024, KernelServices::defaultPrintfBytes, 8u << 20, 2, 2048, 64, 0, 0,
                                                 0};
constexpr size_t mostStackBytes = 512u << 10, stackUnit = 16;
constexpr size_t leastPrintfBytes = 512u << 10, leastHeapBytes = 4u << 20, leastPendingLaunches = 32;
constexpr uint64_t endOfHost = uint64_t{1} << 47;  // of a process's addresses

enum ScheduleFlag : uint32_t { ScheduleSpin = 1, ScheduleYield = 2, ScheduleBlocking = 4 };

}  // namespace

Context::Context(Device& device, std::shared_ptr<vk::Device> vulkan, uint32_t flags)
    : device_(device),
      vulkan_(std::move(vulkan)),
      id_(nextContextId.fetch_add(1)),
      flags_(flags),
      limits_(defaultLimits),
      order_(std::make_unique<StreamOrder>(*this)),
      worker_(std::make_unique<Worker>()),
      textures_(std::make_unique<TextureTable>(*this)) {}

Context::~Context() { destroy(); }

Error Context::create(Device& device, uint32_t flags, ContextRef& out) {
  std::shared_ptr<vk::Device> vulkan;
  if (const Error error = device.open(vulkan); error != Error::Success) return error;
  ContextRef context(new Context(device, std::move(vulkan), flags));
  if (const Error error = context->create(); error != Error::Success) return error;
  Platform::get().remember(context);
  out = std::move(context);
  return Error::Success;
}

Error Context::create() {
  legacyStream_ = std::make_shared<Stream>(*this, Stream::Role::Legacy, Stream::Default, 0, nextQueue());
  return KernelServices::create(*this, services_);
}

void Context::destroy() {
  if (destroyed_.exchange(true)) return;
  // What still runs may use everything below.
  worker_->finish();
  if (waitForQueues() == Error::Success && services_) (void)services_->afterWait();
  error_.store(Error::ContextIsDestroyed, std::memory_order_release);
  // Other threads may have given more meanwhile. From here on they are refused.
  std::vector<StreamRef> all = streams();
  if (legacyStream_) all.push_back(legacyStream_);
  for (const StreamRef& stream : all) stream->settle();
  if (!vulkan_->isLost()) (void)waitForQueues();
  if (vulkan_->isLost()) vulkan_->waitIdle();
  worker_->stop();
  modules_.clear();
  mipmappedArrays_.clear();
  textures_->clear();
  arrays_.clear();
  externalMemory_.clear();
  externalSemaphores_.clear();
  decltype(allocations_) allocations;
  decltype(perThread_) perThread;
  {
    std::unique_lock lock(mutex_);
    allocations.swap(allocations_);
    perThread.swap(perThread_);
  }
  for (const AllocationRef& allocation : allocations) {
    Platform::get().memory().remove(*allocation);
    giveBack(*allocation);
  }
  device_.trimPools(0);
  // A lost device may still be at work on it, and goes as a whole.
  if (!vulkan_->isLost()) vulkan_->allocator().trim();
  streams_.clear();
  events_.clear();
}

void Context::setError(Error error) {
  Error none = Error::Success;
  error_.compare_exchange_strong(none, error, std::memory_order_acq_rel);
}

vk::WaitMode Context::waitMode() const {
  const uint32_t flags = flags_.load(std::memory_order_relaxed);
  if ((flags & ScheduleSpin) != 0) return vk::WaitMode::Spin;
  if ((flags & ScheduleYield) != 0) return vk::WaitMode::Yield;
  return (flags & ScheduleBlocking) != 0 ? vk::WaitMode::Block : vk::WaitMode::Auto;
}

Error Context::waitIdle() {
  worker_->waitIdle();
  return waitForQueues();
}

Error Context::waitForQueues() {
  for (size_t i = 0; i < vulkan_->queueCount(); ++i)
    if (const vk::Status status = vulkan_->queue(i).waitIdle(waitMode()); status != vk::Status::Ok) {
      setError(errorFrom(status));
      return errorFrom(status);
    }
  return Error::Success;
}

Error Context::synchronize() {
  if (const Error sticky = error(); sticky != Error::Success) return sticky;
  Error refused = Error::Success;
  for (const StreamRef& stream : streams())
    if (const Error error = stream->refuseInCapture(); error != Error::Success) refused = error;
  if (refused != Error::Success) return refused;
  if (const Error failed = waitIdle(); failed != Error::Success) return failed;
  device_.trimPools();
  return services_->afterWait();
}

// Memory

void Context::addAllocation(const AllocationRef& allocation, MemoryKind kind, size_t bytes, uint32_t flags) {
  allocation->kind = kind;
  allocation->deviceAddress = allocation->memory.address;
  allocation->size = bytes;
  allocation->flags = flags;
  allocation->id = nextAllocationId.fetch_add(1);
  allocation->context = weak_from_this();
  allocation->device = device_.ordinal();
  // Who takes it from the context's takes it from the map, where it has to be by then.
  Platform::get().memory().add(allocation);
  std::unique_lock lock(mutex_);
  allocations_.insert(allocation);
}

Error Context::addMemory(MemoryKind kind, vk::MemoryUse use, size_t bytes, uint32_t flags, AllocationRef& out) {
  if (const Error sticky = error(); sticky != Error::Success) return sticky;
  auto allocation = std::make_shared<Allocation>();
  vk::Status status = vulkan_->allocator().allocate(use, bytes, allocation->memory);
  if (status == vk::Status::OutOfMemory && device_.trimPools(0))  // pools hold memory back
    status = vulkan_->allocator().allocate(use, bytes, allocation->memory);
  if (status != vk::Status::Ok) return errorFrom(status);
  if (use == vk::MemoryUse::Host) allocation->hostAddress = reinterpret_cast<uint64_t>(allocation->memory.host);
  addAllocation(allocation, kind, bytes, flags);
  if (error() == Error::ContextIsDestroyed) {  // meanwhile
    releaseMemory(allocation);
    return Error::ContextIsDestroyed;
  }
  out = std::move(allocation);
  return Error::Success;
}

// False when another thread was first.
bool Context::forget(const AllocationRef& allocation) {
  {
    std::unique_lock lock(mutex_);
    if (allocations_.erase(allocation) == 0) return false;
  }
  Platform::get().memory().remove(*allocation);
  return true;
}

void Context::giveBack(const Allocation& allocation) {
  if (allocation.pool) allocation.pool->giveBack(allocation.memory, allocation.size, 0, nullptr);
  else vulkan_->allocator().free(allocation.memory);
}

void Context::releaseMemory(const AllocationRef& allocation) {
  if (forget(allocation)) giveBack(*allocation);
}

Error Context::addFromPool(MemoryPool& pool, size_t bytes, Stream* stream, AllocationRef& out) {
  auto allocation = std::make_shared<Allocation>();
  Error failed = pool.allocate(*this, stream, bytes, allocation->memory);
  if (failed == Error::OutOfMemory && device_.trimPools(0))
    failed = pool.allocate(*this, stream, bytes, allocation->memory);
  if (failed != Error::Success) return failed;
  allocation->pool = pool.shared_from_this();
  addAllocation(allocation, MemoryKind::Device, bytes, 0);
  out = std::move(allocation);
  return Error::Success;
}

Error Context::allocateForGraph(size_t bytes, AllocationRef& out) {
  if (const Error sticky = error(); sticky != Error::Success) return sticky;
  return addFromPool(*device_.graphPool(), bytes, nullptr, out);
}

void Context::release(const AllocationRef& allocation, uint64_t stream, MarkerRef marker) {
  if (forget(allocation)) allocation->pool->giveBack(allocation->memory, allocation->size, stream, std::move(marker));
}

Error Context::allocateAsync(MemoryPool& pool, size_t bytes, Stream& stream, uint64_t& address) {
  if (const Error sticky = error(); sticky != Error::Success) return sticky;
  if (const CaptureRef capture = stream.capture()) {
    if (&pool.device() != &device_) return Error::InvalidValue;
    const Error failed = capture->add(stream, AllocationNode{shared_from_this(), bytes, nullptr});
    if (failed != Error::Success) return failed;
    const auto* const node = capture->tell(stream).nodes.front()->as<AllocationNode>();
    address = node->memory->address();
    return Error::Success;
  }
  if (const Error refused = stream.refuseInCapture(); refused != Error::Success) return refused;
  if (const Error unsafe = unsafeDuringCapture(); unsafe != Error::Success) return unsafe;
  if (&pool.device() != &device_) return Error::InvalidValue;
  AllocationRef allocation;
  if (const Error failed = addFromPool(pool, bytes, &stream, allocation); failed != Error::Success) return failed;
  address = allocation->deviceAddress;
  return Error::Success;
}

Error Context::freeAsync(uint64_t address, Stream& stream) {
  if (const Error sticky = error(); sticky != Error::Success) return sticky;
  const GraphMemoryRef ofGraph = GraphMemory::find(address);
  if (const CaptureRef capture = stream.capture())  // a graph can only free what a graph has allocated
    return ofGraph ? capture->add(stream, FreeNode{ofGraph}) : Error::InvalidValue;
  if (const Error unsafe = unsafeDuringCapture(); unsafe != Error::Success) return unsafe;
  const AllocationRef allocation = Platform::get().memory().find(address);
  if (!allocation || allocation->deviceAddress != address) return Error::InvalidValue;
  if (allocation->kind == MemoryKind::Managed) return Error::NotSupported;
  if (allocation->kind != MemoryKind::Device) return Error::InvalidValue;
  const ContextRef owner = allocation->context.lock();
  if (!owner) return Error::InvalidValue;
  if (!allocation->pool || &stream.context() != owner.get()) {
    if (const Error failed = stream.finish(); failed != Error::Success) return failed;
    return owner->free(address);
  }
  MarkerRef marker;
  if (const Error failed = stream.place(marker); failed != Error::Success) return failed;
  if (ofGraph) return ofGraph->free(std::move(marker), stream.id());
  owner->release(allocation, stream.id(), std::move(marker));
  return Error::Success;
}

Error Context::allocate(size_t bytes, uint64_t& address) {
  if (const Error unsafe = unsafeDuringCapture(); unsafe != Error::Success) return unsafe;
  if (bytes == 0) return Error::InvalidValue;
  AllocationRef allocation;
  if (const Error failed = addMemory(MemoryKind::Device, vk::MemoryUse::Device, bytes, 0, allocation);
      failed != Error::Success)
    return failed;
  address = allocation->deviceAddress;
  return Error::Success;
}

Error Context::allocatePitched(size_t widthBytes, size_t height, size_t depth, uint64_t& address, size_t& pitch) {
  if (widthBytes == 0 || height == 0 || depth == 0) return Error::InvalidValue;
  constexpr size_t alignment = vk::Allocator::alignment;  // also what textures need of a pitch
  if (widthBytes > SIZE_MAX - alignment) return Error::OutOfMemory;
  const size_t row = (widthBytes + alignment - 1) / alignment * alignment;
  size_t total = 0;
  if (__builtin_mul_overflow(row, height, &total) || __builtin_mul_overflow(total, depth, &total))
    return Error::OutOfMemory;
  if (const Error failed = allocate(total, address); failed != Error::Success) return failed;
  pitch = row;
  return Error::Success;
}

Error Context::addForeign(const vk::Memory& memory, uint64_t& address) {
  if (const Error sticky = error(); sticky != Error::Success) return sticky;
  if (Platform::get().memory().overlapping(memory.address, memory.size)) return Error::InvalidValue;
  auto allocation = std::make_shared<Allocation>();
  allocation->memory = memory;
  addAllocation(allocation, MemoryKind::Device, memory.size, 0);
  address = memory.address;
  return Error::Success;
}

Error Context::free(uint64_t address) {
  if (const Error sticky = error(); sticky != Error::Success) return sticky;
  if (const Error unsafe = unsafeDuringCapture(); unsafe != Error::Success) return unsafe;
  if (address == 0) return Error::Success;
  const AllocationRef allocation = Platform::get().memory().find(address);
  if (!allocation || allocation->deviceAddress != address) return Error::InvalidValue;
  if (allocation->kind != MemoryKind::Device && allocation->kind != MemoryKind::Managed) return Error::InvalidValue;
  const ContextRef owner = allocation->context.lock();
  if (!owner) return Error::InvalidValue;
  if (const Error failed = owner->waitIdle(); failed != Error::Success) return failed;
  if (const GraphMemoryRef ofGraph = GraphMemory::find(address)) return ofGraph->free(nullptr, 0);
  owner->releaseMemory(allocation);
  return Error::Success;
}

Error Context::allocateHost(size_t bytes, uint32_t flags, void*& pointer) {
  if (const Error unsafe = unsafeDuringCapture(); unsafe != Error::Success) return unsafe;
  if (bytes == 0) return Error::InvalidValue;
  AllocationRef allocation;
  if (const Error failed = addMemory(MemoryKind::Pinned, vk::MemoryUse::Host, bytes, flags, allocation);
      failed != Error::Success)
    return failed;
  pointer = allocation->memory.host;
  return Error::Success;
}

Error Context::freeHost(void* pointer) {
  if (const Error sticky = error(); sticky != Error::Success) return sticky;
  if (const Error unsafe = unsafeDuringCapture(); unsafe != Error::Success) return unsafe;
  if (!pointer) return Error::Success;
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const AllocationRef allocation = Platform::get().memory().find(address);
  if (!allocation || allocation->kind != MemoryKind::Pinned || allocation->hostAddress != address)
    return Error::InvalidValue;
  const ContextRef owner = allocation->context.lock();
  if (!owner) return Error::InvalidValue;
  if (const Error failed = owner->waitIdle(); failed != Error::Success) return failed;
  owner->releaseMemory(allocation);
  return Error::Success;
}

Error Context::allocateManaged(size_t bytes, uint32_t flags, uint64_t& address) {
  if (const Error unsafe = unsafeDuringCapture(); unsafe != Error::Success) return unsafe;
  if (bytes == 0 || (flags != 1 && flags != 2)) return Error::InvalidValue;  // attach global, attach host
  if (!vulkan_->allocator().hasEqualAddresses()) return Error::NotSupported;
  AllocationRef allocation;
  if (const Error failed = addMemory(MemoryKind::Managed, vk::MemoryUse::Host, bytes, flags, allocation);
      failed != Error::Success)
    return failed;
  if (allocation->hostAddress != allocation->deviceAddress) {
    releaseMemory(allocation);
    return Error::OutOfMemory;
  }
  allocation->advice = std::make_shared<AdviceMap>(bytes);
  address = allocation->deviceAddress;
  return Error::Success;
}

Error Context::registerHost(void* pointer, size_t bytes, uint32_t flags) {
  if (const Error sticky = error(); sticky != Error::Success) return sticky;
  if (const Error unsafe = unsafeDuringCapture(); unsafe != Error::Success) return unsafe;
  if (!pointer || bytes == 0) return Error::InvalidValue;
  if (!vulkan_->allocator().canImportHost()) return Error::NotSupported;
  const auto address = reinterpret_cast<uint64_t>(pointer);
  if (bytes > endOfHost - std::min(address, endOfHost)) return Error::OutOfMemory;
  if (const AllocationRef other = Platform::get().memory().overlapping(address, bytes))
    return other->kind == MemoryKind::Registered ? Error::HostMemoryAlreadyRegistered : Error::InvalidValue;
  auto allocation = std::make_shared<Allocation>();
  if (const vk::Status status = vulkan_->allocator().importHost(pointer, bytes, allocation->memory);
      status != vk::Status::Ok)
    return status == vk::Status::OutOfMemory ? Error::OutOfMemory : Error::InvalidValue;
  allocation->hostAddress = address;
  addAllocation(allocation, MemoryKind::Registered, bytes, flags);
  return Error::Success;
}

Error Context::unregisterHost(void* pointer) {
  if (const Error sticky = error(); sticky != Error::Success) return sticky;
  if (const Error unsafe = unsafeDuringCapture(); unsafe != Error::Success) return unsafe;
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const AllocationRef allocation = Platform::get().memory().find(address);
  if (!allocation) return Error::HostMemoryNotRegistered;
  if (allocation->kind != MemoryKind::Registered || allocation->hostAddress != address) return Error::InvalidValue;
  const ContextRef owner = allocation->context.lock();
  if (!owner) return Error::InvalidValue;
  if (const Error failed = owner->waitIdle(); failed != Error::Success) return failed;
  owner->releaseMemory(allocation);
  return Error::Success;
}

Error Context::hostToDevicePointer(void* pointer, uint64_t& address) {
  const auto host = reinterpret_cast<uint64_t>(pointer);
  const AllocationRef allocation = Platform::get().memory().find(host);
  if (!allocation || !allocation->isHostVisible()) return Error::InvalidValue;
  address = allocation->deviceAddress + allocation->offsetOf(host);
  return Error::Success;
}

void Context::memoryInfo(size_t& freeBytes, size_t& totalBytes) const {
  uint64_t available = 0, total = 0;
  vulkan_->allocator().usage(available, total);
  freeBytes = available;
  totalBytes = total;
}

Error Context::readMemory(uint64_t address, void* out, size_t bytes) {
  const AllocationRef allocation = Platform::get().memory().find(address, bytes);
  if (!allocation) return Error::InvalidValue;
  const uint64_t offset = allocation->offsetOf(address);
  if (allocation->memory.host) {
    std::memcpy(out, static_cast<const char*>(allocation->memory.host) + offset, bytes);
    return Error::Success;
  }
  vk::Memory staging;
  if (const vk::Status status = vulkan_->allocator().allocate(vk::MemoryUse::Staging, bytes, staging);
      status != vk::Status::Ok)
    return errorFrom(status);
  vk::Queue& queue = vulkan_->queue(0);
  vk::Position position(queue);
  vk::Status status = queue.record(position, [&](vk::Commands& commands) {
    commands.copy({staging.address, allocation->deviceAddress + offset, bytes});
    commands.makeVisibleToHost();
    return vk::Status::Ok;
  });
  if (status == vk::Status::Ok) status = queue.wait(position.last.value, vk::WaitMode::Auto);
  if (status == vk::Status::Ok) std::memcpy(out, staging.host, bytes);
  vulkan_->allocator().free(staging);
  return errorFrom(status);
}

Error Context::writeMemory(uint64_t address, const void* data, size_t bytes) {
  const AllocationRef allocation = Platform::get().memory().find(address, bytes);
  if (!allocation) return Error::InvalidValue;
  const uint64_t offset = allocation->offsetOf(address);
  if (allocation->memory.host) {
    std::memcpy(static_cast<char*>(allocation->memory.host) + offset, data, bytes);
    return Error::Success;
  }
  vk::Queue& queue = vulkan_->queue(0);
  vk::Position position(queue);
  vk::Status status = queue.record(position, [&](vk::Commands& commands) {
    void* host = nullptr;
    uint64_t source = 0;
    if (const auto uploaded = commands.upload(bytes, host, source); uploaded != vk::Status::Ok) return uploaded;
    std::memcpy(host, data, bytes);
    commands.copy({allocation->deviceAddress + offset, source, bytes});
    return vk::Status::Ok;
  });
  if (status == vk::Status::Ok) status = queue.wait(position.last.value, vk::WaitMode::Auto);
  return errorFrom(status);
}

void Context::readString(uint64_t address, std::string& out) {
  out.clear();
  constexpr size_t most = 1u << 16;
  while (out.size() < most) {
    const AllocationRef allocation = Platform::get().memory().find(address + out.size());
    if (!allocation) return;
    char piece[256];
    const uint64_t left = allocation->size - allocation->offsetOf(address + out.size());
    const size_t bytes = std::min<uint64_t>(sizeof(piece), left);
    if (readMemory(address + out.size(), piece, bytes) != Error::Success) return;
    const size_t length = strnlen(piece, bytes);
    out.append(piece, length);
    if (length < bytes) return;
  }
}

// Streams

vk::Queue& Context::nextQueue() { return vulkan_->queue(queuesGiven_++); }

Error Context::createStream(uint32_t flags, int priority, Stream*& out) {
  if (const Error sticky = error(); sticky != Error::Success) return sticky;
  if (flags > Stream::NonBlocking) return Error::InvalidValue;
  out = streams_.add(std::make_shared<Stream>(*this, Stream::Role::Ordinary, flags, priority, nextQueue()));
  return Error::Success;
}

Error Context::destroyStream(Stream* stream) {
  const StreamRef held = streams_.find(stream);
  if (!held) return Error::InvalidHandle;
  Capture::abandon(*held);
  if (const Error failed = retire(*held); failed != Error::Success) return failed;
  return streams_.remove(stream) ? Error::Success : Error::InvalidHandle;
}

// The legacy stream finds what it must come after by looking at the streams. It has to come after this one when that
// is no longer among them, and is told so before: no work of it may slip in between.
Error Context::retire(Stream& stream) {
  if (!stream.isBlocking()) return Error::Success;
  std::shared_ptr<Marker> marker;
  if (const Error failed = stream.mark(Precision::Loose, marker); failed != Error::Success) return failed;
  legacyStream_->follow(marker);
  return Error::Success;
}

Error Context::stream(uintptr_t handle, bool perThreadDefault, StreamRef& out) {
  if (handle == 0) handle = perThreadDefault ? perThreadStreamHandle : legacyStreamHandle;
  if (handle == legacyStreamHandle) {
    out = legacyStream_;
    return Error::Success;
  }
  if (handle == perThreadStreamHandle) return perThreadStream(out);
  out = streams_.find(reinterpret_cast<Stream*>(handle));
  if (!out) return destroyed_.load() ? Error::ContextIsDestroyed : Error::InvalidHandle;
  return Error::Success;
}

Error Context::perThreadStream(StreamRef& out) {
  const std::thread::id thread = std::this_thread::get_id();
  {
    std::shared_lock lock(mutex_);
    const auto found = perThread_.find(thread);
    if (found != perThread_.end()) {
      out = found->second;
      return Error::Success;
    }
  }
  if (const Error sticky = error(); sticky != Error::Success) return sticky;
  watchThreadEnd();
  std::unique_lock lock(mutex_);
  out = std::make_shared<Stream>(*this, Stream::Role::Ordinary, Stream::Default, 0, nextQueue());
  perThread_.emplace(thread, out);
  return Error::Success;
}

void Context::endThread() {
  const std::thread::id thread = std::this_thread::get_id();
  StreamRef stream;
  {
    std::shared_lock lock(mutex_);
    const auto found = perThread_.find(thread);
    if (found == perThread_.end()) return;
    stream = found->second;
  }
  Capture::abandon(*stream);
  (void)retire(*stream);  // fails when the device is lost: then there is nothing to come after
  std::unique_lock lock(mutex_);
  perThread_.erase(thread);
}

std::vector<StreamRef> Context::streams() const {
  std::vector<StreamRef> all = streams_.all();
  std::shared_lock lock(mutex_);
  for (const auto& [thread, stream] : perThread_) all.push_back(stream);
  return all;
}

// Events

Error Context::createEvent(uint32_t flags, Event*& out) {
  if (const Error sticky = error(); sticky != Error::Success) return sticky;
  if ((flags & ~7u) != 0) return Error::InvalidValue;
  // One for other processes serves this one as well; asking for its handle is what is refused.
  if ((flags & Event::Interprocess) != 0 && (flags & Event::DisableTiming) == 0) return Error::InvalidValue;
  out = events_.add(std::make_shared<Event>(shared_from_this(), flags));
  return Error::Success;
}

Error Context::destroyEvent(Event* event) { return events_.remove(event) ? Error::Success : Error::InvalidHandle; }

Error Context::event(Event* handle, EventRef& out) const {
  out = events_.find(handle);
  return out ? Error::Success : Error::InvalidHandle;
}

// Modules

Error Context::loadModule(const std::vector<PtxSource>& sources, JitLog* log, Module*& out) {
  if (const Error sticky = error(); sticky != Error::Success) return sticky;
  ModuleRef module;
  if (const Error failed = Module::load(*this, sources, log, module); failed != Error::Success) return failed;
  out = modules_.add(std::move(module));
  return Error::Success;
}

Error Context::unloadModule(Module* module) {
  if (const Error unsafe = unsafeDuringCapture(); unsafe != Error::Success) return unsafe;
  if (!modules_.find(module)) return Error::InvalidHandle;
  if (const Error failed = waitIdle(); failed != Error::Success) return failed;
  (void)services_->afterWait();  // prints what its kernels printed, while their strings are there
  return modules_.remove(module) ? Error::Success : Error::InvalidHandle;
}

Error Context::module(Module* handle, ModuleRef& out) const {
  out = modules_.find(handle);
  return out ? Error::Success : Error::InvalidHandle;
}

std::vector<ModuleRef> Context::modules() const { return modules_.all(); }

// Limits

Error Context::limit(Limit limit, size_t& value) const {
  const auto index = static_cast<size_t>(limit);
  if (index >= limits_.size()) return Error::InvalidValue;
  if (limit == Limit::DeviceRuntimeSyncDepth) return Error::UnsupportedLimit;
  std::shared_lock lock(mutex_);
  value = limit == Limit::SharedMemorySize ? device_.shape().sharedPerBlockOptin : limits_[index];
  return Error::Success;
}

Error Context::setLimit(Limit limit, size_t value) {
  if (const Error unsafe = unsafeDuringCapture(); unsafe != Error::Success) return unsafe;
  const auto index = static_cast<size_t>(limit);
  if (index >= limits_.size()) return Error::InvalidValue;
  switch (limit) {
    case Limit::StackSize:
      if (value > mostStackBytes) return Error::InvalidValue;
      value = (value + stackUnit - 1) / stackUnit * stackUnit;
      break;
    case Limit::PrintfFifoSize:
      value = std::max(value, leastPrintfBytes);
      if (const Error failed = services_->setPrintfBytes(value); failed != Error::Success) return failed;
      break;
    case Limit::MallocHeapSize:
      value = std::max(value, leastHeapBytes);
      if (const Error failed = services_->setHeapBytes(value); failed != Error::Success) return failed;
      break;
    case Limit::DeviceRuntimeSyncDepth: return Error::UnsupportedLimit;
    case Limit::DeviceRuntimePendingLaunchCount: value = std::max(value, leastPendingLaunches); break;
    case Limit::MaxL2FetchGranularity:
      if (value > 128) return Error::InvalidValue;
      break;
    case Limit::SharedMemorySize:
    case Limit::Cigs: return Error::NotPermitted;  // what only contexts shared with graphics have
    default: break;
  }
  std::unique_lock lock(mutex_);
  limits_[index] = value;
  return Error::Success;
}

}  // namespace mulciber::core
