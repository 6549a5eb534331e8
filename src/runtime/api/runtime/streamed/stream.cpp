// What is done in a stream, other than copies and launches.
#include "runtime/api/common/stream_calls.h"

#include "runtime/api/common/launch_attributes.h"

#include "runtime/api/runtime/runtime.h"

using namespace mulciber::api;
namespace core = mulciber::core;

CUDA_API_PTSZ(cudaError_t, cudaStreamQuery)(cudaStream_t handle) {
  return withStream(handle, [](core::Stream& stream) { return stream.query(); });
}

CUDA_API_PTSZ(cudaError_t, cudaStreamSynchronize)(cudaStream_t handle) {
  return withStream(handle, [](core::Stream& stream) { return stream.synchronize(); });
}

CUDA_API_PTSZ(cudaError_t, cudaStreamGetFlags)(cudaStream_t handle, unsigned int* flags) {
  return withStream(handle, [&](core::Stream& stream) { return give(flags, stream.flags()); });
}

CUDA_API_PTSZ(cudaError_t, cudaStreamGetPriority)(cudaStream_t handle, int* priority) {
  return withStream(handle, [&](core::Stream& stream) { return give(priority, stream.priority()); });
}

CUDA_API_PTSZ(cudaError_t, cudaStreamGetId)(cudaStream_t handle, unsigned long long* id) {
  return withStream(handle, [&](core::Stream& stream) { return give(id, stream.id()); });
}

CUDA_API_PTSZ(cudaError_t, cudaStreamGetAttribute)
(cudaStream_t handle, cudaStreamAttrID id, cudaStreamAttrValue* value) {
  return withStream(handle, [&](core::Stream& stream) {
    return streamAttribute(stream, id, reinterpret_cast<CUlaunchAttributeValue*>(value));
  });
}

CUDA_API_PTSZ(cudaError_t, cudaStreamSetAttribute)
(cudaStream_t handle, cudaStreamAttrID id, const cudaStreamAttrValue* value) {
  return withStream(handle, [&](core::Stream& stream) {
    return setStreamAttribute(stream, id, reinterpret_cast<const CUlaunchAttributeValue*>(value));
  });
}

CUDA_API_PTSZ(cudaError_t, cudaStreamCopyAttributes)(cudaStream_t to, cudaStream_t from) {
  return withStream(to, [&](core::Stream& target) {
    return withStream(from, [&](core::Stream& source) {
      target.copyAttributes(source);
      return Error::Success;
    });
  });
}

CUDA_API_PTSZ(cudaError_t, cudaStreamGetDevice)(cudaStream_t handle, int* device) {
  return withStream(handle, [&](core::Stream& stream) { return give(device, stream.context().device().ordinal()); });
}

CUDA_API_PTSZ(cudaError_t, cudaStreamWaitEvent)(cudaStream_t handle, cudaEvent_t event, unsigned int flags) {
  return withStream(handle, [&](core::Stream& stream) { return waitForEvent(stream, event, flags); });
}

CUDA_API_PTSZ(cudaError_t, cudaEventRecord)(cudaEvent_t event, cudaStream_t handle) {
  return withStream(handle, [&](core::Stream& stream) { return recordEvent(stream, event); });
}

CUDA_API_PTSZ(cudaError_t, cudaEventRecordWithFlags)(cudaEvent_t event, cudaStream_t handle, unsigned int flags) {
  return withStream(handle, [&](core::Stream& stream) { return recordEvent(stream, event, flags); });
}

CUDA_API_PTSZ(cudaError_t, cudaStreamAddCallback)
(cudaStream_t handle, cudaStreamCallback_t callback, void* data, unsigned int flags) {
  return withStream(handle, [&](core::Stream& stream) {
    if (!callback) return Error::InvalidValue;
    return addCallback(stream, flags, [=](Error status) { callback(handle, codeOf(status), data); });
  });
}

CUDA_API_PTSZ(cudaError_t, cudaLaunchHostFunc)(cudaStream_t handle, cudaHostFn_t function, void* data) {
  return withStream(handle, [&](core::Stream& stream) { return launchHostFunction(stream, function, data); });
}

CUDA_API_PTSZ(cudaError_t, cudaStreamAttachMemAsync)
(cudaStream_t handle, void* pointer, size_t bytes, unsigned int flags) {
  return withStream(handle, [&](core::Stream& stream) {
    return attachMemory(stream, reinterpret_cast<uintptr_t>(pointer), bytes, flags);
  });
}
