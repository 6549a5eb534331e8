// Copies between arrays and memory. The synchronous ones work in the default stream.
#include <algorithm>

#include "runtime/api/runtime/copy_box.h"
#include "runtime/api/runtime/runtime.h"

using namespace mulciber::api;
namespace core = mulciber::core;
using core::Copy;
using core::CopyKind;

namespace {

// A side of a copy: a place in an array, or memory.
struct Side {
  cudaArray_const_t array = nullptr;
  size_t x = 0, y = 0;  // in bytes and rows
  const void* memory = nullptr;
  size_t pitch = 0;
  bool isArray = false;
};

Side in(cudaArray_const_t array, size_t x, size_t y) { return {array, x, y, nullptr, 0, true}; }
Side at(const void* memory, size_t pitch) { return {nullptr, 0, 0, memory, pitch, false}; }

Error read(const Side& side, core::ArrayPlace& place, uint64_t& address, size_t& pitch) {
  if (!side.isArray) {
    address = addressOf(side.memory);
    pitch = side.pitch;
    return Error::Success;
  }
  place.x = side.x;
  place.y = side.y;
  return core::findArray(arrayOf(side.array), place.array);
}

cudaError_t read(const Side& to, const Side& from, cudaMemcpyKind kind, Copy& copy) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  copy.kind = static_cast<CopyKind>(kind);
  if (Error error = read(to, copy.destinationArray, copy.destination, copy.destinationPitch); error != Error::Success)
    return codeOf(error);
  return codeOf(read(from, copy.sourceArray, copy.source, copy.sourcePitch));
}

cudaError_t copyRectangle(const Side& to, const Side& from, size_t width, size_t height, cudaMemcpyKind kind,
                          cudaStream_t handle, bool async) {
  return withStream(handle, [&](core::Stream& stream) {
    Copy copy;
    if (const cudaError_t error = read(to, from, kind, copy); error != cudaSuccess) return error;
    copy.width = width;
    copy.height = height;
    if (width == 0 || height == 0) return cudaSuccess;
    if ((!to.isArray && to.pitch < width) || (!from.isArray && from.pitch < width)) return cudaErrorInvalidPitchValue;
    return codeOf(core::copy(stream, copy, async));
  });
}

// How many bytes of the row are left where a side is; memory is one row.
size_t leftInRow(const core::ArrayPlace& place, size_t bytes) {
  if (!place.array) return bytes;
  const size_t row = place.array->description().rowBytes();
  return place.x < row ? row - place.x : 0;
}

void advance(core::ArrayPlace& place, uint64_t& address, size_t bytes) {
  if (!place.array) {
    address += bytes;
    return;
  }
  place.x += bytes;
  if (place.x < place.array->description().rowBytes()) return;
  place.x = 0;
  ++place.y;
}

// Bytes that follow one another, in an array from the end of one row to the beginning of the next.
cudaError_t copyBytes(const Side& to, const Side& from, size_t bytes, cudaMemcpyKind kind, cudaStream_t handle,
                      bool async) {
  return withStream(handle, [&](core::Stream& stream) {
    Copy copy;
    if (const cudaError_t error = read(to, from, kind, copy); error != cudaSuccess) return error;
    for (size_t left = bytes; left > 0; left -= copy.width) {
      copy.width = std::min(leftInRow(copy.destinationArray, left), leftInRow(copy.sourceArray, left));
      copy.width = std::min(copy.width, left);
      if (copy.width == 0) return cudaErrorInvalidValue;
      if (const Error error = core::copy(stream, copy, async); error != Error::Success) return codeOf(error);
      advance(copy.destinationArray, copy.destination, copy.width);
      advance(copy.sourceArray, copy.source, copy.width);
    }
    return cudaSuccess;
  });
}

}  // namespace

CUDA_API_PTDS(cudaError_t, cudaMemcpy2DToArray)
(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height, cudaMemcpyKind kind) {
  return copyRectangle(in(to, x, y), at(from, pitch), width, height, kind, nullptr, false);
}
CUDA_API_PTSZ(cudaError_t, cudaMemcpy2DToArrayAsync)
(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height, cudaMemcpyKind kind,
 cudaStream_t stream) {
  return copyRectangle(in(to, x, y), at(from, pitch), width, height, kind, stream, true);
}
CUDA_API_PTDS(cudaError_t, cudaMemcpy2DFromArray)
(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height, cudaMemcpyKind kind) {
  return copyRectangle(at(to, pitch), in(from, x, y), width, height, kind, nullptr, false);
}
CUDA_API_PTSZ(cudaError_t, cudaMemcpy2DFromArrayAsync)
(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width, size_t height, cudaMemcpyKind kind,
 cudaStream_t stream) {
  return copyRectangle(at(to, pitch), in(from, x, y), width, height, kind, stream, true);
}
CUDA_API_PTDS(cudaError_t, cudaMemcpy2DArrayToArray)
(cudaArray_t to, size_t toX, size_t toY, cudaArray_const_t from, size_t fromX, size_t fromY, size_t width,
 size_t height, cudaMemcpyKind kind) {
  return copyRectangle(in(to, toX, toY), in(from, fromX, fromY), width, height, kind, nullptr, false);
}

CUDA_API_PTDS(cudaError_t, cudaMemcpyToArray)
(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return copyBytes(in(to, x, y), at(from, bytes), bytes, kind, nullptr, false);
}
CUDA_API_PTSZ(cudaError_t, cudaMemcpyToArrayAsync)
(cudaArray_t to, size_t x, size_t y, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return copyBytes(in(to, x, y), at(from, bytes), bytes, kind, stream, true);
}
CUDA_API_PTDS(cudaError_t, cudaMemcpyFromArray)
(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes, cudaMemcpyKind kind) {
  return copyBytes(at(to, bytes), in(from, x, y), bytes, kind, nullptr, false);
}
CUDA_API_PTSZ(cudaError_t, cudaMemcpyFromArrayAsync)
(void* to, cudaArray_const_t from, size_t x, size_t y, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return copyBytes(at(to, bytes), in(from, x, y), bytes, kind, stream, true);
}
CUDA_API_PTDS(cudaError_t, cudaMemcpyArrayToArray)
(cudaArray_t to, size_t toX, size_t toY, cudaArray_const_t from, size_t fromX, size_t fromY, size_t bytes,
 cudaMemcpyKind kind) {
  return copyBytes(in(to, toX, toY), in(from, fromX, fromY), bytes, kind, nullptr, false);
}
