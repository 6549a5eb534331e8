// What is done in a stream, other than copies and launches.
#include "runtime/api/runtime/runtime.h"

using namespace mulciber::api;
namespace core = mulciber::core;

namespace {

cudaError_t recordEvent(cudaEvent_t event, cudaStream_t handle) {
  return withStream(handle, [&](core::Stream& stream) {
    core::EventRef recorded;
    if (Error error = stream.context().event(reinterpret_cast<core::Event*>(event), recorded);
        error != Error::Success) {
      return error;
    }
    return stream.record(*recorded);
  });
}

}  // namespace

CUDA_API_PTSZ(cudaError_t, cudaStreamQuery)(cudaStream_t handle) {
  return withStream(handle, [](core::Stream& stream) { return stream.query(); });
}

CUDA_API_PTSZ(cudaError_t, cudaStreamSynchronize)(cudaStream_t handle) {
  return withStream(handle, [](core::Stream& stream) { return stream.synchronize(); });
}

CUDA_API_PTSZ(cudaError_t, cudaStreamGetFlags)(cudaStream_t handle, unsigned int* flags) {
  return withStream(handle, [&](core::Stream& stream) {
    if (!flags) return Error::InvalidValue;
    *flags = stream.flags();
    return Error::Success;
  });
}

CUDA_API_PTSZ(cudaError_t, cudaStreamGetPriority)(cudaStream_t handle, int* priority) {
  return withStream(handle, [&](core::Stream& stream) {
    if (!priority) return Error::InvalidValue;
    *priority = stream.priority();
    return Error::Success;
  });
}

CUDA_API_PTSZ(cudaError_t, cudaStreamGetId)(cudaStream_t handle, unsigned long long* id) {
  return withStream(handle, [&](core::Stream& stream) {
    if (!id) return Error::InvalidValue;
    *id = stream.id();
    return Error::Success;
  });
}

CUDA_API_PTSZ(cudaError_t, cudaStreamGetDevice)(cudaStream_t handle, int* device) {
  return withStream(handle, [&](core::Stream& stream) {
    if (!device) return Error::InvalidValue;
    *device = stream.context().device().ordinal();
    return Error::Success;
  });
}

CUDA_API_PTSZ(cudaError_t, cudaStreamIsCapturing)(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  return withStream(handle, [&](core::Stream&) {
    if (!status) return Error::InvalidValue;
    *status = cudaStreamCaptureStatusNone;
    return Error::Success;
  });
}

CUDA_API_PTSZ(cudaError_t, cudaStreamWaitEvent)(cudaStream_t handle, cudaEvent_t event, unsigned int flags) {
  return withStream(handle, [&](core::Stream& stream) {
    if (flags & ~unsigned{cudaEventWaitExternal}) return Error::InvalidValue;
    core::EventRef recorded;
    if (Error error = stream.context().event(reinterpret_cast<core::Event*>(event), recorded);
        error != Error::Success) {
      return error;
    }
    return stream.wait(*recorded);
  });
}

CUDA_API_PTSZ(cudaError_t, cudaEventRecord)(cudaEvent_t event, cudaStream_t stream) {
  return recordEvent(event, stream);
}

CUDA_API_PTSZ(cudaError_t, cudaEventRecordWithFlags)(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  return flags & ~unsigned{cudaEventRecordExternal} ? record(cudaErrorInvalidValue) : recordEvent(event, stream);
}

CUDA_API_PTSZ(cudaError_t, cudaStreamAddCallback)
(cudaStream_t handle, cudaStreamCallback_t callback, void* data, unsigned int flags) {
  return withStream(handle, [&](core::Stream& stream) {
    if (!callback || flags != 0) return Error::InvalidValue;
    return stream.hostFunction([=](Error status) { callback(handle, codeOf(status), data); });
  });
}

// Unlike a callback, a host function is not called once the context is broken.
CUDA_API_PTSZ(cudaError_t, cudaLaunchHostFunc)(cudaStream_t handle, cudaHostFn_t function, void* data) {
  return withStream(handle, [&](core::Stream& stream) {
    if (!function) return Error::InvalidValue;
    return stream.hostFunction([=](Error status) {
      if (status == Error::Success) function(data);
    });
  });
}

// Memory stays visible to everyone: attachment only ever narrows what a program may do.
CUDA_API_PTSZ(cudaError_t, cudaStreamAttachMemAsync)
(cudaStream_t handle, void* pointer, size_t bytes, unsigned int flags) {
  return withStream(handle, [&](core::Stream&) {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost && flags != cudaMemAttachSingle) {
      return Error::InvalidValue;
    }
    const auto found = core::Platform::get().memory().find(reinterpret_cast<uintptr_t>(pointer));
    if (!found || found->kind != core::MemoryKind::Managed) return Error::InvalidValue;
    return bytes == 0 || bytes == found->size ? Error::Success : Error::InvalidValue;
  });
}
