// Copies and fills. The synchronous ones work in the default stream.
#include "runtime/core/copy.h"

#include "runtime/api/runtime/copy_box.h"
#include "runtime/api/runtime/runtime.h"

using namespace mulciber::api;
namespace core = mulciber::core;
using core::Copy;
using core::CopyKind;
using core::Fill;

namespace {

cudaError_t copyIn(cudaStream_t handle, Copy copy, cudaMemcpyKind kind, bool async,
                   const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return record(cudaErrorInvalidMemcpyDirection);
  if (isTooNarrow(copy)) return record(cudaErrorInvalidPitchValue);
  copy.kind = static_cast<CopyKind>(kind);
  return withStream(handle, [&](core::Stream& stream) {
    if (copy.width == 0 || copy.height == 0 || copy.depth == 0) return Error::Success;
    return core::copy(stream, copy, async);
  });
}

template <class Parameters>
cudaError_t copyBox(const Parameters* p, cudaMemcpyKind kind, cudaStream_t stream, bool async,
                    const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  if (!p) return record(cudaErrorInvalidValue);
  Copy copy;
  const cudaError_t error = withPlatform([&] { return readBox(*p, copy); });
  return error == cudaSuccess ? copyIn(stream, copy, kind, async) : error;
}

cudaError_t copyPeerBox(const cudaMemcpy3DPeerParms* p, cudaStream_t stream, bool async,
                        const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  const cudaError_t error = withPlatform([&] {
    const core::Platform& all = core::Platform::get();
    return !p || (all.device(p->srcDevice) && all.device(p->dstDevice)) ? Error::Success : Error::InvalidDevice;
  });
  return error == cudaSuccess ? copyBox(p, cudaMemcpyDefault, stream, async) : error;
}

cudaError_t fillIn(cudaStream_t handle, const cudaPitchedPtr& at, int value, cudaExtent extent, bool async,
                   const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withStream(handle, [&](core::Stream& stream) {
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return Error::Success;
    Fill fill;
    fill.destination = addressOf(at.ptr);
    fill.value = static_cast<uint8_t>(value);
    fill.width = extent.width;
    fill.height = extent.height;
    fill.depth = extent.depth;
    fill.pitch = at.pitch;
    if (__builtin_mul_overflow(at.pitch, at.ysize, &fill.slice) && extent.depth > 1) return Error::InvalidValue;
    return core::fill(stream, fill, async);
  });
}

// A copy to or from a variable, by its host shadow.
cudaError_t copySymbol(const void* symbol, void* to, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind,
                       cudaStream_t handle, bool async, bool toSymbol, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  if (bytes == 0) return record(cudaSuccess);
  return withStream(handle, [&](core::Stream& stream) {
    uint64_t address = 0;
    size_t size = 0;
    TRY(findSymbol(symbol, stream.context(), address, size));
    const bool fits = kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault ||
                      kind == (toSymbol ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost);
    if (async && !fits) return cudaErrorInvalidMemcpyDirection;
    if (offset > size || bytes > size - offset) return cudaErrorInvalidValue;
    if (!(toSymbol ? from : to)) return cudaErrorInvalidValue;
    if (!fits) return cudaErrorInvalidMemcpyDirection;
    Copy copy = linear(to, from, bytes);
    (toSymbol ? copy.destination : copy.source) = address + offset;
    copy.kind = static_cast<CopyKind>(kind);
    return codeOf(core::copy(stream, copy, async));
  });
}

}  // namespace

CUDA_API_PTDS(cudaError_t, cudaMemcpy)(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return copyIn(nullptr, linear(to, from, bytes), kind, false);
}
CUDA_API_PTSZ(cudaError_t, cudaMemcpyAsync)
(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return copyIn(stream, linear(to, from, bytes), kind, true);
}

CUDA_API_PTDS(cudaError_t, cudaMemcpy2D)
(void* to, size_t toPitch, const void* from, size_t fromPitch, size_t width, size_t height, cudaMemcpyKind kind) {
  return copyIn(nullptr, rectangle(to, toPitch, from, fromPitch, width, height), kind, false);
}
CUDA_API_PTSZ(cudaError_t, cudaMemcpy2DAsync)
(void* to, size_t toPitch, const void* from, size_t fromPitch, size_t width, size_t height, cudaMemcpyKind kind,
 cudaStream_t stream) {
  return copyIn(stream, rectangle(to, toPitch, from, fromPitch, width, height), kind, true);
}

CUDA_API_PTDS(cudaError_t, cudaMemcpy3D)(const cudaMemcpy3DParms* p) {
  return copyBox(p, p ? p->kind : cudaMemcpyDefault, nullptr, false);
}
CUDA_API_PTSZ(cudaError_t, cudaMemcpy3DAsync)(const cudaMemcpy3DParms* p, cudaStream_t stream) {
  return copyBox(p, p ? p->kind : cudaMemcpyDefault, stream, true);
}
CUDA_API_PTDS(cudaError_t, cudaMemcpy3DPeer)(const cudaMemcpy3DPeerParms* p) { return copyPeerBox(p, nullptr, false); }
CUDA_API_PTSZ(cudaError_t, cudaMemcpy3DPeerAsync)(const cudaMemcpy3DPeerParms* p, cudaStream_t stream) {
  return copyPeerBox(p, stream, true);
}

CUDA_API_PTDS(cudaError_t, cudaMemcpyToSymbol)
(const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return copySymbol(symbol, nullptr, from, bytes, offset, kind, nullptr, false, true);
}
CUDA_API_PTSZ(cudaError_t, cudaMemcpyToSymbolAsync)
(const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return copySymbol(symbol, nullptr, from, bytes, offset, kind, stream, true, true);
}
CUDA_API_PTDS(cudaError_t, cudaMemcpyFromSymbol)
(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return copySymbol(symbol, to, nullptr, bytes, offset, kind, nullptr, false, false);
}
CUDA_API_PTSZ(cudaError_t, cudaMemcpyFromSymbolAsync)
(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  return copySymbol(symbol, to, nullptr, bytes, offset, kind, stream, true, false);
}

CUDA_API_PTDS(cudaError_t, cudaMemset)(void* to, int value, size_t bytes) {
  return fillIn(nullptr, {to, bytes, bytes, 1}, value, {bytes, 1, 1}, false);
}
CUDA_API_PTSZ(cudaError_t, cudaMemsetAsync)(void* to, int value, size_t bytes, cudaStream_t stream) {
  return fillIn(stream, {to, bytes, bytes, 1}, value, {bytes, 1, 1}, true);
}
CUDA_API_PTDS(cudaError_t, cudaMemset2D)(void* to, size_t pitch, int value, size_t width, size_t height) {
  return fillIn(nullptr, {to, pitch, width, height}, value, {width, height, 1}, false);
}
CUDA_API_PTSZ(cudaError_t, cudaMemset2DAsync)
(void* to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
  return fillIn(stream, {to, pitch, width, height}, value, {width, height, 1}, true);
}
CUDA_API_PTDS(cudaError_t, cudaMemset3D)(cudaPitchedPtr to, int value, cudaExtent extent) {
  return fillIn(nullptr, to, value, extent, false);
}
CUDA_API_PTSZ(cudaError_t, cudaMemset3DAsync)(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream) {
  return fillIn(stream, to, value, extent, true);
}
