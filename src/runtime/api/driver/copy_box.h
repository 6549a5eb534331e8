// Copies of boxes as the driver API describes them, read into core's.
#pragma once

#include <cuda.h>

#include "runtime/core/copy.h"
#include "runtime/core/platform.h"

namespace mulciber::api {

inline core::Array* arrayOf(CUarray handle) { return reinterpret_cast<core::Array*>(handle); }

// One side of a 2-D or 3-D copy.
struct BoxSide {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  size_t x, y, z, pitch, height, level;  // x in bytes
};

inline core::Error readSide(const BoxSide& side, const core::Copy& copy, uint64_t& address, size_t& pitch,
                            size_t& slice, core::ArrayPlace& array) {
  switch (side.type) {
    case CU_MEMORYTYPE_HOST: address = reinterpret_cast<uintptr_t>(side.host); break;
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED: address = side.device; break;
    case CU_MEMORYTYPE_ARRAY:
      if (!side.array || side.level != 0) return core::Error::InvalidValue;
      array.x = side.x;
      array.y = side.y;
      array.z = side.z;
      return core::findArray(arrayOf(side.array), array.array);
    default: return core::Error::InvalidValue;
  }
  size_t row = 0, rows = 0;
  if (__builtin_add_overflow(side.x, copy.width, &row) || __builtin_add_overflow(side.y, copy.height, &rows))
    return core::Error::InvalidValue;
  pitch = side.pitch ? side.pitch : row;
  if (pitch < row) return core::Error::InvalidValue;
  // Slices hold all the rows that are copied.
  if (copy.depth > 1 && side.height != 0 && side.height < rows) return core::Error::InvalidValue;
  const bool isTooLarge = __builtin_mul_overflow(pitch, side.height ? side.height : rows, &slice);
  if (isTooLarge && (copy.depth > 1 || side.z != 0)) return core::Error::InvalidValue;
  const bool isThere = address == 0 || core::placeIn(address, side.x, side.y, side.z, pitch, slice, address);
  return isThere ? core::Error::Success : core::Error::InvalidValue;
}

inline core::CopyKind kindOf(CUmemorytype from, CUmemorytype to) {
  if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED) return core::CopyKind::Default;
  const bool fromHost = from == CU_MEMORYTYPE_HOST, toHost = to == CU_MEMORYTYPE_HOST;
  if (fromHost) return toHost ? core::CopyKind::HostToHost : core::CopyKind::HostToDevice;
  return toHost ? core::CopyKind::DeviceToHost : core::CopyKind::DeviceToDevice;
}

// CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER share all the fields used here.
template <class Description>
core::Error readBox(const Description& d, core::Copy& copy) {
  copy.width = d.WidthInBytes;
  copy.height = d.Height;
  copy.depth = d.Depth;
  copy.kind = kindOf(d.srcMemoryType, d.dstMemoryType);
  const BoxSide from{d.srcMemoryType, d.srcHost, d.srcDevice, d.srcArray,  d.srcXInBytes,
                     d.srcY,          d.srcZ,    d.srcPitch,  d.srcHeight, d.srcLOD};
  const BoxSide to{d.dstMemoryType, d.dstHost, d.dstDevice, d.dstArray,  d.dstXInBytes,
                   d.dstY,          d.dstZ,    d.dstPitch,  d.dstHeight, d.dstLOD};
  TRY(readSide(from, copy, copy.source, copy.sourcePitch, copy.sourceSlice, copy.sourceArray));
  return readSide(to, copy, copy.destination, copy.destinationPitch, copy.destinationSlice, copy.destinationArray);
}

}  // namespace mulciber::api
