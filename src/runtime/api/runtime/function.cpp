// Kernels by their host functions, and libraries.
#include "runtime/api/common/launch_attributes.h"
#include "runtime/api/common/module_queries.h"
#include "runtime/api/runtime/runtime.h"

namespace mulciber::api {
namespace {

template <class Body>
cudaError_t withLibrary(cudaLibrary_t handle, Body&& body, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withContext([&](core::Context& context) -> cudaError_t {
    if (!handle) return cudaErrorInvalidResourceHandle;
    return static_cast<cudaError_t>(body(*reinterpret_cast<Library*>(handle), context));
  });
}

cudaError_t loadLibrary(cudaLibrary_t* out, fatbin::PtxModules&& modules) {
  auto library = std::make_unique<Library>(std::move(modules));
  TRY(codeOf(library->check(nullptr)));
  *out = reinterpret_cast<cudaLibrary_t>(library.release());
  return cudaSuccess;
}

Error globalOf(Library& library, core::Context& context, const char* name, void** out, size_t* outBytes) {
  core::Module* module = nullptr;
  TRY(library.module(context, module));
  return giveGlobal(*module, name, out, outBytes);
}

}  // namespace
}  // namespace mulciber::api

using namespace mulciber::api;
namespace core = mulciber::core;
namespace fatbin = mulciber::fatbin;

CUDA_API(cudaError_t, cudaFuncSetAttribute)(const void* entry, cudaFuncAttribute attribute, int value) {
  return withFunction(entry, [&](core::Function& function) { return function.setAttribute(attribute, value); });
}

CUDA_API(cudaError_t, cudaFuncSetCacheConfig)(const void* entry, cudaFuncCache config) {
  return withFunction(entry, [&](core::Function&) {
    return config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual ? Error::InvalidValue : Error::Success;
  });
}

CUDA_API(cudaError_t, cudaFuncSetSharedMemConfig)(const void* entry, cudaSharedMemConfig config) {
  return withFunction(entry, [&](core::Function&) {
    return config < cudaSharedMemBankSizeDefault || config > cudaSharedMemBankSizeEightByte ? Error::InvalidValue
                                                                                            : Error::Success;
  });
}

CUDA_API(cudaError_t, cudaFuncGetName)(const char** name, const void* entry) {
  return guarded([&] {
    Kernel* kernel = entry ? findKernel(entry) : nullptr;
    if (!name) return cudaErrorInvalidValue;
    if (!kernel) return cudaErrorInvalidDeviceFunction;
    *name = kernel->name().c_str();
    return cudaSuccess;
  });
}

CUDA_API(cudaError_t, cudaFuncGetParamInfo)(const void* entry, size_t index, size_t* offset, size_t* size) {
  return withFunction(entry, [&](core::Function& function) { return parameterInfo(function, index, offset, size); });
}

CUDA_API(cudaError_t, cudaGetFuncBySymbol)(cudaFunction_t* out, const void* entry) {
  return withFunction(entry, [&](core::Function& function) {
    if (!out) return Error::InvalidValue;
    *out = reinterpret_cast<cudaFunction_t>(&function);
    return Error::Success;
  });
}

// What launches call first in programs of CUDA 12 and 13: the stub keeps the handle.
CUDA_API(cudaError_t, cudaGetKernel)(cudaKernel_t* out, const void* entry) {
  return guarded([&] {
    if (!out) return cudaErrorInvalidValue;
    Kernel* kernel = entry ? findKernel(entry) : nullptr;
    if (!kernel) return cudaErrorInvalidDeviceFunction;
    *out = static_cast<cudaKernel_t>(kernel->handle());
    return cudaSuccess;
  });
}

CUDA_API(cudaError_t, __cudaGetKernel)(cudaKernel_t* out, const void* entry) { return cudaGetKernel(out, entry); }

CUDA_API(cudaError_t, cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
(int* blocks, const void* entry, int blockThreads, size_t dynamicShared, unsigned int flags) {
  return withFunction(entry, [&](core::Function& function) {
    if (!blocks || blockThreads <= 0 || (flags & ~unsigned{cudaOccupancyDisableCachingOverride})) {
      return Error::InvalidValue;
    }
    return function.maxActiveBlocks(static_cast<uint32_t>(blockThreads), dynamicShared, *blocks);
  });
}

CUDA_API(cudaError_t, cudaOccupancyMaxActiveBlocksPerMultiprocessor)
(int* blocks, const void* entry, int blockThreads, size_t dynamicShared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, entry, blockThreads, dynamicShared, 0);
}

CUDA_API(cudaError_t, cudaOccupancyMaxActiveClusters)
(int* clusters, const void* entry, const cudaLaunchConfig_t* config) {
  return withFunction(entry, [&](core::Function& function) {
    if (!clusters || !config) return Error::InvalidValue;
    const auto* attributes = reinterpret_cast<const CUlaunchAttribute*>(config->attrs);
    const uint64_t threads = uint64_t{config->blockDim.x} * config->blockDim.y * config->blockDim.z;
    return maxActiveClusters(function, attributes, config->numAttrs, threads, config->dynamicSmemBytes, *clusters);
  });
}

