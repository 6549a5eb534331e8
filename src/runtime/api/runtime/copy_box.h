// Copies as the runtime API describes them, read into core's.
#pragma once

#include <cuda_runtime.h>

#include <utility>

#include "runtime/core/copy.h"

namespace mulciber::api {

inline uint64_t addressOf(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

inline core::Copy linear(const void* to, const void* from, size_t bytes) {
  core::Copy copy;
  copy.destination = addressOf(to);
  copy.source = addressOf(from);
  copy.width = copy.destinationPitch = copy.sourcePitch = bytes;
  return copy;
}

inline core::Copy rectangle(const void* to, size_t toPitch, const void* from, size_t fromPitch, size_t width,
                            size_t height) {
  core::Copy copy = linear(to, from, width);
  copy.height = height;
  copy.destinationPitch = toPitch;
  copy.sourcePitch = fromPitch;
  return copy;
}

// cudaMemcpy3DParms and cudaMemcpy3DPeerParms share all the fields used here. Arrays belong to textures.
template <class Parameters>
cudaError_t readBox(const Parameters& p, core::Copy& copy) {
  if (p.srcArray || p.dstArray) return cudaErrorNotSupported;
  for (const auto& [side, position] : {std::pair{p.srcPtr, p.srcPos}, std::pair{p.dstPtr, p.dstPos}}) {
    if (!side.ptr) return cudaErrorInvalidValue;
    const auto& [width, height, depth] = p.extent;
    const bool isOneRow = height == 1 && depth == 1;
    if ((width > side.pitch && !isOneRow) || (depth > 1 && height > side.ysize)) return cudaErrorInvalidPitchValue;
    if (width > side.pitch || position.x > side.pitch - width) return cudaErrorInvalidValue;
    if (side.ysize != 0 && (height > side.ysize || position.y > side.ysize - height)) return cudaErrorInvalidValue;
  }
  copy = rectangle(p.dstPtr.ptr, p.dstPtr.pitch, p.srcPtr.ptr, p.srcPtr.pitch, p.extent.width, p.extent.height);
  copy.depth = p.extent.depth;
  copy.sourceSlice = p.srcPtr.pitch * p.srcPtr.ysize;
  copy.destinationSlice = p.dstPtr.pitch * p.dstPtr.ysize;
  copy.source += p.srcPos.x + p.srcPos.y * copy.sourcePitch + p.srcPos.z * copy.sourceSlice;
  copy.destination += p.dstPos.x + p.dstPos.y * copy.destinationPitch + p.dstPos.z * copy.destinationSlice;
  return cudaSuccess;
}

}  // namespace mulciber::api
