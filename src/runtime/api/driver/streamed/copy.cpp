// Copies and fills. The synchronous ones work in the default stream.
#include "runtime/core/copy.h"

#include "runtime/api/driver/copy_box.h"
#include "runtime/api/driver/driver.h"

using namespace mulciber::api;
namespace core = mulciber::core;
using core::Copy;
using core::CopyKind;
using core::Fill;

namespace {

CUresult copyIn(CUstream handle, const Copy& copy, bool async, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withStream(handle, [&](core::Stream& stream) { return core::copy(stream, copy, async); });
}

Copy linear(uint64_t to, uint64_t from, size_t bytes, CopyKind kind) {
  Copy copy;
  copy.destination = to;
  copy.source = from;
  copy.width = bytes;
  copy.kind = kind;
  return copy;
}

CUresult fillIn(CUstream handle, CUdeviceptr address, size_t pitch, uint32_t value, uint32_t valueBytes, size_t width,
                size_t height, bool async, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withStream(handle, [&](core::Stream& stream) {
    if (address % valueBytes != 0 || (height > 1 && pitch % valueBytes != 0)) return Error::InvalidValue;
    Fill fill;
    fill.destination = address;
    fill.value = value;
    fill.valueBytes = valueBytes;
    fill.width = width;
    fill.height = height;
    fill.pitch = pitch;
    return core::fill(stream, fill, async);
  });
}

template <class Description>
CUresult copyBox(const Description* d, CUstream stream, bool async, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  if (!d) return CUDA_ERROR_INVALID_VALUE;
  if (d->WidthInBytes == 0 || d->Height == 0 || d->Depth == 0)
    return withContext([](core::Context&) { return Error::Success; });
  Copy copy;
  if (const CUresult error = withDriver([&] { return readBox(*d, copy); }); error != CUDA_SUCCESS) return error;
  return copyIn(stream, copy, async);
}

CUresult copyRectangle(const CUDA_MEMCPY2D* d, CUstream stream, bool async) {
  if (!d) return CUDA_ERROR_INVALID_VALUE;
  CUDA_MEMCPY3D box{};
  box.srcXInBytes = d->srcXInBytes;
  box.srcY = d->srcY;
  box.srcMemoryType = d->srcMemoryType;
  box.srcHost = d->srcHost;
  box.srcDevice = d->srcDevice;
  box.srcArray = d->srcArray;
  box.srcPitch = d->srcPitch;
  box.dstXInBytes = d->dstXInBytes;
  box.dstY = d->dstY;
  box.dstMemoryType = d->dstMemoryType;
  box.dstHost = d->dstHost;
  box.dstDevice = d->dstDevice;
  box.dstArray = d->dstArray;
  box.dstPitch = d->dstPitch;
  box.WidthInBytes = d->WidthInBytes;
  box.Height = d->Height;
  box.Depth = 1;
  return copyBox(&box, stream, async);
}

uint64_t addressOf(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

}  // namespace

CUDA_API_PTDS(CUresult, cuMemcpy)(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copyIn(nullptr, linear(to, from, bytes, CopyKind::Default), false);
}
CUDA_API_PTSZ(CUresult, cuMemcpyAsync)(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copyIn(stream, linear(to, from, bytes, CopyKind::Default), true);
}
CUDA_API_PTDS(CUresult, cuMemcpyHtoD_v2)(CUdeviceptr to, const void* from, size_t bytes) {
  return copyIn(nullptr, linear(to, addressOf(from), bytes, CopyKind::HostToDevice), false);
}
CUDA_API_PTSZ(CUresult, cuMemcpyHtoDAsync_v2)(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return copyIn(stream, linear(to, addressOf(from), bytes, CopyKind::HostToDevice), true);
}
CUDA_API_PTDS(CUresult, cuMemcpyDtoH_v2)(void* to, CUdeviceptr from, size_t bytes) {
  return copyIn(nullptr, linear(addressOf(to), from, bytes, CopyKind::DeviceToHost), false);
}
CUDA_API_PTSZ(CUresult, cuMemcpyDtoHAsync_v2)(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copyIn(stream, linear(addressOf(to), from, bytes, CopyKind::DeviceToHost), true);
}
CUDA_API_PTDS(CUresult, cuMemcpyDtoD_v2)(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copyIn(nullptr, linear(to, from, bytes, CopyKind::DeviceToDevice), false);
}
CUDA_API_PTSZ(CUresult, cuMemcpyDtoDAsync_v2)(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copyIn(stream, linear(to, from, bytes, CopyKind::DeviceToDevice), true);
}

// Addresses say which device they belong to; the contexts named are not needed.
CUDA_API_PTDS(CUresult, cuMemcpyPeer)(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes) {
  return copyIn(nullptr, linear(to, from, bytes, CopyKind::Default), false);
}
CUDA_API_PTSZ(CUresult, cuMemcpyPeerAsync)
(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes, CUstream stream) {
  return copyIn(stream, linear(to, from, bytes, CopyKind::Default), true);
}

CUDA_API_PTDS(CUresult, cuMemcpy2D_v2)(const CUDA_MEMCPY2D* d) { return copyRectangle(d, nullptr, false); }
CUDA_API_PTDS(CUresult, cuMemcpy2DUnaligned_v2)(const CUDA_MEMCPY2D* d) { return copyRectangle(d, nullptr, false); }
CUDA_API_PTSZ(CUresult, cuMemcpy2DAsync_v2)(const CUDA_MEMCPY2D* d, CUstream stream) {
  return copyRectangle(d, stream, true);
}
CUDA_API_PTDS(CUresult, cuMemcpy3D_v2)(const CUDA_MEMCPY3D* d) { return copyBox(d, nullptr, false); }
CUDA_API_PTSZ(CUresult, cuMemcpy3DAsync_v2)(const CUDA_MEMCPY3D* d, CUstream stream) {
  return copyBox(d, stream, true);
}
CUDA_API_PTDS(CUresult, cuMemcpy3DPeer)(const CUDA_MEMCPY3D_PEER* d) { return copyBox(d, nullptr, false); }
CUDA_API_PTSZ(CUresult, cuMemcpy3DPeerAsync)(const CUDA_MEMCPY3D_PEER* d, CUstream stream) {
  return copyBox(d, stream, true);
}

CUDA_API_PTDS(CUresult, cuMemsetD8_v2)(CUdeviceptr to, unsigned char value, size_t count) {
  return fillIn(nullptr, to, 0, value, 1, count, 1, false);
}
CUDA_API_PTDS(CUresult, cuMemsetD16_v2)(CUdeviceptr to, unsigned short value, size_t count) {
  return fillIn(nullptr, to, 0, value, 2, count, 1, false);
}
CUDA_API_PTDS(CUresult, cuMemsetD32_v2)(CUdeviceptr to, unsigned int value, size_t count) {
  return fillIn(nullptr, to, 0, value, 4, count, 1, false);
}
CUDA_API_PTDS(CUresult, cuMemsetD2D8_v2)
(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height) {
  return fillIn(nullptr, to, pitch, value, 1, width, height, false);
}
CUDA_API_PTDS(CUresult, cuMemsetD2D16_v2)
(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height) {
  return fillIn(nullptr, to, pitch, value, 2, width, height, false);
}
CUDA_API_PTDS(CUresult, cuMemsetD2D32_v2)
(CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height) {
  return fillIn(nullptr, to, pitch, value, 4, width, height, false);
}
CUDA_API_PTSZ(CUresult, cuMemsetD8Async)(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return fillIn(stream, to, 0, value, 1, count, 1, true);
}
CUDA_API_PTSZ(CUresult, cuMemsetD16Async)(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  return fillIn(stream, to, 0, value, 2, count, 1, true);
}
CUDA_API_PTSZ(CUresult, cuMemsetD32Async)(CUdeviceptr to, unsigned int value, size_t count, CUstream stream) {
  return fillIn(stream, to, 0, value, 4, count, 1, true);
}
CUDA_API_PTSZ(CUresult, cuMemsetD2D8Async)
(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height, CUstream stream) {
  return fillIn(stream, to, pitch, value, 1, width, height, true);
}
CUDA_API_PTSZ(CUresult, cuMemsetD2D16Async)
(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height, CUstream stream) {
  return fillIn(stream, to, pitch, value, 2, width, height, true);
}
CUDA_API_PTSZ(CUresult, cuMemsetD2D32Async)
(CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t height, CUstream stream) {
  return fillIn(stream, to, pitch, value, 4, width, height, true);
}
