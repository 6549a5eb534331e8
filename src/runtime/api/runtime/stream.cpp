// Streams and events as objects; what is done in a stream stands in streamed/.
#include "runtime/api/runtime/runtime.h"

#include "runtime/api/common/captures.h"
#include "runtime/api/common/stream_calls.h"

using namespace mulciber::api;
namespace core = mulciber::core;

CUDA_API(cudaError_t, cudaStreamCreateWithPriority)(cudaStream_t* out, unsigned int flags, int priority) {
  return withContext([&](core::Context& context) { return createStream(context, out, flags, priority); });
}

CUDA_API(cudaError_t, cudaStreamCreateWithFlags)(cudaStream_t* out, unsigned int flags) {
  return cudaStreamCreateWithPriority(out, flags, 0);
}

CUDA_API(cudaError_t, cudaStreamCreate)(cudaStream_t* out) { return cudaStreamCreateWithPriority(out, 0, 0); }

CUDA_API(cudaError_t, cudaStreamDestroy)(cudaStream_t stream) {
  return guarded([&] { return destroyStream(stream); });
}

CUDA_API(cudaError_t, cudaThreadExchangeStreamCaptureMode)(cudaStreamCaptureMode* mode) {
  return guarded([&] { return exchangeCaptureMode(reinterpret_cast<int*>(mode)); });
}

CUDA_API(cudaError_t, cudaEventCreateWithFlags)(cudaEvent_t* out, unsigned int flags) {
  return withContext([&](core::Context& context) { return createEvent(context, out, flags); });
}

CUDA_API(cudaError_t, cudaEventCreate)(cudaEvent_t* out) { return cudaEventCreateWithFlags(out, cudaEventDefault); }

CUDA_API(cudaError_t, cudaEventDestroy)(cudaEvent_t event) {
  return withEvent(event, [](core::Event& held) { return held.context().destroyEvent(&held); });
}

CUDA_API(cudaError_t, cudaEventQuery)(cudaEvent_t handle) {
  return withEvent(handle, [](core::Event& event) { return event.query(); });
}

CUDA_API(cudaError_t, cudaEventSynchronize)(cudaEvent_t handle) {
  return withEvent(handle, [](core::Event& event) { return event.synchronize(); });
}

CUDA_API(cudaError_t, cudaEventElapsedTime)(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  return guarded([&] {
    if (!milliseconds) return Error::InvalidValue;
    core::EventRef start, end;
    TRY(core::findEvent(reinterpret_cast<core::Event*>(from), start));
    TRY(core::findEvent(reinterpret_cast<core::Event*>(to), end));
    return core::Event::elapsed(*start, *end, *milliseconds);
  });
}

CUDA_API(cudaError_t, cudaEventElapsedTime_v2)(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  return cudaEventElapsedTime(milliseconds, from, to);
}
