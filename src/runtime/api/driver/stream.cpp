// Streams and events as objects; what is done in a stream stands in streamed/.
#include "runtime/api/driver/driver.h"

#include <algorithm>

#include "runtime/api/common/captures.h"

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
  return guarded([&] {
    core::StreamRef held;
    const auto number = reinterpret_cast<uintptr_t>(stream);
    if (number <= core::perThreadStreamHandle) return Error::InvalidHandle;
    if (Error error = core::findStream(number, held); error != Error::Success) return error;
    return held->context().destroyStream(held.get());
  });
}

CUDA_API(CUresult, cuThreadExchangeStreamCaptureMode)(CUstreamCaptureMode* mode) {
  return guarded([&] { return exchangeCaptureMode(reinterpret_cast<int*>(mode)); });
}

CUDA_API(CUresult, cuEventCreate)(CUevent* out, unsigned int flags) {
  return withContext([&](core::Context& context) {
    constexpr unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    if (!out || (flags & ~known)) return Error::InvalidValue;
    if ((flags & CU_EVENT_INTERPROCESS) && !(flags & CU_EVENT_DISABLE_TIMING)) return Error::InvalidValue;
    core::Event* event = nullptr;
    const Error error = context.createEvent(flags, event);
    if (error == Error::Success) *out = reinterpret_cast<CUevent>(event);
    return error;
  });
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
    if (Error error = core::findEvent(reinterpret_cast<core::Event*>(from), start); error != Error::Success)
      return error;
    if (Error error = core::findEvent(reinterpret_cast<core::Event*>(to), end); error != Error::Success) return error;
    return core::Event::elapsed(*start, *end, *milliseconds);
  });
}
