#include <utility>

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

// A broken context's error is given by the calls that need the context (HOST-12), and only they record it.
CUDA_API(cudaError_t, cudaGetLastError)() { return std::exchange(lastError, cudaSuccess); }

CUDA_API(cudaError_t, cudaPeekAtLastError)() { return lastError; }

CUDA_API(const char*, cudaGetErrorName)(cudaError_t error) { return textOf(error).name; }

CUDA_API(const char*, cudaGetErrorString)(cudaError_t error) { return textOf(error).description; }
