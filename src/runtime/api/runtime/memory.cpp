// Allocation. Unlike the driver API, sizes of 0 give a null pointer and no error (MEM).
#include "runtime/api/common/host_memory.h"
#include "runtime/api/common/managed.h"
#include "runtime/api/runtime/runtime.h"

using namespace mulciber::api;
namespace core = mulciber::core;

namespace {

// Makes an allocation through `allocate`, which gets an address to fill.
template <class Allocate>
cudaError_t allocateInto(void** out, size_t bytes, Allocate&& allocate, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withContext([&](core::Context& context) {
    if (!out) return Error::InvalidValue;
    *out = nullptr;
    if (bytes == 0) return Error::Success;
    uint64_t address = 0;
    const Error error = allocate(context, address);
    if (error == Error::Success) *out = reinterpret_cast<void*>(address);
    return error;
  });
}

cudaError_t checkDevices(int one, int other, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withDevice(
      one, [&](core::Device&) { return core::Platform::get().device(other) ? Error::Success : Error::InvalidDevice; });
}

}  // namespace

CUDA_API(cudaError_t, cudaMalloc)(void** out, size_t bytes) {
  return allocateInto(out, bytes, [&](core::Context& context, uint64_t& at) { return context.allocate(bytes, at); });
}

CUDA_API(cudaError_t, cudaMallocPitch)(void** out, size_t* pitch, size_t width, size_t height) {
  if (!pitch) return record(cudaErrorInvalidValue);
  if (out) *pitch = 0;
  return allocateInto(out, width && height ? 1 : 0, [&](core::Context& context, uint64_t& at) {
    return context.allocatePitched(width, height, 1, at, *pitch);
  });
}

CUDA_API(cudaError_t, cudaMalloc3D)(cudaPitchedPtr* out, cudaExtent extent) {
  if (!out) return record(cudaErrorInvalidValue);
  out->xsize = extent.width;
  out->ysize = extent.height;
  out->pitch = 0;
  const size_t any = extent.width && extent.height && extent.depth ? 1 : 0;
  return allocateInto(&out->ptr, any, [&](core::Context& context, uint64_t& at) {
    return context.allocatePitched(extent.width, extent.height, extent.depth, at, out->pitch);
  });
}

CUDA_API(cudaError_t, cudaMallocManaged)(void** out, size_t bytes, unsigned int flags) {
  if (out) *out = nullptr;
  if (bytes != 0 && flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return record(cudaErrorInvalidValue);
  return allocateInto(out, bytes,
                      [&](core::Context& context, uint64_t& at) { return context.allocateManaged(bytes, flags, at); });
}

CUDA_API(cudaError_t, cudaFree)(void* pointer) {
  return withContext([&](core::Context& context) { return context.free(reinterpret_cast<uintptr_t>(pointer)); });
}

CUDA_API(cudaError_t, cudaHostAlloc)(void** out, size_t bytes, unsigned int flags) {
  if (out) *out = nullptr;
  return withContext([&](core::Context& context) {
    constexpr unsigned known = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if (!out || (flags & ~known)) return Error::InvalidValue;
    // All pinned memory is mapped.
    return bytes == 0 ? Error::Success : context.allocateHost(bytes, flags | cudaHostAllocMapped, *out);
  });
}

CUDA_API(cudaError_t, cudaMallocHost)(void** out, size_t bytes) { return cudaHostAlloc(out, bytes, 0); }

CUDA_API(cudaError_t, cudaFreeHost)(void* pointer) {
  return withContext([&](core::Context& context) { return context.freeHost(pointer); });
}

CUDA_API(cudaError_t, cudaHostRegister)(void* pointer, size_t bytes, unsigned int flags) {
  return withContext([&](core::Context& context) {
    constexpr unsigned known =
        cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterReadOnly;  // there is no memory of devices
    if (!pointer || bytes == 0 || (flags & ~known)) return Error::InvalidValue;
    return context.registerHost(pointer, bytes, (flags & cudaHostRegisterPortable) | cudaHostRegisterMapped);
  });
}

CUDA_API(cudaError_t, cudaHostUnregister)(void* pointer) {
  return withContext(
      [&](core::Context& context) { return pointer ? context.unregisterHost(pointer) : Error::InvalidValue; });
}

CUDA_API(cudaError_t, cudaHostGetDevicePointer)(void** out, void* pointer, unsigned int flags) {
  if (out && pointer) *out = nullptr;
  return withContext([&](core::Context& context) { return giveDevicePointer(context, out, pointer, flags); });
}

CUDA_API(cudaError_t, cudaHostGetFlags)(unsigned int* flags, void* pointer) {
  return withContext([&](core::Context&) { return hostFlags(pointer, flags); });
}

CUDA_API(cudaError_t, cudaMemGetInfo)(size_t* free, size_t* total) {
  return withContext([&](core::Context& context) {
    size_t available = 0, all = 0;
    context.memoryInfo(available, all);
    if (free) *free = available;
    if (total) *total = all;
    return Error::Success;
  });
}

// Addresses say which device they belong to.
CUDA_API(cudaError_t, cudaMemcpyPeer)(void* to, int toDevice, const void* from, int fromDevice, size_t bytes) {
  TRY(checkDevices(toDevice, fromDevice));
  return cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
}
CUDA_API(cudaError_t, cudaMemcpyPeerAsync)
(void* to, int toDevice, const void* from, int fromDevice, size_t bytes, cudaStream_t stream) {
  TRY(checkDevices(toDevice, fromDevice));
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream);
}

CUDA_API(cudaError_t, cudaMemRangeGetAttribute)
(void* data, size_t dataBytes, cudaMemRangeAttribute attribute, const void* pointer, size_t bytes) {
  return withContext([&](core::Context&) {
    return managedAttribute(data, dataBytes, static_cast<CUmem_range_attribute>(attribute),
                            reinterpret_cast<uintptr_t>(pointer), bytes);
  });
}

CUDA_API(cudaError_t, cudaMemRangeGetAttributes)
(void** data, size_t* dataBytes, cudaMemRangeAttribute* attributes, size_t count, const void* pointer, size_t bytes) {
  return withContext([&](core::Context&) {
    if (!data || !dataBytes || !attributes || count == 0) return Error::InvalidValue;
    for (size_t i = 0; i < count; ++i) {
      TRY(managedAttribute(data[i], dataBytes[i], static_cast<CUmem_range_attribute>(attributes[i]),
                           reinterpret_cast<uintptr_t>(pointer), bytes));
    }
    return Error::Success;
  });
}
