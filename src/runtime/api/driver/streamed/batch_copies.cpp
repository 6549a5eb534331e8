// Many copies given at once. The older names also say which of them was wrong.
#include "runtime/api/common/batch_copies.h"

#include "runtime/api/driver/driver.h"

using namespace mulciber::api;
namespace core = mulciber::core;

namespace {

// Unlike other work, a batch needs a current context, whatever stream is given, and a stream that has a handle.
template <class Body>
CUresult withStreamOfBatch(CUstream handle, size_t* failed, Body&& body, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  if (!handle && !perThreadDefault) return CUDA_ERROR_INVALID_VALUE;
  if (failed && core::Platform::get().isInitialized()) *failed = SIZE_MAX;
  return core::currentContext() ? withStream(handle, body) : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

#undef cuMemcpyBatchAsync
#undef cuMemcpy3DBatchAsync

CUDA_API_PTSZ(CUresult, cuMemcpyBatchAsync)
(CUdeviceptr* destinations, CUdeviceptr* sources, size_t* sizes, size_t count, CUmemcpyAttributes* attributes,
 size_t* firsts, size_t attributeCount, size_t* failed, CUstream handle) {
  return withStreamOfBatch(handle, failed, [&](core::Stream& stream) {
    return copyBatch(stream, destinations, sources, sizes, count, attributes, firsts, attributeCount, failed);
  });
}

CUDA_API_PTSZ(CUresult, cuMemcpyBatchAsync_v2)
(CUdeviceptr* destinations, CUdeviceptr* sources, size_t* sizes, size_t count, CUmemcpyAttributes* attributes,
 size_t* firsts, size_t attributeCount, CUstream handle) {
  return withStreamOfBatch(handle, nullptr, [&](core::Stream& stream) {
    return copyBatch(stream, destinations, sources, sizes, count, attributes, firsts, attributeCount, nullptr);
  });
}

CUDA_API_PTSZ(CUresult, cuMemcpy3DBatchAsync)
(size_t count, CUDA_MEMCPY3D_BATCH_OP* boxes, size_t* failed, unsigned long long flags, CUstream handle) {
  return withStreamOfBatch(handle, failed,
                           [&](core::Stream& stream) { return copyBoxes(stream, boxes, count, flags, failed); });
}

CUDA_API_PTSZ(CUresult, cuMemcpy3DBatchAsync_v2)
(size_t count, CUDA_MEMCPY3D_BATCH_OP* boxes, unsigned long long flags, CUstream handle) {
  return withStreamOfBatch(handle, nullptr,
                           [&](core::Stream& stream) { return copyBoxes(stream, boxes, count, flags, nullptr); });
}
