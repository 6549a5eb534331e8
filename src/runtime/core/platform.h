// The process's view of CUDA: its devices, and the contexts current to each thread. Never destroyed, so that calls
// from static destructors and exit handlers find it alive.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/core/context.h"
#include "runtime/core/device.h"
#include "runtime/core/error.h"
#include "runtime/core/memory_map.h"

namespace mulciber::core {

class Platform {
 public:
  static Platform& get();

  // Loads Vulkan and finds the devices, once. NoDevice when there is none, with one sentence in the log saying why;
  // NotInitialized in a forked child.
  Error initialize();
  bool isInitialized() const;

  const std::vector<std::unique_ptr<Device>>& devices() const { return devices_; }
  Device* device(int ordinal) const;  // null when there is none

  MemoryMap& memory() { return memory_; }

  // Every context there is.
  void remember(const ContextRef& context);
  std::vector<ContextRef> contexts() const;
  ContextRef context(const Context* handle) const;  // null when there is none

 private:
  Platform();
  std::mutex mutex_;
  mutable std::mutex contextsMutex_;
  std::map<const Context*, std::weak_ptr<Context>> contexts_;
  std::atomic<bool> ready_{false};
  bool tried_ = false;
  Error result_ = Error::NotInitialized;
  std::vector<std::unique_ptr<Device>> devices_;
  MemoryMap memory_;
};

// The stack of contexts of the calling thread. A destroyed context stays on it and makes calls fail with
// ContextIsDestroyed, as CUDA has it.
ContextRef currentContext();                  // null when there is none
bool isOtherCurrent(const Context& context);  // there is one, and it is another
Error currentContext(ContextRef& out);  // InvalidContext when there is none; the context's sticky error when it has one
// The addresses that the calling thread means: those of its current context's device, or else the process's.
MemoryMap& currentMemory();
void setCurrentContext(ContextRef context);
void pushContext(ContextRef context);
Error popContext(ContextRef& out);

// When the calling thread ends, every context is told (Context::endThread).
void watchThreadEnd();

// Streams, events, modules, arrays and the like by their handles, whatever context is current: the thread's own is
// looked at first.
Error findStream(uintptr_t handle, StreamRef& out);
Error findEvent(Event* handle, EventRef& out);
Error findModule(Module* handle, ModuleRef& out);
Error findArray(Array* handle, ArrayRef& out);
Error findTextureReference(TextureReference* handle, TextureReferenceRef& out);
Error findSurfaceReference(SurfaceReference* handle, SurfaceReferenceRef& out);
Error findMipmappedArray(MipmappedArray* handle, MipmappedArrayRef& out);
Error findExternalMemory(ExternalMemory* handle, std::shared_ptr<ExternalMemory>& out);
Error findGraphicsResource(GraphicsResource* handle, std::shared_ptr<GraphicsResource>& out);
Error findExternalSemaphore(ExternalSemaphore* handle, std::shared_ptr<ExternalSemaphore>& out);

// Memory of whatever context, current or not.
Error freeAnywhere(uint64_t address);
Error freeHostAnywhere(void* pointer);

// What the runtime API does before everything else: the primary context of the thread's device, made if need be, is
// made current unless the thread has a context already.
Error ensureRuntimeContext(ContextRef& out);
int runtimeDevice();                  // cudaGetDevice; 0 at first
Error setRuntimeDevice(int ordinal);  // cudaSetDevice: also makes the primary context current

}  // namespace mulciber::core
