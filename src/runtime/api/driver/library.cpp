// Libraries: modules that belong to no context, and their kernels.
#include "runtime/api/common/library.h"
#include "runtime/api/common/module_queries.h"

#include "runtime/api/driver/driver.h"
#include "runtime/api/driver/jit_options.h"

namespace mulciber::api {
namespace {

template <class Body>
CUresult withLibrary(CUlibrary handle, Body&& body, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withDriver([&] {
    if (!handle) return Error::InvalidHandle;
    return body(*reinterpret_cast<Library*>(handle));
  });
}

template <class Body>
CUresult withKernel(CUkernel handle, Body&& body, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withDriver([&] {
    Kernel* kernel = Kernel::of(handle);
    return kernel ? body(*kernel) : Error::InvalidHandle;
  });
}

CUresult loadLibrary(CUlibrary* out, fatbin::PtxModules&& modules, JitOptions& jit,
                     const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  auto library = std::make_unique<Library>(std::move(modules));
  const Error error = library->check(&jit.log);
  jit.finish();
  if (error != Error::Success) return result(error);
  *out = reinterpret_cast<CUlibrary>(library.release());
  return CUDA_SUCCESS;
}

template <class Read>
CUresult loadLibrary(CUlibrary* out, unsigned optionCount, CUjit_option* options, void** values, Read&& read,
                     const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withDriver([&] {
    if (!out) return Error::InvalidValue;
    JitOptions jit;
    TRY(JitOptions::read(optionCount, options, values, jit));
    fatbin::PtxModules modules;
    if (Error error = read(modules, &jit.log); error != Error::Success) {
      jit.finish();
      return error;
    }
    jit.applyTo(modules);
    return static_cast<Error>(loadLibrary(out, std::move(modules), jit));
  });
}

// Of the library in the current context.
CUresult getGlobal(CUdeviceptr* out, size_t* outBytes, CUlibrary handle, const char* name,
                   const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  if (!name || !*name || (!out && !outBytes)) return CUDA_ERROR_INVALID_VALUE;
  return withLibrary(handle, [&](Library& library) {
    core::ContextRef context;
    TRY(core::currentContext(context));
    core::Module* module = nullptr;
    TRY(library.module(*context, module));
    return giveGlobal(*module, name, out, outBytes);
  });
}

}  // namespace
}  // namespace mulciber::api

using namespace mulciber::api;
namespace core = mulciber::core;
namespace fatbin = mulciber::fatbin;

CUDA_API(CUresult, cuLibraryLoadData)
(CUlibrary* out, const void* code, CUjit_option* options, void** values, unsigned int optionCount, CUlibraryOption*,
 void**, unsigned int) {
  return loadLibrary(out, optionCount, options, values,
                     [&](fatbin::PtxModules& modules, core::JitLog* log) { return readImage(code, modules, log); });
}

CUDA_API(CUresult, cuLibraryLoadFromFile)
(CUlibrary* out, const char* path, CUjit_option* options, void** values, unsigned int optionCount, CUlibraryOption*,
 void**, unsigned int) {
  return loadLibrary(out, optionCount, options, values, [&](fatbin::PtxModules& modules, core::JitLog* log) {
    return path && !*path ? Error::InvalidValue : readFile(path, modules, log);
  });
}

CUDA_API(CUresult, cuLibraryUnload)(CUlibrary handle) {
  return withLibrary(handle, [&](Library& library) {
    library.unload(core::currentContext().get());
    delete &library;
    return Error::Success;
  });
}

CUDA_API(CUresult, cuLibraryGetKernel)(CUkernel* out, CUlibrary handle, const char* name) {
  if (!out || !name) return CUDA_ERROR_INVALID_VALUE;
  return withLibrary(handle, [&](Library& library) {
    Kernel* kernel = nullptr;
    TRY(library.kernel(name, kernel));
    *out = static_cast<CUkernel>(kernel->handle());
    return Error::Success;
  });
}

CUDA_API(CUresult, cuLibraryGetKernelCount)(unsigned int* count, CUlibrary handle) {
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  return withLibrary(handle, [&](Library& library) {
    std::vector<Kernel*> kernels;
    TRY(library.kernels(kernels));
    *count = static_cast<unsigned int>(kernels.size());
    return Error::Success;
  });
}

