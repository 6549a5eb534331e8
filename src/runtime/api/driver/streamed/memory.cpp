// Allocation in the order of a stream.
#include "runtime/api/common/memory_pools.h"
#include "runtime/api/driver/driver.h"

using namespace mulciber::api;
namespace core = mulciber::core;

namespace {

Error allocate(CUdeviceptr* out, size_t bytes, const core::MemoryPoolRef& pool, core::Stream& stream) {
  if (!out) return Error::InvalidValue;
  *out = 0;
  if (!pool) return Error::InvalidValue;
  if (bytes == 0) return Error::Success;
  uint64_t address = 0;
  const Error error = stream.context().allocateAsync(*pool, bytes, stream, address);
  if (error == Error::Success) *out = address;
  return error;
}

}  // namespace

CUDA_API_PTSZ(CUresult, cuMemAllocAsync)(CUdeviceptr* out, size_t bytes, CUstream handle) {
  return withStream(handle, [&](core::Stream& stream) {
    return allocate(out, bytes, stream.context().device().currentPool(core::MemoryKind::Device), stream);
  });
}

CUDA_API_PTSZ(CUresult, cuMemAllocFromPoolAsync)
(CUdeviceptr* out, size_t bytes, CUmemoryPool pool, CUstream handle) {
  return withStream(handle, [&](core::Stream& stream) { return allocate(out, bytes, poolOf(pool), stream); });
}

CUDA_API_PTSZ(CUresult, cuMemFreeAsync)(CUdeviceptr address, CUstream handle) {
  return withStream(handle, [&](core::Stream& stream) {
    return address == 0 ? Error::Success : stream.context().freeAsync(address, stream);
  });
}
