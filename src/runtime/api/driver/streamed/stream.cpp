// What is done in a stream, other than copies and launches.
#include "runtime/api/common/stream_calls.h"

#include "runtime/api/common/launch_attributes.h"
#include "runtime/api/common/managed.h"
#include "runtime/api/driver/driver.h"

using namespace mulciber::api;
namespace core = mulciber::core;

CUDA_API_PTSZ(CUresult, cuStreamQuery)(CUstream handle) {
  return withStream(handle, [](core::Stream& stream) { return stream.query(); });
}

CUDA_API_PTSZ(CUresult, cuStreamSynchronize)(CUstream handle) {
  return withStream(handle, [](core::Stream& stream) { return stream.synchronize(); });
}

CUDA_API_PTSZ(CUresult, cuStreamGetFlags)(CUstream handle, unsigned int* flags) {
  return withStream(handle, [&](core::Stream& stream) { return give(flags, stream.flags()); });
}

CUDA_API_PTSZ(CUresult, cuStreamGetPriority)(CUstream handle, int* priority) {
  return withStream(handle, [&](core::Stream& stream) { return give(priority, stream.priority()); });
}

CUDA_API_PTSZ(CUresult, cuStreamGetId)(CUstream handle, unsigned long long* id) {
  return withStream(handle, [&](core::Stream& stream) { return give(id, stream.id()); });
}

CUDA_API_PTSZ(CUresult, cuStreamGetAttribute)
(CUstream handle, CUstreamAttrID id, CUstreamAttrValue* value) {
  return withStream(handle, [&](core::Stream& stream) { return streamAttribute(stream, id, value); });
}

CUDA_API_PTSZ(CUresult, cuStreamSetAttribute)
(CUstream handle, CUstreamAttrID id, const CUstreamAttrValue* value) {
  return withStream(handle, [&](core::Stream& stream) { return setStreamAttribute(stream, id, value); });
}

CUDA_API_PTSZ(CUresult, cuStreamCopyAttributes)(CUstream to, CUstream from) {
  return withStream(to, [&](core::Stream& target) {
    CUresult inner = withStream(from, [&](core::Stream& source) {
      target.copyAttributes(source);
      return Error::Success;
    });
    return static_cast<Error>(inner);
  });
}

CUDA_API_PTSZ(CUresult, cuStreamGetDevice)(CUstream handle, CUdevice* device) {
  return withStream(handle, [&](core::Stream& stream) { return give(device, stream.context().device().ordinal()); });
}

#undef cuStreamGetCtx_v2
// Contexts with a part of a device's multiprocessors are not offered: no stream belongs to one.
CUDA_API_PTSZ(CUresult, cuStreamGetCtx_v2)(CUstream handle, CUcontext* context, CUgreenCtx* green) {
  return withStream(handle, [&](core::Stream& stream) {
    if (!context && !green) return Error::InvalidValue;
    if (green) *green = nullptr;
    if (!context) return Error::Success;
    *context = handleOf(stream.context().shared_from_this());
    return Error::Success;
  });
}

CUDA_API_PTSZ(CUresult, cuStreamGetCtx)(CUstream handle, CUcontext* context) {
  return withStream(handle, [&](core::Stream& stream) {
    if (!context) return Error::InvalidValue;
    *context = handleOf(stream.context().shared_from_this());
    return Error::Success;
  });
}

CUDA_API_PTSZ(CUresult, cuStreamWaitEvent)(CUstream handle, CUevent event, unsigned int flags) {
  return withStream(handle, [&](core::Stream& stream) { return waitForEvent(stream, event, flags); });
}

CUDA_API_PTSZ(CUresult, cuEventRecord)(CUevent event, CUstream handle) {
  return withStream(handle, [&](core::Stream& stream) { return recordEvent(stream, event); });
}

CUDA_API_PTSZ(CUresult, cuEventRecordWithFlags)(CUevent event, CUstream handle, unsigned int flags) {
  return withStream(handle, [&](core::Stream& stream) { return recordEvent(stream, event, flags); });
}

CUDA_API_PTSZ(CUresult, cuStreamAddCallback)
(CUstream handle, CUstreamCallback callback, void* data, unsigned int flags) {
  return withStream(handle, [&](core::Stream& stream) {
    if (!callback) return Error::InvalidValue;
    return addCallback(stream, flags, [=](Error status) { callback(handle, result(status), data); });
  });
}

CUDA_API_PTSZ(CUresult, cuLaunchHostFunc)(CUstream handle, CUhostFn function, void* data) {
  return withStream(handle, [&](core::Stream& stream) { return launchHostFunction(stream, function, data); });
}

CUDA_API_PTSZ(CUresult, cuStreamAttachMemAsync)
(CUstream handle, CUdeviceptr address, size_t bytes, unsigned int flags) {
  return withStream(handle, [&](core::Stream& stream) { return attachMemory(stream, address, bytes, flags); });
}

CUDA_API_PTSZ(CUresult, cuMemPrefetchAsync_v2)
(CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned int flags, CUstream handle) {
  return withStream(handle, [&](core::Stream& stream) {
    return flags != 0 ? Error::InvalidValue : prefetchManaged(stream, address, bytes, location);
  });
}

#undef cuMemPrefetchAsync
CUDA_API_PTSZ(CUresult, cuMemPrefetchAsync)(CUdeviceptr address, size_t bytes, CUdevice device, CUstream handle) {
  return withStream(handle,
                    [&](core::Stream& stream) { return prefetchManaged(stream, address, bytes, locationOf(device)); });
}
