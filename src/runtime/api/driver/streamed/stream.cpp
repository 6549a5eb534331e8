// What is done in a stream, other than copies and launches.
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
  return withStream(handle, [&](core::Stream& stream) {
    if (!flags) return Error::InvalidValue;
    *flags = stream.flags();
    return Error::Success;
  });
}

CUDA_API_PTSZ(CUresult, cuStreamGetPriority)(CUstream handle, int* priority) {
  return withStream(handle, [&](core::Stream& stream) {
    if (!priority) return Error::InvalidValue;
    *priority = stream.priority();
    return Error::Success;
  });
}

CUDA_API_PTSZ(CUresult, cuStreamGetId)(CUstream handle, unsigned long long* id) {
  return withStream(handle, [&](core::Stream& stream) {
    if (!id) return Error::InvalidValue;
    *id = stream.id();
    return Error::Success;
  });
}

CUDA_API_PTSZ(CUresult, cuStreamGetDevice)(CUstream handle, CUdevice* device) {
  return withStream(handle, [&](core::Stream& stream) {
    if (!device) return Error::InvalidValue;
    *device = stream.context().device().ordinal();
    return Error::Success;
  });
}

CUDA_API_PTSZ(CUresult, cuStreamGetCtx)(CUstream handle, CUcontext* context) {
  return withStream(handle, [&](core::Stream& stream) {
    if (!context) return Error::InvalidValue;
    const core::ContextRef owner = stream.context().shared_from_this();
    rememberContext(owner);
    *context = handleOf(owner);
    return Error::Success;
  });
}

CUDA_API_PTSZ(CUresult, cuStreamIsCapturing)(CUstream handle, CUstreamCaptureStatus* status) {
  return withStream(handle, [&](core::Stream&) {
    if (!status) return Error::InvalidValue;
    *status = CU_STREAM_CAPTURE_STATUS_NONE;
    return Error::Success;
  });
}

CUDA_API_PTSZ(CUresult, cuStreamWaitEvent)(CUstream handle, CUevent event, unsigned int flags) {
  return withStream(handle, [&](core::Stream& stream) {
    if (flags & ~unsigned{CU_EVENT_WAIT_EXTERNAL}) return Error::InvalidValue;
    core::EventRef recorded;
    if (Error error = stream.context().event(reinterpret_cast<core::Event*>(event), recorded);
        error != Error::Success) {
      return error;
    }
    return stream.wait(*recorded);
  });
}

CUDA_API_PTSZ(CUresult, cuEventRecord)(CUevent event, CUstream handle) {
  return withStream(handle, [&](core::Stream& stream) {
    core::EventRef recorded;
    if (Error error = stream.context().event(reinterpret_cast<core::Event*>(event), recorded);
        error != Error::Success) {
      return error;
    }
    return stream.record(*recorded);
  });
}

CUDA_API_PTSZ(CUresult, cuEventRecordWithFlags)(CUevent event, CUstream handle, unsigned int flags) {
  return withStream(handle, [&](core::Stream& stream) {
    if (flags & ~unsigned{CU_EVENT_RECORD_EXTERNAL}) return Error::InvalidValue;
    core::EventRef recorded;
    if (Error error = stream.context().event(reinterpret_cast<core::Event*>(event), recorded);
        error != Error::Success) {
      return error;
    }
    return stream.record(*recorded);
  });
}

CUDA_API_PTSZ(CUresult, cuStreamAddCallback)
(CUstream handle, CUstreamCallback callback, void* data, unsigned int flags) {
  return withStream(handle, [&](core::Stream& stream) {
    if (!callback || flags != 0) return Error::InvalidValue;
    return stream.hostFunction([=](Error status) { callback(handle, result(status), data); });
  });
}

// Unlike a callback, a host function is not called once the context is broken.
CUDA_API_PTSZ(CUresult, cuLaunchHostFunc)(CUstream handle, CUhostFn function, void* data) {
  return withStream(handle, [&](core::Stream& stream) {
    if (!function) return Error::InvalidValue;
    return stream.hostFunction([=](Error status) {
      if (status == Error::Success) function(data);
    });
  });
}

// Memory stays visible to everyone: attachment only ever narrows what a program may do.
CUDA_API_PTSZ(CUresult, cuStreamAttachMemAsync)
(CUstream handle, CUdeviceptr address, size_t bytes, unsigned int flags) {
  return withStream(handle, [&](core::Stream&) {
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE) {
      return Error::InvalidValue;
    }
    const core::AllocationRef found = core::Platform::get().memory().find(address);
    if (!found || found->kind != core::MemoryKind::Managed) return Error::InvalidValue;
    return bytes == 0 || bytes == found->size ? Error::Success : Error::InvalidValue;
  });
}

CUDA_API_PTSZ(CUresult, cuMemPrefetchAsync_v2)
(CUdeviceptr address, size_t bytes, CUmemLocation, unsigned int flags, CUstream handle) {
  return withStream(handle, [&](core::Stream&) {
    if (bytes == 0 || flags != 0) return Error::InvalidValue;
    const core::AllocationRef found = core::Platform::get().memory().find(address, bytes);
    return found && found->kind == core::MemoryKind::Managed ? Error::Success : Error::InvalidValue;
  });
}

#undef cuMemPrefetchAsync
CUDA_API_PTSZ(CUresult, cuMemPrefetchAsync)(CUdeviceptr address, size_t bytes, CUdevice, CUstream handle) {
  return withStream(handle, [&](core::Stream&) {
    if (bytes == 0) return Error::InvalidValue;
    const core::AllocationRef found = core::Platform::get().memory().find(address, bytes);
    return found && found->kind == core::MemoryKind::Managed ? Error::Success : Error::InvalidValue;
  });
}
