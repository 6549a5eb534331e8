#include "runtime/api/driver/memory_operations.h"

#include "runtime/core/capture.h"
#include "runtime/core/context.h"
#include "runtime/core/platform.h"

namespace mulciber::api {

using core::Error;

namespace {

uint32_t bytesOf(const CUstreamBatchMemOpParams& operation) {
  const CUstreamBatchMemOpType type = operation.operation;
  return type == CU_STREAM_MEM_OP_WAIT_VALUE_64 || type == CU_STREAM_MEM_OP_WRITE_VALUE_64 ? 8 : 4;
}

Error readWait(const CUstreamBatchMemOpParams& operation, core::WordOperation& out) {
  const auto& given = operation.waitValue;
  if (given.flags & CU_STREAM_WAIT_VALUE_FLUSH) return Error::NotSupported;  // as the device's attribute says
  if (given.flags > CU_STREAM_WAIT_VALUE_NOR) return Error::InvalidValue;
  const uint32_t bytes = bytesOf(operation);
  out = core::WordWait{given.address, bytes == 8 ? given.value64 : given.value, bytes,
                       static_cast<core::WordWait::Condition>(given.flags)};
  return core::checkWord(core::currentMemory(), given.address, bytes);
}

Error readWrite(const CUstreamBatchMemOpParams& operation, core::WordOperation& out) {
  const auto& given = operation.writeValue;
  if (given.flags & ~unsigned{CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER}) return Error::InvalidValue;
  const uint32_t bytes = bytesOf(operation);
  out = core::WordWrite{given.address, bytes == 8 ? given.value64 : given.value, bytes};
  return core::checkWord(core::currentMemory(), given.address, bytes);
}

Error read(const CUstreamBatchMemOpParams& operation, core::WordOperation& out) {
  switch (operation.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64: return readWait(operation, out);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64: return readWrite(operation, out);
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES: return Error::NotSupported;
    case CU_STREAM_MEM_OP_BARRIER:
      out = core::WordBarrier{};
      return operation.memoryBarrier.flags <= CU_STREAM_MEMORY_BARRIER_TYPE_GPU ? Error::Success : Error::InvalidValue;
    default: return Error::InvalidValue;
  }
}

}  // namespace

Error readOperations(const CUstreamBatchMemOpParams* given, unsigned count, unsigned flags,
                     std::vector<core::WordOperation>& out) {
  constexpr unsigned mostOperations = 256;  // CUDA's limit
  if (flags != 0 || count > mostOperations || (count != 0 && !given)) return Error::InvalidValue;
  out.resize(count);
  for (unsigned i = 0; i < count; ++i) TRY(read(given[i], out[i]));
  return Error::Success;
}

Error giveOperations(core::Stream& stream, const CUstreamBatchMemOpParams* given, unsigned count, unsigned flags) {
  std::vector<core::WordOperation> operations;
  TRY(readOperations(given, count, flags, operations));
  const core::CaptureRef capture = stream.capture();
  if (!capture) return core::carryOut(stream, operations);
  const auto* const bytes = reinterpret_cast<const uint8_t*>(given);
  return capture->add(
      stream, core::MemoryOperationsNode{
                  stream.context().shared_from_this(), std::move(operations), {bytes, bytes + count * sizeof(*given)}});
}

}  // namespace mulciber::api
