#include "runtime/core/platform.h"

#include <pthread.h>
#include <strings.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <tuple>
#include "runtime/core/capture.h"

#include <fmt/format.h>

#include "runtime/core/shader_cache.h"
#include "runtime/vk/instance.h"
#include "util/environment.h"
#include "util/exit_gate.h"
#include "util/log.h"

namespace mulciber::core {

namespace {

std::atomic<bool> isForkedChild{false};

struct ThreadState {
  std::vector<ContextRef> stack;
  int device = 0;
};

thread_local ThreadState* threadState = nullptr;

// Called when a thread returns, after its C++ objects are gone and never by exit(): exit handlers and static
// destructors still find the state of their thread. What calls in even later gets a new state.
void endThread(void* state) {
  threadState = nullptr;
  if (util::Inside inside; inside && !isForkedChild.load())
    for (const ContextRef& context : Platform::get().contexts()) context->endThread();
  delete static_cast<ThreadState*>(state);
}

ThreadState& thread() {
  static const pthread_key_t key = [] {
    pthread_key_t made = 0;
    return pthread_key_create(&made, endThread) == 0 ? made : pthread_key_t(-1);
  }();
  if (!threadState) {
    threadState = new ThreadState;
    (void)pthread_setspecific(key, threadState);
  }
  return *threadState;
}

// As CUDA prints UUIDs: "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6".
std::string uuidText(const vk::PhysicalDevice& physical) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    text += fmt::format("{:02x}", physical.properties11.deviceUUID[i]);
    if (i == 3 || i == 5 || i == 7 || i == 9) text += '-';
  }
  return text;
}

// ENV-01: numbers, or the beginnings of UUIDs. The first item that names no device ends the list, as CUDA does it: an
// empty one too, and one of the other kind. Behind a number may stand what is no part of it. Naming a device twice is
// an error.
Error visibleDevices(std::vector<const vk::PhysicalDevice*>& visible) {
  std::vector<const vk::PhysicalDevice*> all;
  for (const auto& device : vk::Instance::get().devices()) all.push_back(device.get());
  if (util::environment().deviceOrder == "PCI_BUS_ID") {  // ENV-02
    const auto place = [](const vk::PhysicalDevice* device) {
      return std::tuple(device->pci.pciDomain, device->pci.pciBus, device->pci.pciDevice, device->pci.pciFunction);
    };
    std::ranges::stable_sort(all, {}, place);
  }
  if (!std::getenv("CUDA_VISIBLE_DEVICES")) {
    visible = std::move(all);
    return Error::Success;
  }
  std::string_view list = util::environment().visibleDevices;
  const bool isOfUuids = list.substr(0, 4) == "GPU-";
  for (bool isLast = false; !isLast;) {
    const size_t comma = list.find(',');
    isLast = comma == list.npos;
    const std::string item(list.substr(0, comma));
    if (!isLast) list.remove_prefix(comma + 1);
    const vk::PhysicalDevice* found = nullptr;
    if (isOfUuids) {
      const auto matches = [&](const auto* device) {
        return item.size() > 4 && strncasecmp(uuidText(*device).c_str() + 4, item.c_str() + 4, item.size() - 4) == 0;
      };
      if (item.substr(0, 4) == "GPU-" && std::ranges::count_if(all, matches) == 1)
        found = *std::ranges::find_if(all, matches);
    } else {
      char* end = nullptr;
      const long number = std::strtol(item.c_str(), &end, 10);
      if (end != item.c_str() && number >= 0 && static_cast<size_t>(number) < all.size())
        found = all[static_cast<size_t>(number)];
    }
    if (!found) break;
    if (std::ranges::find(visible, found) != visible.end()) {
      util::log().error("CUDA_VISIBLE_DEVICES names a device twice");
      visible.clear();
      return Error::InvalidDevice;
    }
    visible.push_back(found);
  }
  return Error::Success;
}

}  // namespace

Platform& Platform::get() {
  static Platform& platform = *new Platform;
  return platform;
}

Platform::Platform() {
  pthread_atfork(nullptr, nullptr, [] {
    isForkedChild.store(true);
    util::forgetOtherThreads();
  });
}

