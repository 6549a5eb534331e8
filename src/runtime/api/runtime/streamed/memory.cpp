// Allocation in the order of a stream.
#include "runtime/api/common/memory_pools.h"
#include "runtime/api/runtime/runtime.h"

using namespace mulciber::api;
namespace core = mulciber::core;

namespace {

Error allocate(void** out, size_t bytes, const core::MemoryPoolRef& pool, core::Stream& stream) {
  if (!out) return Error::InvalidValue;
  *out = nullptr;
  if (!pool) return Error::InvalidValue;
  if (bytes == 0) return Error::Success;
  uint64_t address = 0;
  const Error error = stream.context().allocateAsync(*pool, bytes, stream, address);
  if (error == Error::Success) *out = reinterpret_cast<void*>(address);
  return error;
}

}  // namespace

CUDA_API_PTSZ(cudaError_t, cudaMallocAsync)(void** out, size_t bytes, cudaStream_t handle) {
  return withStream(handle, [&](core::Stream& stream) {
    return allocate(out, bytes, stream.context().device().currentPool(core::MemoryKind::Device), stream);
  });
}

CUDA_API_PTSZ(cudaError_t, cudaMallocFromPoolAsync)
(void** out, size_t bytes, cudaMemPool_t pool, cudaStream_t handle) {
  return withStream(handle, [&](core::Stream& stream) { return allocate(out, bytes, poolOf(pool), stream); });
}

CUDA_API_PTSZ(cudaError_t, cudaFreeAsync)(void* pointer, cudaStream_t handle) {
  return withStream(handle, [&](core::Stream& stream) {
    return !pointer ? Error::Success : stream.context().freeAsync(reinterpret_cast<uintptr_t>(pointer), stream);
  });
}
