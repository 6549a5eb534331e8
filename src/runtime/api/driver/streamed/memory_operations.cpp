// Waiting for, and writing, words of memory in the order of a stream.
#include "runtime/api/driver/memory_operations.h"

#include "runtime/api/driver/driver.h"

using namespace mulciber::api;
namespace core = mulciber::core;

namespace {

CUresult wait(CUstream handle, CUdeviceptr address, uint64_t value, CUstreamBatchMemOpType type, unsigned int flags,
              const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withStream(handle, [&](core::Stream& stream) {
    CUstreamBatchMemOpParams operation{};
    operation.operation = type;
    operation.waitValue.address = address;
    operation.waitValue.value64 = value;
    operation.waitValue.flags = flags;
    return giveOperations(stream, &operation, 1, 0);
  });
}

CUresult write(CUstream handle, CUdeviceptr address, uint64_t value, CUstreamBatchMemOpType type, unsigned int flags,
               const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withStream(handle, [&](core::Stream& stream) {
    if (flags != CU_STREAM_WRITE_VALUE_DEFAULT) return Error::InvalidValue;
    CUstreamBatchMemOpParams operation{};
    operation.operation = type;
    operation.writeValue.address = address;
    operation.writeValue.value64 = value;
    return giveOperations(stream, &operation, 1, 0);
  });
}

}  // namespace

CUDA_API_PTSZ(CUresult, cuStreamWaitValue32_v2)
(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
  return wait(stream, address, value, CU_STREAM_MEM_OP_WAIT_VALUE_32, flags);
}

CUDA_API_PTSZ(CUresult, cuStreamWaitValue64_v2)
(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
  return wait(stream, address, value, CU_STREAM_MEM_OP_WAIT_VALUE_64, flags);
}

CUDA_API_PTSZ(CUresult, cuStreamWriteValue32_v2)
(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
  return write(stream, address, value, CU_STREAM_MEM_OP_WRITE_VALUE_32, flags);
}

CUDA_API_PTSZ(CUresult, cuStreamWriteValue64_v2)
(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
  return write(stream, address, value, CU_STREAM_MEM_OP_WRITE_VALUE_64, flags);
}

CUDA_API_PTSZ(CUresult, cuStreamBatchMemOp_v2)
(CUstream handle, unsigned int count, CUstreamBatchMemOpParams* operations, unsigned int flags) {
  return withStream(handle, [&](core::Stream& stream) { return giveOperations(stream, operations, count, flags); });
}