bool Platform::isInitialized() const { return ready_.load(std::memory_order_acquire) && !isForkedChild.load(); }

Error Platform::initialize() {
  if (isForkedChild.load(std::memory_order_relaxed)) return Error::NotInitialized;
  if (ready_.load(std::memory_order_acquire)) return Error::Success;
  std::lock_guard lock(mutex_);
  if (!tried_) {
    tried_ = true;
    std::vector<const vk::PhysicalDevice*> visible;
    result_ = visibleDevices(visible);
    for (const vk::PhysicalDevice* physical : visible)
      devices_.push_back(std::make_unique<Device>(static_cast<int>(devices_.size()), *physical, ShaderCache::get()));
    if (result_ == Error::Success && devices_.empty()) {
      result_ = Error::NoDevice;
      const std::string& problem = vk::Instance::get().problem();
      util::log().error("{}", problem.empty() ? "CUDA_VISIBLE_DEVICES leaves no device" : problem);
    } else if (result_ == Error::Success) {
      util::watchExit();
      ready_.store(true, std::memory_order_release);
    }
  }
  return result_;
}

Device* Platform::device(int ordinal) const {
  if (ordinal < 0 || static_cast<size_t>(ordinal) >= devices_.size()) return nullptr;
  return devices_[static_cast<size_t>(ordinal)].get();
}

void Platform::remember(const ContextRef& context) {
  std::lock_guard lock(contextsMutex_);
  std::erase_if(contexts_, [](const auto& held) { return held.second.expired(); });
  contexts_.emplace(context.get(), context);
}

std::vector<ContextRef> Platform::contexts() const {
  std::vector<ContextRef> all;
  std::lock_guard lock(contextsMutex_);
  for (const auto& [handle, held] : contexts_)
    if (ContextRef context = held.lock()) all.push_back(std::move(context));
  return all;
}

ContextRef Platform::context(const Context* handle) const {
  std::lock_guard lock(contextsMutex_);
  const auto found = contexts_.find(handle);
  return found == contexts_.end() ? nullptr : found->second.lock();
}

void watchThreadEnd() { (void)thread(); }

ContextRef currentContext() {
  const ThreadState& state = thread();
  return state.stack.empty() ? nullptr : state.stack.back();
}

bool isOtherCurrent(const Context& context) {
  const ThreadState& state = thread();
  return !state.stack.empty() && state.stack.back() && state.stack.back().get() != &context;
}

MemoryMap& currentMemory() {
  const ThreadState& state = thread();
  const bool hasContext = !state.stack.empty() && state.stack.back();
  return hasContext ? state.stack.back()->device().memory() : Platform::get().memory();
}

Error currentContext(ContextRef& out) {
  if (!Platform::get().isInitialized()) return Error::NotInitialized;
  const ThreadState& state = thread();
  if (state.stack.empty() || !state.stack.back()) return Error::InvalidContext;
  out = state.stack.back();
  return out->error();
}

void setCurrentContext(ContextRef context) {
  ThreadState& state = thread();
  if (!state.stack.empty()) state.stack.pop_back();
  if (context) state.stack.push_back(std::move(context));
}

namespace {

// `look` asks one context for the handle.
template <typename Look>
Error findInContexts(Look&& look) {
  if (!Platform::get().isInitialized()) return Error::NotInitialized;
  const ThreadState& state = thread();
  Context* const current = state.stack.empty() ? nullptr : state.stack.back().get();  // the stack keeps it
  const Error error = current ? look(*current) : Error::InvalidHandle;
  if (error == Error::Success) return current->error();
  for (const ContextRef& context : Platform::get().contexts())
    if (context.get() != current && look(*context) == Error::Success) return context->error();
  return error;
}

}  // namespace

Error findStream(uintptr_t handle, StreamRef& out) {
  return findInContexts([&](Context& context) { return context.stream(handle, false, out); });
}

Error findEvent(Event* handle, EventRef& out) {
  return findInContexts([&](Context& context) { return context.event(handle, out); });
}

