// Waiting for, and writing, words of memory in the order of a stream.
#include "runtime/core/memory_operations.h"

#include "runtime/api/driver/driver.h"

using namespace mulciber::api;
namespace core = mulciber::core;

namespace {

Error checkWait(unsigned int flags) {
  if (flags & CU_STREAM_WAIT_VALUE_FLUSH) return Error::NotSupported;  // as the device's attribute says
  return flags <= CU_STREAM_WAIT_VALUE_NOR ? Error::Success : Error::InvalidValue;
}

core::WordWait waitOf(CUdeviceptr address, uint64_t value, uint32_t bytes, unsigned int flags) {
  return {address, value, bytes, static_cast<core::WordWait::Condition>(flags & 3)};
}

CUresult wait(CUstream handle, CUdeviceptr address, uint64_t value, uint32_t bytes, unsigned int flags,
              const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withStream(handle, [&](core::Stream& stream) {
    if (Error error = checkWait(flags); error != Error::Success) return error;
    return core::waitForWord(stream, waitOf(address, value, bytes, flags));
  });
}

CUresult write(CUstream handle, CUdeviceptr address, uint64_t value, uint32_t bytes, unsigned int flags,
               const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withStream(handle, [&](core::Stream& stream) {
    if (flags != CU_STREAM_WRITE_VALUE_DEFAULT) return Error::InvalidValue;
    return core::writeWord(stream, {address, value, bytes});
  });
}

uint32_t bytesOf(const CUstreamBatchMemOpParams& operation) {
  const CUstreamBatchMemOpType type = operation.operation;
  return type == CU_STREAM_MEM_OP_WAIT_VALUE_64 || type == CU_STREAM_MEM_OP_WRITE_VALUE_64 ? 8 : 4;
}

Error check(const CUstreamBatchMemOpParams& operation) {
  switch (operation.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      if (Error error = checkWait(operation.waitValue.flags); error != Error::Success) return error;
      return core::checkWord(operation.waitValue.address, bytesOf(operation));
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      if (operation.writeValue.flags & ~unsigned{CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER}) return Error::InvalidValue;
      return core::checkWord(operation.writeValue.address, bytesOf(operation));
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES: return Error::NotSupported;
    case CU_STREAM_MEM_OP_BARRIER:
      return operation.memoryBarrier.flags <= CU_STREAM_MEMORY_BARRIER_TYPE_GPU ? Error::Success : Error::InvalidValue;
    default: return Error::InvalidValue;
  }
}

// Operations of a stream are ordered as they are: barriers add nothing.
Error carryOut(core::Stream& stream, const CUstreamBatchMemOpParams& operation) {
  const uint32_t bytes = bytesOf(operation);
  switch (operation.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64: {
      const auto& given = operation.waitValue;
      return core::waitForWord(stream,
                               waitOf(given.address, bytes == 8 ? given.value64 : given.value, bytes, given.flags));
    }
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64: {
      const auto& given = operation.writeValue;
      return core::writeWord(stream, {given.address, bytes == 8 ? given.value64 : given.value, bytes});
    }
    default: return Error::Success;
  }
}

}  // namespace

CUDA_API_PTSZ(CUresult, cuStreamWaitValue32_v2)
(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
  return wait(stream, address, value, 4, flags);
}

CUDA_API_PTSZ(CUresult, cuStreamWaitValue64_v2)
(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
  return wait(stream, address, value, 8, flags);
}

CUDA_API_PTSZ(CUresult, cuStreamWriteValue32_v2)
(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
  return write(stream, address, value, 4, flags);
}

CUDA_API_PTSZ(CUresult, cuStreamWriteValue64_v2)
(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
  return write(stream, address, value, 8, flags);
}

// All or nothing: what is wrong with one keeps the others from being given to the stream.
CUDA_API_PTSZ(CUresult, cuStreamBatchMemOp_v2)
(CUstream handle, unsigned int count, CUstreamBatchMemOpParams* operations, unsigned int flags) {
  return withStream(handle, [&](core::Stream& stream) {
    constexpr unsigned mostOperations = 256;  // CUDA's limit
    if (flags != 0 || count > mostOperations || (count != 0 && !operations)) return Error::InvalidValue;
    for (unsigned i = 0; i < count; ++i)
      if (Error error = check(operations[i]); error != Error::Success) return error;
    for (unsigned i = 0; i < count; ++i)
      if (Error error = carryOut(stream, operations[i]); error != Error::Success) return error;
    return Error::Success;
  });
}
