// What every file of the driver API needs: from handles to core's objects, and core's errors back.
#pragma once

#include <cuda.h>

#include <new>

#include "runtime/api/common/library.h"
#include "runtime/api/entry.h"
#include "runtime/core/context.h"
#include "runtime/core/platform.h"
#include "runtime/core/trace.h"
#include "util/exit_gate.h"

namespace mulciber::api {

using core::Error;

inline CUresult result(Error error) { return static_cast<CUresult>(error); }

// Nothing thrown may cross the C boundary; only memory can run out in here.
template <class Body>
CUresult guarded(Body&& body, const char* call = __builtin_FUNCTION()) {
  const util::Inside inside;
  if (!inside) return CUDA_ERROR_DEINITIALIZED;
  if (inside.isFromHostFunction()) return CUDA_ERROR_NOT_PERMITTED;  // STR-10
  const core::ApiSpan span(call);
  try {
    return result(body());
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (...) {
    return CUDA_ERROR_UNKNOWN;
  }
}

// DRV-01: nothing but a few functions works before cuInit.
template <class Body>
CUresult withDriver(Body&& body, const char* call = __builtin_FUNCTION()) {
  return guarded([&] { return core::Platform::get().isInitialized() ? body() : Error::NotInitialized; }, call);
}

template <class Body>
CUresult withDevice(CUdevice ordinal, Body&& body, const char* call = __builtin_FUNCTION()) {
  return withDriver(
      [&] {
        core::Device* device = core::Platform::get().device(ordinal);
        return device ? body(*device) : Error::InvalidDevice;
      },
      call);
}

// DRV-04: InvalidContext when the thread has none; a broken context gives its own error.
template <class Body>
CUresult withContext(Body&& body, const char* call = __builtin_FUNCTION()) {
  return withDriver(
      [&] {
        core::ContextRef context;
        TRY(core::currentContext(context));
        return body(*context);
      },
      call);
}

template <class Body>
CUresult withStream(CUstream handle, Body&& body, const char* call = __builtin_FUNCTION()) {
  const auto number = reinterpret_cast<uintptr_t>(handle);
  if (number <= core::perThreadStreamHandle)  // these are the current context's
    return withContext(
        [&](core::Context& context) {
          core::StreamRef stream;
          TRY(context.stream(number, perThreadDefault, stream));
          return body(*stream);
        },
        call);
  return guarded(
      [&] {
        core::StreamRef stream;
        TRY(core::findStream(number, stream));
        return body(*stream);
      },
      call);
}

template <class Body>
CUresult withEvent(CUevent handle, Body&& body, const char* call = __builtin_FUNCTION()) {
  return guarded(
      [&] {
        core::EventRef event;
        TRY(core::findEvent(reinterpret_cast<core::Event*>(handle), event));
        return body(*event);
      },
      call);
}

template <class Body>
CUresult withFunction(const void* handle, Body&& body, const char* call = __builtin_FUNCTION()) {
  return withDriver(
      [&] {
        // A function knows its context; a kernel is a function of the current one.
        core::ContextRef context;
        if (Kernel::of(handle)) TRY(core::currentContext(context));
        core::Function* function = nullptr;
        TRY(functionOf(handle, context.get(), function));
        TRY(function->module().context().error());
        return body(*function);
      },
      call);
}

core::ContextRef contextOf(CUcontext handle);  // null for what is no context
inline CUcontext handleOf(const core::ContextRef& context) { return reinterpret_cast<CUcontext>(context.get()); }

// Copies text into a program's buffer, cut to its size and always terminated.
Error copyText(const std::string& text, char* buffer, int bytes);

}  // namespace mulciber::api
