#include "runtime/core/context.h"

#include <algorithm>
#include <cstring>

#include "runtime/core/array.h"
#include "runtime/core/capture.h"
#include "runtime/core/device.h"
#include "runtime/core/external.h"
#include "runtime/core/graph.h"
#include "runtime/core/graphics.h"
#include "runtime/core/kernel_services.h"
#include "runtime/core/managed_advice.h"
#include "runtime/core/memory_pool.h"
#include "runtime/core/module.h"
#include "runtime/core/pipelines_ahead.h"
#include "runtime/core/platform.h"
#include "runtime/core/shader_cache.h"
#include "runtime/core/stream_order.h"
#include "runtime/core/texture_table.h"
#include "runtime/core/worker.h"
#include "runtime/vk/device.h"

namespace mulciber::core {

namespace {

std::atomic<uint64_t> nextContextId{1};

constexpr std::array<size_t, 9> defaultLimits = {1024, KernelServices::defaultPrintfBytes, 8u << 20, 2, 2048, 64, 0, 0,
                                                 0};
constexpr size_t mostStackBytes = 512u << 10, stackUnit = 16;
constexpr size_t leastPrintfBytes = 512u << 10, leastHeapBytes = 4u << 20, leastPendingLaunches = 32;

enum ScheduleFlag : uint32_t { ScheduleSpin = 1, ScheduleYield = 2, ScheduleBlocking = 4 };

}  // namespace

Context::Context(Device& device, std::shared_ptr<vk::Device> vulkan, uint32_t flags)
    : device_(device),
      vulkan_(std::move(vulkan)),
      id_(nextContextId.fetch_add(1)),
      profileHashes_{ShaderCache::hash(toJson(profileOf(*this, false))),
                     ShaderCache::hash(toJson(profileOf(*this, true)))},
      flags_(flags),
      limits_(defaultLimits),
      order_(std::make_unique<StreamOrder>(*this)),
      worker_(std::make_unique<Worker>()),
      textures_(std::make_unique<TextureTable>(*this)),
      pipelinesAhead_(std::make_unique<PipelinesAhead>(*this)) {}

Context::~Context() { destroy(); }

bool Context::mayStartThreads() const { return !vulkan_->adopted() || vulkan_->adopted()->mayStartThreads; }

Error Context::create(Device& device, uint32_t flags, ContextRef& out) {
  std::shared_ptr<vk::Device> vulkan;
  TRY(device.open(vulkan));
  ContextRef context(new Context(device, std::move(vulkan), flags));
  TRY(context->create());
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
  pipelinesAhead_->stop();
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
  graphicsResources_.clear();
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
    device_.memory().remove(*allocation);
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

Error Context::errorAfter(vk::Status status) {
  const Error error = errorFrom(status);
  if (status == vk::Status::DeviceLost) setError(error);
  return error;
}

vk::WaitMode Context::waitMode() const {
  const uint32_t flags = flags_.load(std::memory_order_relaxed);
  if ((flags & ScheduleSpin) != 0) return vk::WaitMode::Spin;
  if ((flags & ScheduleYield) != 0) return vk::WaitMode::Yield;
  return (flags & ScheduleBlocking) != 0 ? vk::WaitMode::Block : vk::WaitMode::Auto;
}

Error Context::waitIdle() {
  worker_->waitIdle();
  TRY(waitForQueues());
  (void)textures_->retire();
  return Error::Success;
}

Error Context::waitForQueues() {
  for (const auto& queue : vulkan_->queues())
    if (const vk::Status status = queue->waitIdle(waitMode()); status != vk::Status::Ok) {
      setError(errorFrom(status));
      return errorFrom(status);
    }
  return Error::Success;
}

Error Context::synchronize() {
  TRY(error());
  Error refused = Error::Success;
  for (const StreamRef& stream : streams())
    if (const Error error = stream->refuseInCapture(); error != Error::Success) refused = error;
  if (refused != Error::Success) return refused;
  TRY(waitIdle());
  device_.trimPools();
  return services_->afterWait();
}

// Streams

vk::Queue& Context::nextQueue() { return vulkan_->queue(queuesGiven_++); }

Error Context::createStream(uint32_t flags, int priority, Stream*& out) {
  TRY(error());
  if (flags > Stream::NonBlocking) return Error::InvalidValue;
  out = streams_.add(std::make_shared<Stream>(*this, Stream::Role::Ordinary, flags, priority, nextQueue()));
  return Error::Success;
}

Error Context::destroyStream(Stream* stream) {
  const StreamRef held = streams_.find(stream);
  if (!held) return Error::InvalidHandle;
  Capture::abandon(*held);
  TRY(retire(*held));
  return streams_.remove(stream) ? Error::Success : Error::InvalidHandle;
}

// The legacy stream finds what it must come after by looking at the streams. It has to come after this one when that
// is no longer among them, and is told so before: no work of it may slip in between.
Error Context::retire(Stream& stream) {
  if (!stream.isBlocking()) return Error::Success;
  std::shared_ptr<Marker> marker;
  TRY(stream.mark(Precision::Loose, marker));
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
  TRY(error());
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
  TRY(error());
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
  TRY(error());
  ModuleRef module;
  TRY(Module::load(*this, sources, log, module));
  out = modules_.add(std::move(module));
  return Error::Success;
}

Error Context::unloadModule(Module* module) {
  TRY(unsafeDuringCapture());
  if (!modules_.find(module)) return Error::InvalidHandle;
  TRY(waitIdle());
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
  TRY(unsafeDuringCapture());
  const auto index = static_cast<size_t>(limit);
  if (index >= limits_.size()) return Error::InvalidValue;
  switch (limit) {
    case Limit::StackSize:
      if (value > mostStackBytes) return Error::InvalidValue;
      value = (value + stackUnit - 1) / stackUnit * stackUnit;
      break;
    case Limit::PrintfFifoSize:
      value = std::max(value, leastPrintfBytes);
      TRY(services_->setPrintfBytes(value));
      break;
    case Limit::MallocHeapSize:
      value = std::max(value, leastHeapBytes);
      TRY(services_->setHeapBytes(value));
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
