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

// Arrays are the device's.
bool isDirection(const Side& to, const Side& from, cudaMemcpyKind kind) {
  if (kind == cudaMemcpyDefault || kind == cudaMemcpyDeviceToDevice) return true;
  return !from.isArray ? kind == cudaMemcpyHostToDevice : !to.isArray && kind == cudaMemcpyDeviceToHost;
}

cudaError_t read(const Side& to, const Side& from, cudaMemcpyKind kind, Copy& copy) {
  if (!isDirection(to, from, kind)) return cudaErrorInvalidMemcpyDirection;
  copy.kind = static_cast<CopyKind>(kind);
  TRY(codeOf(read(to, copy.destinationArray, copy.destination, copy.destinationPitch)));
  return codeOf(read(from, copy.sourceArray, copy.source, copy.sourcePitch));
}

cudaError_t copyRectangle(const Side& to, const Side& from, size_t width, size_t height, cudaMemcpyKind kind,
                          cudaStream_t handle, bool async, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withStream(handle, [&](core::Stream& stream) {
    const bool isNarrow = (!to.isArray && to.pitch < width) || (!from.isArray && from.pitch < width);
    if (!to.isArray && isNarrow && width != 0 && height != 0) return cudaErrorInvalidPitchValue;
    if (to.isArray && from.isArray && !to.array) return cudaErrorInvalidValue;
    Copy copy;
    TRY(read(to, from, kind, copy));
    copy.width = width;
    copy.height = height;
    if (width == 0 || height == 0) return cudaSuccess;
    if (isNarrow) return cudaErrorInvalidPitchValue;
    return codeOf(core::copy(stream, copy, async));
  });
}

// In an array, whether all of them lie inside; then where they begin, as a place in a row.
bool findBytes(core::ArrayPlace& place, size_t bytes) {
  if (!place.array) return true;
  const core::ArrayDescription& description = place.array->description();
  const size_t row = description.rowBytes(), all = row * description.rows();
  if (place.x > row || place.y > description.rows()) return false;
  const size_t begin = place.y * row + place.x;
  place.y = begin / row;
  place.x = begin % row;
  return begin <= all && bytes <= all - begin;
}

// How many bytes of the row are left; memory is one row.
size_t leftInRow(const core::ArrayPlace& place, size_t bytes) {
  return place.array ? std::min(place.array->description().rowBytes() - place.x, bytes) : bytes;
}

// A row that is not whole, or as many whole ones as are left.
size_t rowsAtOnce(const Copy& copy, size_t left) {
  const auto isWhole = [&](const core::ArrayPlace& place) {
    return !place.array || copy.width == place.array->description().rowBytes();
  };
  return isWhole(copy.destinationArray) && isWhole(copy.sourceArray) ? left / copy.width : 1;
}

void advance(core::ArrayPlace& place, uint64_t& address, const Copy& copy) {
  if (!place.array) {
    address += copy.width * copy.height;
    return;
  }
  place.x += copy.width;
  if (place.x < place.array->description().rowBytes()) return;
  place.x = 0;
  place.y += copy.height;
}

// Bytes that follow one another, in an array from the end of one row to the beginning of the next.
cudaError_t copyBytes(const Side& to, const Side& from, size_t bytes, cudaMemcpyKind kind, cudaStream_t handle,
                      bool async, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withStream(handle, [&](core::Stream& stream) {
    if (bytes == 0) return cudaSuccess;
    Copy copy;
    TRY(read(to, from, kind, copy));
    if (!findBytes(copy.destinationArray, bytes) || !findBytes(copy.sourceArray, bytes)) return cudaErrorInvalidValue;
    for (size_t left = bytes; left > 0; left -= copy.width * copy.height) {
      copy.width = std::min(leftInRow(copy.destinationArray, left), leftInRow(copy.sourceArray, left));
      copy.height = rowsAtOnce(copy, left);
      copy.destinationPitch = copy.sourcePitch = copy.width;
      TRY(codeOf(core::copy(stream, copy, async)));
      advance(copy.destinationArray, copy.destination, copy);
      advance(copy.sourceArray, copy.source, copy);
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
