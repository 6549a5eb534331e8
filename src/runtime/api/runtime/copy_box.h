// Copies as the runtime API describes them, read into core's.
#pragma once

#include <cuda_runtime.h>

#include "runtime/core/array.h"
#include "runtime/core/copy.h"
#include "runtime/core/platform.h"

namespace mulciber::api {

inline uint64_t addressOf(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

inline core::Array* arrayOf(cudaArray_const_t handle) {
  return reinterpret_cast<core::Array*>(const_cast<cudaArray_t>(handle));
}

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

// Whether a row in memory has no room for what is copied; a side that is an array has no pitch.
inline bool isTooNarrow(const core::Copy& copy) {
  return (!copy.destinationArray.array && copy.width > copy.destinationPitch) ||
         (!copy.sourceArray.array && copy.width > copy.sourcePitch);
}

// One side of a copy in memory: where it begins and how its rows lie. Beside an array its position counts that array's
// elements too.
inline cudaError_t readSide(const cudaPitchedPtr& side, cudaPos position, size_t elementBytes, const core::Copy& copy,
                            uint64_t& address, size_t& pitch, size_t& slice) {
  if (!side.ptr) return cudaErrorInvalidValue;
  const bool isOneRow = copy.height == 1 && copy.depth == 1;
  if (__builtin_mul_overflow(position.x, elementBytes, &position.x)) return cudaErrorInvalidValue;
  if (copy.hasArray() && copy.width > side.pitch) return cudaErrorInvalidValue;
  if ((copy.width > side.pitch && !isOneRow) || (copy.depth > 1 && copy.height > side.ysize))
    return cudaErrorInvalidPitchValue;
  if (copy.width > side.pitch || position.x > side.pitch - copy.width) return cudaErrorInvalidValue;
  if (side.ysize != 0 && (copy.height > side.ysize || position.y > side.ysize - copy.height))
    return cudaErrorInvalidValue;
  pitch = side.pitch;
  const bool isTooLarge = __builtin_mul_overflow(side.pitch, side.ysize, &slice);
  if (isTooLarge && (copy.depth > 1 || position.z != 0)) return cudaErrorInvalidValue;
  const uint64_t first = addressOf(side.ptr);
  return core::placeIn(first, position.x, position.y, position.z, pitch, slice, address) ? cudaSuccess
                                                                                         : cudaErrorInvalidValue;
}

// The extent of a copy with an array counts its elements, and so does a position in it.
inline cudaError_t findSide(cudaArray_const_t handle, const cudaPos& position, core::ArrayPlace& place,
                            size_t& elementBytes) {
  if (!handle) return cudaSuccess;
  if (const core::Error error = core::findArray(arrayOf(handle), place.array); error != core::Error::Success)
    return static_cast<cudaError_t>(error);
  elementBytes = place.array->format().bytes;
  place.y = position.y;
  place.z = position.z;
  return __builtin_mul_overflow(position.x, elementBytes, &place.x) ? cudaErrorInvalidValue : cudaSuccess;
}

// cudaMemcpy3DParms and cudaMemcpy3DPeerParms share all the fields used here.
template <class Parameters>
cudaError_t readBox(const Parameters& p, core::Copy& copy) {
  if ((p.srcArray && p.srcPtr.ptr) || (p.dstArray && p.dstPtr.ptr)) return cudaErrorInvalidValue;
  size_t elementBytes = 1;
  TRY(findSide(p.srcArray, p.srcPos, copy.sourceArray, elementBytes));
  TRY(findSide(p.dstArray, p.dstPos, copy.destinationArray, elementBytes));
  if (__builtin_mul_overflow(p.extent.width, elementBytes, &copy.width)) return cudaErrorInvalidValue;
  copy.height = p.extent.height;
  copy.depth = p.extent.depth;
  if (!p.srcArray)
    TRY(readSide(p.srcPtr, p.srcPos, elementBytes, copy, copy.source, copy.sourcePitch, copy.sourceSlice));
  if (p.dstArray) return cudaSuccess;
  return readSide(p.dstPtr, p.dstPos, elementBytes, copy, copy.destination, copy.destinationPitch,
                  copy.destinationSlice);
}

}  // namespace mulciber::api
