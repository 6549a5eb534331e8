// Streams and events as objects; what is done in a stream stands in streamed/.
#include "runtime/api/driver/driver.h"

#include <algorithm>

using namespace mulciber::api;
namespace core = mulciber::core;

CUDA_API(CUresult, cuStreamCreateWithPriority)(CUstream* out, unsigned int flags, int priority) {
  return withContext([&](core::Context& context) {
    if (!out || (flags & ~unsigned{CU_STREAM_NON_BLOCKING})) return Error::InvalidValue;
    core::Stream* stream = nullptr;
    const Error error = context.createStream(flags, std::clamp(priority, greatestPriority, leastPriority), stream);
    if (error == Error::Success) *out = reinterpret_cast<CUstream>(stream);
    return error;
  });
}

CUDA_API(CUresult, cuStreamCreate)(CUstream* out, unsigned int flags) {
  return cuStreamCreateWithPriority(out, flags, 0);
}

CUDA_API(CUresult, cuStreamDestroy_v2)(CUstream stream) {
  return withContext(
      [&](core::Context& context) { return context.destroyStream(reinterpret_cast<core::Stream*>(stream)); });
}

// Capture needs graphs, which are not there: no stream is ever capturing, whatever the mode.
CUDA_API(CUresult, cuThreadExchangeStreamCaptureMode)(CUstreamCaptureMode* mode) {
  thread_local CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
  if (!mode || *mode < CU_STREAM_CAPTURE_MODE_GLOBAL || *mode > CU_STREAM_CAPTURE_MODE_RELAXED) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::swap(*mode, current);
  return CUDA_SUCCESS;
}

CUDA_API(CUresult, cuEventCreate)(CUevent* out, unsigned int flags) {
  return withContext([&](core::Context& context) {
    constexpr unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    if (!out || (flags & ~known)) return Error::InvalidValue;
    if ((flags & CU_EVENT_INTERPROCESS) && !(flags & CU_EVENT_DISABLE_TIMING)) return Error::InvalidValue;
    if (flags & CU_EVENT_INTERPROCESS) return Error::NotSupported;
    core::Event* event = nullptr;
    const Error error = context.createEvent(flags, event);
    if (error == Error::Success) *out = reinterpret_cast<CUevent>(event);
    return error;
  });
}

CUDA_API(CUresult, cuEventDestroy_v2)(CUevent event) {
  return withContext(
      [&](core::Context& context) { return context.destroyEvent(reinterpret_cast<core::Event*>(event)); });
}

CUDA_API(CUresult, cuEventQuery)(CUevent handle) {
  return withEvent(handle, [](core::Event& event) { return event.query(); });
}

CUDA_API(CUresult, cuEventSynchronize)(CUevent handle) {
  return withEvent(handle, [](core::Event& event) { return event.synchronize(); });
}

CUDA_API(CUresult, cuEventElapsedTime_v2)(float* milliseconds, CUevent from, CUevent to) {
  return withContext([&](core::Context& context) {
    if (!milliseconds) return Error::InvalidValue;
    core::EventRef start, end;
    if (Error error = context.event(reinterpret_cast<core::Event*>(from), start); error != Error::Success) return error;
    if (Error error = context.event(reinterpret_cast<core::Event*>(to), end); error != Error::Success) return error;
    return core::Event::elapsed(*start, *end, *milliseconds);
  });
}
