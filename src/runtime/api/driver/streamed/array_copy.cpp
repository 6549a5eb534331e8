// Copies of bytes that follow one another in an array.
#include "runtime/api/driver/copy_box.h"
#include "runtime/api/driver/driver.h"

using namespace mulciber::api;
namespace core = mulciber::core;
using core::Copy;
using core::CopyKind;

namespace {

// Where one side of such a copy begins: in an array or in memory.
struct Side {
  CUarray array = nullptr;
  size_t offset = 0;
  uint64_t address = 0;
};

Side in(CUarray array, size_t offset) { return {array, offset, 0}; }
Side at(uint64_t address) { return {nullptr, 0, address}; }
Side at(const void* pointer) { return at(reinterpret_cast<uintptr_t>(pointer)); }

Error find(const Side& side, bool isArray, core::ArrayPlace& place, uint64_t& address) {
  address = side.address;
  place.x = side.offset;
  if (!isArray) return Error::Success;
  return side.array ? core::findArray(arrayOf(side.array), place.array) : Error::InvalidValue;
}

enum class Ends : unsigned char { ToArray, FromArray, Both };

CUresult copyBytes(CUstream handle, const Side& to, const Side& from, size_t bytes, Ends ends, CopyKind kind,
                   bool async, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withStream(handle, [&](core::Stream& stream) {
    Copy copy;
    copy.width = copy.sourcePitch = copy.destinationPitch = bytes;
    copy.kind = kind;
    TRY(find(to, ends != Ends::FromArray, copy.destinationArray, copy.destination));
    TRY(find(from, ends != Ends::ToArray, copy.sourceArray, copy.source));
    return core::copy(stream, copy, async);
  });
}

}  // namespace

CUDA_API_PTDS(CUresult, cuMemcpyDtoA_v2)(CUarray to, size_t offset, CUdeviceptr from, size_t bytes) {
  return copyBytes(nullptr, in(to, offset), at(from), bytes, Ends::ToArray, CopyKind::DeviceToDevice, false);
}
CUDA_API_PTDS(CUresult, cuMemcpyAtoD_v2)(CUdeviceptr to, CUarray from, size_t offset, size_t bytes) {
  return copyBytes(nullptr, at(to), in(from, offset), bytes, Ends::FromArray, CopyKind::DeviceToDevice, false);
}
CUDA_API_PTDS(CUresult, cuMemcpyHtoA_v2)(CUarray to, size_t offset, const void* from, size_t bytes) {
  return copyBytes(nullptr, in(to, offset), at(from), bytes, Ends::ToArray, CopyKind::HostToDevice, false);
}
CUDA_API_PTDS(CUresult, cuMemcpyAtoH_v2)(void* to, CUarray from, size_t offset, size_t bytes) {
  return copyBytes(nullptr, at(to), in(from, offset), bytes, Ends::FromArray, CopyKind::DeviceToHost, false);
}
CUDA_API_PTDS(CUresult, cuMemcpyAtoA_v2)(CUarray to, size_t toOffset, CUarray from, size_t fromOffset, size_t bytes) {
  return copyBytes(nullptr, in(to, toOffset), in(from, fromOffset), bytes, Ends::Both, CopyKind::DeviceToDevice, false);
}
CUDA_API_PTSZ(CUresult, cuMemcpyHtoAAsync_v2)
(CUarray to, size_t offset, const void* from, size_t bytes, CUstream stream) {
  return copyBytes(stream, in(to, offset), at(from), bytes, Ends::ToArray, CopyKind::HostToDevice, true);
}
CUDA_API_PTSZ(CUresult, cuMemcpyAtoHAsync_v2)(void* to, CUarray from, size_t offset, size_t bytes, CUstream stream) {
  return copyBytes(stream, at(to), in(from, offset), bytes, Ends::FromArray, CopyKind::DeviceToHost, true);
}
