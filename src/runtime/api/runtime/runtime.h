// What every file of the runtime API needs.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <new>

#include "runtime/api/common/library.h"
#include "runtime/api/entry.h"
#include "runtime/core/context.h"
#include "runtime/core/platform.h"
#include "runtime/core/trace.h"
#include "util/exit_gate.h"

namespace mulciber::api {

using core::Error;

// Remembers an error for cudaGetLastError (HOST-10) and gives it back. NotReady is an answer, not an error.
cudaError_t record(cudaError_t error);

// An attribute of a device as this library tells it: its callers may be told another compute capability than others.
Error attributeOf(const core::Device& device, int attribute, int& value);

// The runtime API's codes are the driver API's but for a few.
inline cudaError_t codeOf(Error error) { return static_cast<cudaError_t>(error); }

// The body gives a core::Error or a cudaError_t. Nothing thrown may cross the C boundary.
template <class Body>
cudaError_t guarded(Body&& body, const char* call = __builtin_FUNCTION()) {
  const util::Inside inside;
  if (!inside) return record(cudaErrorCudartUnloading);
  if (inside.isFromHostFunction()) return record(cudaErrorNotPermitted);  // STR-10
  const core::ApiSpan span(call);
  try {
    return record(static_cast<cudaError_t>(body()));
  } catch (const std::bad_alloc&) {
    return record(cudaErrorMemoryAllocation);
  } catch (...) {
    return record(cudaErrorUnknown);
  }
}

// With the devices found; no context is made.
template <class Body>
cudaError_t withPlatform(Body&& body, const char* call = __builtin_FUNCTION()) {
  return guarded(
      [&]() -> cudaError_t {
        TRY(codeOf(core::Platform::get().initialize()));
        return static_cast<cudaError_t>(body());
      },
      call);
}

template <class Body>
cudaError_t withDevice(int ordinal, Body&& body, const char* call = __builtin_FUNCTION()) {
  return withPlatform(
      [&]() -> cudaError_t {
        core::Device* device = core::Platform::get().device(ordinal);
        return device ? static_cast<cudaError_t>(body(*device)) : cudaErrorInvalidDevice;
      },
      call);
}

// With the thread's context, which the first such call makes (HOST-01).
template <class Body>
cudaError_t withContext(Body&& body, const char* call = __builtin_FUNCTION()) {
  return guarded(
      [&]() -> cudaError_t {
        core::ContextRef context;
        TRY(codeOf(core::ensureRuntimeContext(context)));
        return static_cast<cudaError_t>(body(*context));
      },
      call);
}

template <class Body>
cudaError_t withStream(cudaStream_t handle, Body&& body, const char* call = __builtin_FUNCTION()) {
  const auto number = reinterpret_cast<uintptr_t>(handle);
  if (number <= core::perThreadStreamHandle)  // these are the current context's
    return withContext(
        [&](core::Context& context) -> cudaError_t {
          core::StreamRef stream;
          TRY(codeOf(context.stream(number, perThreadDefault, stream)));
          return static_cast<cudaError_t>(body(*stream));
        },
        call);
  return guarded(
      [&]() -> cudaError_t {
        core::StreamRef stream;
        TRY(codeOf(core::findStream(number, stream)));
        return static_cast<cudaError_t>(body(*stream));
      },
      call);
}

template <class Body>
cudaError_t withEvent(cudaEvent_t handle, Body&& body, const char* call = __builtin_FUNCTION()) {
  return guarded(
      [&]() -> cudaError_t {
        core::EventRef event;
        TRY(codeOf(core::findEvent(reinterpret_cast<core::Event*>(handle), event)));
        return static_cast<cudaError_t>(body(*event));
      },
      call);
}

// The default stream of functions with the suffix _ptsz, where it is not known when they are compiled.
inline cudaStream_t orPerThread(cudaStream_t stream) { return stream ? stream : cudaStreamPerThread; }

// A kernel by its host function, or by a cudaKernel_t: registration.cpp keeps both.
Error findFunction(const void* entry, core::Context& context, core::Function*& out);
Kernel* findKernel(const void* entry);
// A variable by its host shadow, or by its address when it is managed. cudaErrorInvalidSymbol when there is none.
cudaError_t findSymbol(const void* symbol, core::Context& context, uint64_t& address, size_t& bytes);

template <class Body>
cudaError_t withFunction(const void* entry, Body&& body, const char* call = __builtin_FUNCTION()) {
  return withContext(
      [&](core::Context& context) -> cudaError_t {
        core::Function* function = nullptr;
        const Error error = findFunction(entry, context, function);
        if (error == Error::InvalidHandle) return cudaErrorInvalidDeviceFunction;
        if (error != Error::Success) return codeOf(error);
        return static_cast<cudaError_t>(body(*function));
      },
      call);
}

}  // namespace mulciber::api
