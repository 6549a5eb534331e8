#include "runtime/api/runtime/runtime.h"

namespace mulciber::api {

namespace {

thread_local cudaError_t lastError = cudaSuccess;

struct ErrorText {
  int code;
  const char* name;
  const char* description;
};
constexpr ErrorText errorTexts[] = {
#define CUDA_RUNTIME_ERROR(code, name, description) {code, name, description},
#include "runtime/api/runtime/errors.def"
#undef CUDA_RUNTIME_ERROR
};
constexpr ErrorText unknownError = {-1, "unrecognized error code", "unrecognized error code"};

const ErrorText& textOf(cudaError_t error) {
  for (const ErrorText& text : errorTexts) {
    if (text.code == static_cast<int>(error)) return text;
  }
  return unknownError;
}

// A broken context stays broken: its error comes back however often it is taken (HOST-12).
cudaError_t lastOrSticky() {
  if (lastError != cudaSuccess) return lastError;
  const core::ContextRef context = core::currentContext();
  // One that is merely gone is replaced by the next call that needs a context.
  if (!context || context->error() == Error::ContextIsDestroyed) return cudaSuccess;
  return codeOf(context->error());
}

}  // namespace

cudaError_t record(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) lastError = error;
  return error;
}

int refuse(const char* name) {
  reportUnsupported(name);
  return record(cudaErrorNotSupported);
}

}  // namespace mulciber::api

using namespace mulciber::api;

CUDA_API(cudaError_t, cudaGetLastError)() {
  const cudaError_t error = lastOrSticky();
  lastError = cudaSuccess;
  return error;
}

CUDA_API(cudaError_t, cudaPeekAtLastError)() { return lastOrSticky(); }

CUDA_API(const char*, cudaGetErrorName)(cudaError_t error) { return textOf(error).name; }

CUDA_API(const char*, cudaGetErrorString)(cudaError_t error) { return textOf(error).description; }