Error findModule(Module* handle, ModuleRef& out) {
  return findInContexts([&](Context& context) { return context.module(handle, out); });
}

namespace {

template <class T>
Error findIn(const HandleTable<T>& table, T* handle, std::shared_ptr<T>& out) {
  out = table.find(handle);
  return out ? Error::Success : Error::InvalidHandle;
}

}  // namespace

Error findArray(Array* handle, ArrayRef& out) {
  return findInContexts([&](Context& context) { return findIn(context.arrays(), handle, out); });
}

Error findMipmappedArray(MipmappedArray* handle, MipmappedArrayRef& out) {
  return findInContexts([&](Context& context) { return findIn(context.mipmappedArrays(), handle, out); });
}

Error findExternalMemory(ExternalMemory* handle, std::shared_ptr<ExternalMemory>& out) {
  return findInContexts([&](Context& context) { return findIn(context.externalMemory(), handle, out); });
}

Error findGraphicsResource(GraphicsResource* handle, std::shared_ptr<GraphicsResource>& out) {
  return findInContexts([&](Context& context) { return findIn(context.graphicsResources(), handle, out); });
}

Error findExternalSemaphore(ExternalSemaphore* handle, std::shared_ptr<ExternalSemaphore>& out) {
  return findInContexts([&](Context& context) { return findIn(context.externalSemaphores(), handle, out); });
}

Error findTextureReference(TextureReference* handle, TextureReferenceRef& out) {
  return findInContexts([&](Context& context) { return findIn(context.textureReferences(), handle, out); });
}

Error findSurfaceReference(SurfaceReference* handle, SurfaceReferenceRef& out) {
  return findInContexts([&](Context& context) { return findIn(context.surfaceReferences(), handle, out); });
}

void pushContext(ContextRef context) { thread().stack.push_back(std::move(context)); }

Error popContext(ContextRef& out) {
  ThreadState& state = thread();
  if (state.stack.empty()) return Error::InvalidContext;
  out = std::move(state.stack.back());
  state.stack.pop_back();
  return Error::Success;
}

namespace {

// The context an address belongs to.
Error ownerOf(uint64_t address, ContextRef& out) {
  const AllocationRef allocation = currentMemory().find(address);
  out = allocation ? allocation->context.lock() : currentContext();
  return out ? Error::Success : allocation ? Error::InvalidValue : Error::InvalidContext;
}

}  // namespace

Error freeAnywhere(uint64_t address) {
  TRY(unsafeDuringCapture());
  if (address == 0) return Error::Success;
  ContextRef owner;
  TRY(ownerOf(address, owner));
  return owner->free(address);
}

Error freeHostAnywhere(void* pointer) {
  TRY(unsafeDuringCapture());
  if (!pointer) return Error::Success;
  ContextRef owner;
  TRY(ownerOf(reinterpret_cast<uint64_t>(pointer), owner));
  return owner->freeHost(pointer);
}

int runtimeDevice() {
  const ContextRef context = currentContext();
  return context ? context->device().ordinal() : thread().device;
}

Error ensureRuntimeContext(ContextRef& out) {
  if (isForkedChild.load(std::memory_order_relaxed)) return Error::NotInitialized;
  ThreadState& state = thread();
  if (!state.stack.empty() && state.stack.back()) {
    out = state.stack.back();
    const Error error = out->error();
    // After cudaDeviceReset the next call starts anew.
    if (error != Error::ContextIsDestroyed) return error;
    state.stack.pop_back();
    state.device = out->device().ordinal();
  }
  TRY(Platform::get().initialize());
  Device* device = Platform::get().device(state.device);
  if (!device) return Error::InvalidDevice;
  TRY(device->holdPrimary(out));
  state.stack.push_back(out);
  return out->error();
}

Error setRuntimeDevice(int ordinal) {
  TRY(Platform::get().initialize());
  Device* device = Platform::get().device(ordinal);
  if (!device) return Error::InvalidDevice;
  thread().device = ordinal;
  ContextRef context;
  TRY(device->holdPrimary(context));
  setCurrentContext(context);
  return Error::Success;
}

}  // namespace mulciber::core