CUDA_API(cudaError_t, cudaOccupancyMaxPotentialClusterSize)
(int* blocks, const void* entry, const cudaLaunchConfig_t* config) {
  return withFunction(entry, [&](core::Function& function) {
    if (!blocks || !config) return Error::InvalidValue;
    const uint64_t threads = uint64_t{config->blockDim.x} * config->blockDim.y * config->blockDim.z;
    return maxClusterSize(function, threads, config->dynamicSmemBytes, *blocks);
  });
}

CUDA_API(cudaError_t, cudaOccupancyAvailableDynamicSMemPerBlock)
(size_t* bytes, const void* entry, int blocks, int blockThreads) {
  return withFunction(entry, [&](core::Function& function) {
    if (!bytes || blocks <= 0 || blockThreads <= 0) return Error::InvalidValue;
    return availableDynamicShared(function, blocks, blockThreads, *bytes);
  });
}

CUDA_API(cudaError_t, cudaLibraryLoadData)
(cudaLibrary_t* out, const void* code, cudaJitOption*, void**, unsigned int, cudaLibraryOption*, void**, unsigned int) {
  return withPlatform([&] {
    if (!out) return cudaErrorInvalidValue;
    fatbin::PtxModules modules;
    TRY(codeOf(readImage(code, modules, nullptr)));
    return loadLibrary(out, std::move(modules));
  });
}

CUDA_API(cudaError_t, cudaLibraryLoadFromFile)
(cudaLibrary_t* out, const char* path, cudaJitOption*, void**, unsigned int, cudaLibraryOption*, void**, unsigned int) {
  return withPlatform([&] {
    if (!out) return cudaErrorInvalidValue;
    fatbin::PtxModules modules;
    TRY(codeOf(readFile(path, modules, nullptr)));
    return loadLibrary(out, std::move(modules));
  });
}

CUDA_API(cudaError_t, cudaLibraryUnload)(cudaLibrary_t handle) {
  return withLibrary(handle, [&](Library& library, core::Context& context) {
    library.unload(&context);
    delete &library;
    return Error::Success;
  });
}

CUDA_API(cudaError_t, cudaLibraryGetKernel)(cudaKernel_t* out, cudaLibrary_t handle, const char* name) {
  if (!out || !name) return record(cudaErrorInvalidValue);
  return withLibrary(handle, [&](Library& library, core::Context&) {
    Kernel* kernel = nullptr;
    TRY(library.kernel(name, kernel));
    *out = static_cast<cudaKernel_t>(kernel->handle());
    return Error::Success;
  });
}

CUDA_API(cudaError_t, cudaKernelSetAttributeForDevice)
(cudaKernel_t handle, cudaFuncAttribute attribute, int value, int ordinal) {
  return withPlatform([&] {
    const bool isSettable = attribute == cudaFuncAttributeMaxDynamicSharedMemorySize ||
                            attribute == cudaFuncAttributePreferredSharedMemoryCarveout ||
                            attribute == cudaFuncAttributeNonPortableClusterSizeAllowed;
    if (!isSettable) return Error::InvalidValue;
    Kernel* kernel = Kernel::of(handle);
    if (!kernel) return Error::InvalidHandle;
    core::Device* device = core::Platform::get().device(ordinal);
    if (!device) return Error::InvalidDevice;
    core::ContextRef context;
    TRY(device->holdPrimary(context));
    core::Function* function = nullptr;
    TRY(kernel->function(*context, function));
    return function->setAttribute(attribute, value);
  });
}

CUDA_API(cudaError_t, cudaLibraryGetKernelCount)(unsigned int* count, cudaLibrary_t handle) {
  if (!count) return record(cudaErrorInvalidValue);
  return withLibrary(handle, [&](Library& library, core::Context&) {
    std::vector<Kernel*> kernels;
    TRY(library.kernels(kernels));
    *count = static_cast<unsigned int>(kernels.size());
    return Error::Success;
  });
}

CUDA_API(cudaError_t, cudaLibraryEnumerateKernels)(cudaKernel_t* out, unsigned int count, cudaLibrary_t handle) {
  return withLibrary(handle, [&](Library& library, core::Context&) {
    if (!out) return Error::InvalidValue;
    std::vector<Kernel*> kernels;
    TRY(library.kernels(kernels));
    for (size_t i = 0; i < kernels.size() && i < count; ++i) out[i] = static_cast<cudaKernel_t>(kernels[i]->handle());
    return Error::Success;
  });
}

CUDA_API(cudaError_t, cudaLibraryGetGlobal)(void** out, size_t* bytes, cudaLibrary_t handle, const char* name) {
  if (!name || !*name || (!out && !bytes)) return record(cudaErrorInvalidValue);
  return withLibrary(
      handle, [&](Library& library, core::Context& context) { return globalOf(library, context, name, out, bytes); });
}

CUDA_API(cudaError_t, cudaLibraryGetManaged)(void** out, size_t* bytes, cudaLibrary_t handle, const char* name) {
  if (!name || !*name || (!out && !bytes)) return record(cudaErrorInvalidValue);
  return withLibrary(handle, [&](Library& library, core::Context& context) {
    return library.isManaged(name) ? globalOf(library, context, name, out, bytes) : Error::NotFound;
  });
}
