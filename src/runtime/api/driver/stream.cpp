// Streams and events as objects; what is done in a stream stands in streamed/.
#include "runtime/api/driver/driver.h"

#include "runtime/api/common/captures.h"
#include "runtime/api/common/stream_calls.h"

using namespace mulciber::api;
namespace core = mulciber::core;

CUDA_API(CUresult, cuStreamCreateWithPriority)(CUstream* out, unsigned int flags, int priority) {
  return withContext([&](core::Context& context) { return createStream(context, out, flags, priority); });
}

CUDA_API(CUresult, cuStreamCreate)(CUstream* out, unsigned int flags) {
  return cuStreamCreateWithPriority(out, flags, 0);
}

CUDA_API(CUresult, cuStreamDestroy_v2)(CUstream stream) {
  return guarded([&] { return destroyStream(stream); });
}

// Contexts with a part of a device's multiprocessors are not offered: no stream belongs to one. cuBLAS asks.
CUDA_API(CUresult, cuStreamGetGreenCtx)(CUstream stream, CUgreenCtx* green) {
  return withStream(stream, [&](core::Stream&) { return give(green, nullptr); });
}

CUDA_API(CUresult, cuThreadExchangeStreamCaptureMode)(CUstreamCaptureMode* mode) {
  return guarded([&] { return exchangeCaptureMode(reinterpret_cast<int*>(mode)); });
}

CUDA_API(CUresult, cuEventCreate)(CUevent* out, unsigned int flags) {
  return withContext([&](core::Context& context) { return createEvent(context, out, flags); });
}

CUDA_API(CUresult, cuEventDestroy_v2)(CUevent event) {
  return withEvent(event, [](core::Event& held) { return held.context().destroyEvent(&held); });
}

CUDA_API(CUresult, cuEventQuery)(CUevent handle) {
  return withEvent(handle, [](core::Event& event) { return event.query(); });
}

CUDA_API(CUresult, cuEventSynchronize)(CUevent handle) {
  return withEvent(handle, [](core::Event& event) { return event.synchronize(); });
}

CUDA_API(CUresult, cuEventElapsedTime_v2)(float* milliseconds, CUevent from, CUevent to) {
  return guarded([&] {
    if (!milliseconds) return Error::InvalidHandle;
    core::EventRef start, end;
    TRY(core::findEvent(reinterpret_cast<core::Event*>(from), start));
    TRY(core::findEvent(reinterpret_cast<core::Event*>(to), end));
    return core::Event::elapsed(*start, *end, *milliseconds);
  });
}
