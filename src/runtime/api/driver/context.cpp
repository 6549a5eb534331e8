#include <map>
#include <mutex>

#include "runtime/api/driver/driver.h"

namespace mulciber::api {

namespace {

// Never destroyed: programs call from exit handlers.
struct Contexts {
  std::mutex mutex;
  std::map<const core::Context*, core::ContextRef> made;  // by programs, which destroy them
  std::map<uint64_t, unsigned> attached;                  // how often, by the contexts' numbers
};
Contexts& contexts() {
  static auto* const all = new Contexts;
  return *all;
}

}  // namespace

// Devices hold their primary contexts, engines theirs. A destroyed one is no context to any thread but those where it
// is current.
core::ContextRef contextOf(CUcontext handle) {
  core::ContextRef context = core::Platform::get().context(reinterpret_cast<core::Context*>(handle));
  const bool isThere = context && (context->error() != Error::ContextIsDestroyed || context == core::currentContext());
  return isThere ? context : nullptr;
}

namespace {

// `create` with what the newer forms of cuCtxCreate add: execution affinity and green contexts are not offered.
CUresult createContext(CUcontext* out, unsigned int flags, CUdevice ordinal, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withDevice(ordinal, [&](core::Device& device) {
    if (!out || (flags & ~CU_CTX_FLAGS_MASK)) return Error::InvalidValue;
    core::ContextRef context;
    TRY(device.createContext(flags, context));
    core::pushContext(context);
    *out = handleOf(context);
    std::lock_guard lock(contexts().mutex);
    contexts().made.emplace(context.get(), std::move(context));
    return Error::Success;
  });
}

}  // namespace
}  // namespace mulciber::api

using namespace mulciber::api;
namespace core = mulciber::core;

CUDA_API(CUresult, cuCtxCreate_v2)(CUcontext* out, unsigned int flags, CUdevice device) {
  return createContext(out, flags, device);
}

CUDA_API(CUresult, cuCtxCreate_v3)
(CUcontext* out, CUexecAffinityParam* parameters, int count, unsigned int flags, CUdevice device) {
  if (!parameters && count != 0) return CUDA_ERROR_INVALID_VALUE;
  if (parameters) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  return createContext(out, flags, device);
}

CUDA_API(CUresult, cuCtxCreate_v4)(CUcontext* out, CUctxCreateParams* parameters, unsigned int flags, CUdevice device) {
  if (parameters && parameters->numExecAffinityParams != 0) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  if (parameters && parameters->cigParams) return CUDA_ERROR_NOT_SUPPORTED;
  return createContext(out, flags, device);
}

CUDA_API(CUresult, cuCtxDestroy_v2)(CUcontext handle) {
  return withDriver([&] {
    if (!handle) return Error::InvalidValue;
    core::ContextRef context = contextOf(handle);
    if (!context || context == context->device().activePrimary()) return Error::InvalidContext;
    if (context->device().isAdopted()) return Error::InvalidContext;  // the engine's to destroy
    if (core::ContextRef current = core::currentContext(); current == context) {
      core::ContextRef popped;
      TRY(core::popContext(popped));
    }
    context->destroy();
    std::lock_guard lock(contexts().mutex);
    contexts().made.erase(context.get());
    contexts().attached.erase(context->id());
    return Error::Success;
  });
}

// DRV-05: counts of uses, from before CUDA 4. The last one destroys the context.
CUDA_API(CUresult, cuCtxAttach)(CUcontext* out, unsigned int flags) {
  return withDriver([&] {
    if (!out || flags != 0) return Error::InvalidValue;
    const core::ContextRef current = core::currentContext();
    if (!current) return Error::InvalidContext;
    std::lock_guard lock(contexts().mutex);
    ++contexts().attached[current->id()];
    *out = handleOf(current);
    return Error::Success;
  });
}

CUDA_API(CUresult, cuCtxDetach)(CUcontext handle) {
  const auto isUsedOn = [](const core::Context& context) {
    std::lock_guard lock(contexts().mutex);
    const auto uses = contexts().attached.find(context.id());
    if (uses == contexts().attached.end() || uses->second == 0) return false;
    --uses->second;
    return true;
  };
  bool isLast = false;
  const CUresult error = withDriver([&] {
    const core::ContextRef current = core::currentContext();
    if (!current || handleOf(current) != handle) return Error::InvalidContext;
    // A primary context ends with its own count.
    isLast = !isUsedOn(*current) && current != current->device().activePrimary();
    return Error::Success;
  });
  return isLast ? cuCtxDestroy_v2(handle) : error;
}

CUDA_API(CUresult, cuCtxPushCurrent_v2)(CUcontext handle) {
  return withDriver([&] {
    if (!handle) return Error::InvalidValue;
    core::ContextRef context = contextOf(handle);
    if (!context) return Error::InvalidContext;
    core::pushContext(context);
    return Error::Success;
  });
}

CUDA_API(CUresult, cuCtxPopCurrent_v2)(CUcontext* out) {
  return withDriver([&] {
    core::ContextRef context;
    TRY(core::popContext(context));
    if (out) *out = handleOf(context);
    return Error::Success;
  });
}

CUDA_API(CUresult, cuCtxSetCurrent)(CUcontext handle) {
  return withDriver([&] {
    core::ContextRef context;
    if (handle && !(context = contextOf(handle))) return Error::InvalidContext;
    core::setCurrentContext(context);
    return Error::Success;
  });
}

