// Streams and events as objects; what is done in a stream stands in streamed/.
#include "runtime/api/runtime/runtime.h"

#include <algorithm>

#include "runtime/api/common/captures.h"

using namespace mulciber::api;
namespace core = mulciber::core;

CUDA_API(cudaError_t, cudaStreamCreateWithPriority)(cudaStream_t* out, unsigned int flags, int priority) {
  return withContext([&](core::Context& context) {
    if (!out || (flags & ~unsigned{cudaStreamNonBlocking})) return Error::InvalidValue;
    core::Stream* stream = nullptr;
    const Error error = context.createStream(flags, std::clamp(priority, greatestPriority, leastPriority), stream);
    if (error == Error::Success) *out = reinterpret_cast<cudaStream_t>(stream);
    return error;
  });
}

CUDA_API(cudaError_t, cudaStreamCreateWithFlags)(cudaStream_t* out, unsigned int flags) {
  return cudaStreamCreateWithPriority(out, flags, 0);
}

CUDA_API(cudaError_t, cudaStreamCreate)(cudaStream_t* out) { return cudaStreamCreateWithPriority(out, 0, 0); }

CUDA_API(cudaError_t, cudaStreamDestroy)(cudaStream_t stream) {
  return guarded([&] {
    core::StreamRef held;
    const auto number = reinterpret_cast<uintptr_t>(stream);
    if (number <= core::perThreadStreamHandle) return Error::InvalidHandle;
    if (Error error = core::findStream(number, held); error != Error::Success) return error;
    return held->context().destroyStream(held.get());
  });
}

CUDA_API(cudaError_t, cudaThreadExchangeStreamCaptureMode)(cudaStreamCaptureMode* mode) {
  return guarded([&] { return exchangeCaptureMode(reinterpret_cast<int*>(mode)); });
}

CUDA_API(cudaError_t, cudaEventCreateWithFlags)(cudaEvent_t* out, unsigned int flags) {
  return withContext([&](core::Context& context) {
    constexpr unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if (!out || (flags & ~known)) return Error::InvalidValue;
    if ((flags & cudaEventInterprocess) && !(flags & cudaEventDisableTiming)) return Error::InvalidValue;
    core::Event* event = nullptr;
    const Error error = context.createEvent(flags, event);
    if (error == Error::Success) *out = reinterpret_cast<cudaEvent_t>(event);
    return error;
  });
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
    if (Error error = core::findEvent(reinterpret_cast<core::Event*>(from), start); error != Error::Success)
      return error;
    if (Error error = core::findEvent(reinterpret_cast<core::Event*>(to), end); error != Error::Success) return error;
    return core::Event::elapsed(*start, *end, *milliseconds);
  });
}

CUDA_API(cudaError_t, cudaEventElapsedTime_v2)(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  return cudaEventElapsedTime(milliseconds, from, to);
}