CUDA_API(CUresult, cuLibraryEnumerateKernels)(CUkernel* out, unsigned int count, CUlibrary handle) {
  return withLibrary(handle, [&](Library& library) {
    if (!out) return Error::InvalidValue;
    std::vector<Kernel*> kernels;
    TRY(library.kernels(kernels));
    for (size_t i = 0; i < kernels.size() && i < count; ++i) out[i] = static_cast<CUkernel>(kernels[i]->handle());
    return Error::Success;
  });
}

CUDA_API(CUresult, cuLibraryGetModule)(CUmodule* out, CUlibrary handle) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return withLibrary(handle, [&](Library& library) {
    core::ContextRef context;
    TRY(core::currentContext(context));
    core::Module* module = nullptr;
    TRY(library.module(*context, module));
    *out = reinterpret_cast<CUmodule>(module);
    return Error::Success;
  });
}

CUDA_API(CUresult, cuLibraryGetGlobal)(CUdeviceptr* address, size_t* bytes, CUlibrary handle, const char* name) {
  return getGlobal(address, bytes, handle, name);
}

CUDA_API(CUresult, cuLibraryGetManaged)(CUdeviceptr* address, size_t* bytes, CUlibrary handle, const char* name) {
  if (!name || !*name || (!address && !bytes)) return CUDA_ERROR_INVALID_VALUE;
  const CUresult managed =
      withLibrary(handle, [&](Library& library) { return library.isManaged(name) ? Error::Success : Error::NotFound; });
  return managed == CUDA_SUCCESS ? getGlobal(address, bytes, handle, name) : managed;
}

CUDA_API(CUresult, cuKernelGetFunction)(CUfunction* out, CUkernel handle) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return withKernel(handle, [&](Kernel& kernel) {
    core::ContextRef context;
    TRY(core::currentContext(context));
    core::Function* function = nullptr;
    TRY(kernel.function(*context, function));
    *out = reinterpret_cast<CUfunction>(function);
    return Error::Success;
  });
}

CUDA_API(CUresult, cuKernelGetLibrary)(CUlibrary* out, CUkernel handle) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return withKernel(handle, [&](Kernel& kernel) {
    *out = reinterpret_cast<CUlibrary>(&kernel.library());
    return Error::Success;
  });
}

CUDA_API(CUresult, cuKernelGetName)(const char** name, CUkernel handle) {
  if (!name || !handle) return CUDA_ERROR_INVALID_VALUE;
  return withKernel(handle, [&](Kernel& kernel) {
    *name = kernel.name().c_str();
    return Error::Success;
  });
}

CUDA_API(CUresult, cuKernelGetAttribute)
(int* value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device) {
  if (!kernel) return CUDA_ERROR_INVALID_HANDLE;
  if (!core::Platform::get().device(device)) return CUDA_ERROR_INVALID_DEVICE;
  return cuFuncGetAttribute(value, attribute, reinterpret_cast<CUfunction>(kernel));
}

CUDA_API(CUresult, cuKernelSetAttribute)(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device) {
  if (!kernel) return CUDA_ERROR_INVALID_HANDLE;
  if (!core::Platform::get().device(device)) return CUDA_ERROR_INVALID_DEVICE;
  return cuFuncSetAttribute(reinterpret_cast<CUfunction>(kernel), attribute, value);
}

CUDA_API(CUresult, cuKernelSetCacheConfig)(CUkernel kernel, CUfunc_cache config, CUdevice device) {
  if (!kernel) return CUDA_ERROR_INVALID_HANDLE;
  if (!core::Platform::get().device(device)) return CUDA_ERROR_INVALID_DEVICE;
  return cuFuncSetCacheConfig(reinterpret_cast<CUfunction>(kernel), config);
}

CUDA_API(CUresult, cuKernelGetParamInfo)(CUkernel kernel, size_t index, size_t* offset, size_t* size) {
  if (!kernel) return CUDA_ERROR_INVALID_VALUE;
  return cuFuncGetParamInfo(reinterpret_cast<CUfunction>(kernel), index, offset, size);
}
