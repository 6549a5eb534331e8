// Copies of boxes as the driver API describes them, read into core's.
#pragma once

#include <cuda.h>

#include "runtime/core/copy.h"

namespace mulciber::api {

// One side of a 2-D or 3-D copy: which address it starts at. Arrays belong to textures, which are not offered.
inline core::Error sideOf(CUmemorytype type, const void* host, CUdeviceptr device, uint64_t& address, bool& isHost) {
  switch (type) {
    case CU_MEMORYTYPE_HOST:
      address = reinterpret_cast<uintptr_t>(host);
      isHost = true;
      return core::Error::Success;
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED:
      address = device;
      isHost = false;
      return core::Error::Success;
    case CU_MEMORYTYPE_ARRAY: return core::Error::NotSupported;
    default: return core::Error::InvalidValue;
  }
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
  bool fromHost = false, toHost = false;
  if (core::Error error = sideOf(d.srcMemoryType, d.srcHost, d.srcDevice, copy.source, fromHost);
      error != core::Error::Success)
    return error;
  if (core::Error error = sideOf(d.dstMemoryType, d.dstHost, d.dstDevice, copy.destination, toHost);
      error != core::Error::Success)
    return error;
  copy.width = d.WidthInBytes;
  copy.height = d.Height;
  copy.depth = d.Depth;
  copy.sourcePitch = d.srcPitch ? d.srcPitch : d.srcXInBytes + copy.width;
  copy.destinationPitch = d.dstPitch ? d.dstPitch : d.dstXInBytes + copy.width;
  if (copy.sourcePitch < d.srcXInBytes + copy.width || copy.destinationPitch < d.dstXInBytes + copy.width) {
    return core::Error::InvalidValue;
  }
  // Slices hold all the rows that are copied.
  if (d.Depth > 1 &&
      ((d.srcHeight != 0 && d.srcHeight < d.srcY + d.Height) || (d.dstHeight != 0 && d.dstHeight < d.dstY + d.Height)))
    return core::Error::InvalidValue;
  copy.sourceSlice = copy.sourcePitch * (d.srcHeight ? d.srcHeight : d.srcY + copy.height);
  copy.destinationSlice = copy.destinationPitch * (d.dstHeight ? d.dstHeight : d.dstY + copy.height);
  copy.source += d.srcXInBytes + d.srcY * copy.sourcePitch + d.srcZ * copy.sourceSlice;
  copy.destination += d.dstXInBytes + d.dstY * copy.destinationPitch + d.dstZ * copy.destinationSlice;
  copy.kind = kindOf(d.srcMemoryType, d.dstMemoryType);
  return core::Error::Success;
}

}  // namespace mulciber::api
