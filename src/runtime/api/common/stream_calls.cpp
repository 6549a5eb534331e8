#include "runtime/api/common/stream_calls.h"

#include <cuda.h>

#include "runtime/core/platform.h"

namespace mulciber::api {

using core::Error;

namespace {

// The runtime API's flags have the same numbers.
Error checkFlags(unsigned flags, unsigned external) {
  return (flags & ~external) == 0 ? Error::Success : Error::InvalidValue;
}

}  // namespace

Error recordEvent(core::Stream& stream, void* event, unsigned flags) {
  if (Error error = checkFlags(flags, CU_EVENT_RECORD_EXTERNAL); error != Error::Success) return error;
  core::EventRef recorded;
  const Error error = core::findEvent(static_cast<core::Event*>(event), recorded);
  return error == Error::Success ? stream.record(*recorded, flags != 0) : error;
}

Error waitForEvent(core::Stream& stream, void* event, unsigned flags) {
  core::EventRef awaited;
  if (Error error = core::findEvent(static_cast<core::Event*>(event), awaited); error != Error::Success) return error;
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
  if (Error error = stream.refuseInCapture(); error != Error::Success) return error;
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE) {
    return Error::InvalidValue;
  }
  const core::AllocationRef found = core::Platform::get().memory().find(address);
  if (!found || found->kind != core::MemoryKind::Managed || found->deviceAddress != address) return Error::InvalidValue;
  return bytes == 0 || bytes == found->size ? Error::Success : Error::InvalidValue;
}

}  // namespace mulciber::api