CUDA_API(CUresult, cuCtxGetCurrent)(CUcontext* out) {
  return withDriver([&] {
    if (!out) return Error::InvalidValue;
    *out = handleOf(core::currentContext());
    return Error::Success;
  });
}

CUDA_API(CUresult, cuCtxGetDevice_v2)(CUdevice* out, CUcontext handle) {
  return withDriver([&] {
    const core::ContextRef context = handle ? contextOf(handle) : core::currentContext();
    if (!context) return Error::InvalidContext;
    if (!out) return Error::InvalidValue;
    *out = context->device().ordinal();
    return Error::Success;
  });
}

CUDA_API(CUresult, cuCtxGetDevice)(CUdevice* out) { return cuCtxGetDevice_v2(out, nullptr); }

CUDA_API(CUresult, cuCtxGetFlags)(unsigned int* out) {
  return withContext([&](core::Context& context) {
    if (!out) return Error::InvalidValue;
    *out = context.flags();
    if (core::currentContext() == context.device().activePrimary()) *out |= CU_CTX_MAP_HOST;
    return Error::Success;
  });
}

CUDA_API(CUresult, cuCtxSetFlags)(unsigned int flags) {
  return withContext([&](core::Context& context) {
    if (!core::Device::areContextFlags(flags)) return Error::InvalidValue;
    context.setFlags(flags | (context.flags() & CU_CTX_MAP_HOST));
    return Error::Success;
  });
}

CUDA_API(CUresult, cuCtxGetId)(CUcontext handle, unsigned long long* id) {
  return withDriver([&] {
    if (!id) return Error::InvalidValue;
    core::ContextRef context = handle ? contextOf(handle) : core::currentContext();
    if (!context) return handle ? Error::ContextIsDestroyed : Error::InvalidContext;
    *id = context->id();
    return Error::Success;
  });
}

CUDA_API(CUresult, cuCtxSynchronize)() {
  return withContext([](core::Context& context) { return context.synchronize(); });
}

CUDA_API(CUresult, cuCtxSynchronize_v2)(CUcontext handle) {
  return withDriver([&] {
    core::ContextRef context = handle ? contextOf(handle) : core::currentContext();
    return context ? context->synchronize() : Error::InvalidContext;
  });
}

CUDA_API(CUresult, cuCtxGetLimit)(size_t* value, CUlimit limit) {
  return withContext([&](core::Context& context) {
    return value ? context.limit(static_cast<core::Limit>(limit), *value) : Error::InvalidValue;
  });
}

CUDA_API(CUresult, cuCtxSetLimit)(CUlimit limit, size_t value) {
  return withContext([&](core::Context& context) { return context.setLimit(static_cast<core::Limit>(limit), value); });
}

// HOST-21: cache and bank preferences are hints for hardware that has a choice; the device decides here.
CUDA_API(CUresult, cuCtxGetCacheConfig)(CUfunc_cache* config) {
  return withContext([&](core::Context&) {
    if (!config) return Error::InvalidValue;
    *config = CU_FUNC_CACHE_PREFER_NONE;
    return Error::Success;
  });
}

CUDA_API(CUresult, cuCtxSetCacheConfig)(CUfunc_cache config) {
  return withContext([&](core::Context&) {
    return config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL ? Error::InvalidValue
                                                                                     : Error::Success;
  });
}

CUDA_API(CUresult, cuCtxGetSharedMemConfig)(CUsharedconfig* config) {
  return withContext([&](core::Context&) {
    if (!config) return Error::InvalidValue;
    *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return Error::Success;
  });
}

CUDA_API(CUresult, cuCtxSetSharedMemConfig)(CUsharedconfig config) {
  return withContext([&](core::Context&) {
    return config < CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE || config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE
               ? Error::InvalidValue
               : Error::Success;
  });
}

CUDA_API(CUresult, cuCtxGetApiVersion)(CUcontext handle, unsigned int* version) {
  return withDriver([&] {
    if (!version) return Error::InvalidValue;
    if (!(handle ? contextOf(handle) : core::currentContext())) return Error::InvalidContext;
    *version = 3020;
    return Error::Success;
  });
}

CUDA_API(CUresult, cuCtxGetStreamPriorityRange)(int* least, int* greatest) {
  return withContext([&](core::Context& context) {
    int supported = 0;
    TRY(context.device().attribute(CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, supported));
    if (least) *least = leastPriority;
    if (greatest) *greatest = supported ? greatestPriority : leastPriority;
    return Error::Success;
  });
}

CUDA_API(CUresult, cuCtxResetPersistingL2Cache)() {
  return withContext([](core::Context&) { return Error::Success; });
}

CUDA_API(CUresult, cuCtxEnablePeerAccess)(CUcontext peer, unsigned int flags) {
  return withContext([&](core::Context&) {
    if (!contextOf(peer)) return Error::InvalidContext;
    return flags != 0 ? Error::InvalidValue : Error::PeerAccessUnsupported;
  });
}

CUDA_API(CUresult, cuCtxDisablePeerAccess)(CUcontext peer) {
  return withContext(
      [&](core::Context&) { return contextOf(peer) ? Error::PeerAccessNotEnabled : Error::InvalidContext; });
}
