#include "runtime/api/common/stream_calls.h"

#include <cuda.h>

#include "runtime/core/platform.h"

namespace mulciber::api {

using core::Error;

namespace {

// The runtime API's flags have the same numbers.
Error checkFlags(unsigned flags, unsigned known) {
  return (flags & ~known) == 0 ? Error::Success : Error::InvalidValue;
}

}  // namespace

Error checkStreamFlags(unsigned flags) { return checkFlags(flags, CU_STREAM_NON_BLOCKING); }

Error checkEventFlags(unsigned flags) {
  TRY(checkFlags(flags, CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS));
  const bool isTimed = (flags & CU_EVENT_DISABLE_TIMING) == 0;
  return isTimed && (flags & CU_EVENT_INTERPROCESS) != 0 ? Error::InvalidValue : Error::Success;
}

Error destroyStream(const void* stream) {
  core::StreamRef held;
  const auto number = reinterpret_cast<uintptr_t>(stream);
  if (number <= core::perThreadStreamHandle) return Error::InvalidHandle;
  TRY(core::findStream(number, held));
  return held->context().destroyStream(held.get());
}

Error recordEvent(core::Stream& stream, void* event, unsigned flags) {
  TRY(checkFlags(flags, CU_EVENT_RECORD_EXTERNAL));
  core::EventRef recorded;
  const Error error = core::findEvent(static_cast<core::Event*>(event), recorded);
  return error == Error::Success ? stream.record(*recorded, flags != 0) : error;
}

Error waitForEvent(core::Stream& stream, void* event, unsigned flags) {
  core::EventRef awaited;
  TRY(core::findEvent(static_cast<core::Event*>(event), awaited));
  const Error error = checkFlags(flags, CU_EVENT_WAIT_EXTERNAL);
  return error == Error::Success ? stream.wait(*awaited, flags != 0) : error;
}

Error addCallback(core::Stream& stream, unsigned flags, std::function<void(Error status)> callback) {
  return flags == 0 ? stream.hostFunction(std::move(callback)) : Error::InvalidValue;
}

Error launchHostFunction(core::Stream& stream, void (*function)(void*), void* data) {
  if (!function) return Error::InvalidValue;
  return stream.hostFunction(function, data);
}

Error attachMemory(core::Stream& stream, uint64_t address, size_t bytes, unsigned flags) {
  TRY(stream.refuseInCapture());
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE) {
    return Error::InvalidValue;
  }
  const core::AllocationRef found = core::currentMemory().find(address);
  const core::Allocation::Part* const part = found ? found->managedAt(address) : nullptr;
  if (!part || found->offsetOf(address) != part->offset) return Error::InvalidValue;
  return bytes == 0 || bytes == part->size ? Error::Success : Error::InvalidValue;
}

}  // namespace mulciber::api
