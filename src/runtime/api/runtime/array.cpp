// CUDA arrays: making them and asking about them.
#include "runtime/core/array.h"

#include <algorithm>

#include "runtime/api/runtime/copy_box.h"
#include "runtime/api/runtime/runtime.h"
#include "runtime/core/device.h"

using namespace mulciber::api;
namespace core = mulciber::core;

namespace {

core::MipmappedArray* mipmappedOf(cudaMipmappedArray_const_t handle) {
  return reinterpret_cast<core::MipmappedArray*>(const_cast<cudaMipmappedArray_t>(handle));
}

template <class Body>
cudaError_t withArray(cudaArray_const_t handle, Body&& body) {
  return withContext([&](core::Context&) {
    core::ArrayRef array;
    if (Error error = core::findArray(arrayOf(handle), array); error != Error::Success) return error;
    return body(*array);
  });
}

template <class Body>
cudaError_t withMipmappedArray(cudaMipmappedArray_const_t handle, Body&& body) {
  return withContext([&](core::Context&) {
    core::MipmappedArrayRef array;
    if (Error error = core::findMipmappedArray(mipmappedOf(handle), array); error != Error::Success) return error;
    return body(*array);
  });
}

cudaChannelFormatDesc channelsOf(const core::ArrayFormat& format) {
  const auto bits = [&](uint32_t channel) { return channel < format.channels ? static_cast<int>(format.bits) : 0; };
  const int last = format.bits == 10 ? 2 : bits(3);  // 10, 10, 10 and 2
  return {bits(0), bits(1), bits(2), last, static_cast<cudaChannelFormatKind>(format.kind)};
}

// Null for what no array consists of.
const core::ArrayFormat* formatOf(const cudaChannelFormatDesc& given) {
  const int bits[] = {given.x, given.y, given.z, given.w};
  const auto channels = std::find(bits, std::end(bits), 0) - bits;
  if (given.x <= 0) return nullptr;
  const core::ArrayFormat* format = core::findArrayFormatByKind(
      static_cast<uint32_t>(given.f), static_cast<uint32_t>(given.x), static_cast<uint32_t>(channels));
  if (!format) return nullptr;
  const cudaChannelFormatDesc same = channelsOf(*format);
  return same.y == given.y && same.z == given.z && same.w == given.w ? format : nullptr;
}

core::ArrayDescription described(const cudaChannelFormatDesc& channels, const cudaExtent& extent, unsigned flags) {
  return {extent.width, extent.height, extent.depth, formatOf(channels), flags};
}

cudaError_t allocate(cudaArray_t* out, const cudaChannelFormatDesc* channels, const cudaExtent& extent,
                     unsigned flags) {
  return withContext([&](core::Context& context) {
    if (!out || !channels) return Error::InvalidValue;
    core::Array* array = nullptr;
    const Error error = core::createArray(context, described(*channels, extent, flags), array);
    if (error == Error::Success) *out = reinterpret_cast<cudaArray_t>(array);
    return error;
  });
}

}  // namespace

CUDA_API(cudaError_t, cudaMallocArray)
(cudaArray_t* out, const cudaChannelFormatDesc* channels, size_t width, size_t height, unsigned int flags) {
  return allocate(out, channels, {width, height, 0}, flags);
}

CUDA_API(cudaError_t, cudaMalloc3DArray)
(cudaArray_t* out, const cudaChannelFormatDesc* channels, cudaExtent extent, unsigned int flags) {
  return allocate(out, channels, extent, flags);
}

CUDA_API(cudaError_t, cudaMallocMipmappedArray)
(cudaMipmappedArray_t* out, const cudaChannelFormatDesc* channels, cudaExtent extent, unsigned int levels,
 unsigned int flags) {
  return withContext([&](core::Context& context) {
    if (!out || !channels) return Error::InvalidValue;
    core::MipmappedArray* array = nullptr;
    const Error error = core::createMipmappedArray(context, described(*channels, extent, flags), levels, array);
    if (error == Error::Success) *out = reinterpret_cast<cudaMipmappedArray_t>(array);
    return error;
  });
}

CUDA_API(cudaError_t, cudaGetMipmappedArrayLevel)
(cudaArray_t* out, cudaMipmappedArray_const_t handle, unsigned int level) {
  return withMipmappedArray(handle, [&](core::MipmappedArray& array) {
    if (!out) return Error::InvalidValue;
    core::Array* made = nullptr;
    const Error error = array.level(level, made);
    if (error == Error::Success) *out = reinterpret_cast<cudaArray_t>(made);
    return error;
  });
}

CUDA_API(cudaError_t, cudaFreeArray)(cudaArray_t handle) {
  return withContext([&](core::Context&) { return handle ? core::destroyArray(arrayOf(handle)) : Error::Success; });
}

CUDA_API(cudaError_t, cudaFreeMipmappedArray)(cudaMipmappedArray_t handle) {
  return withContext(
      [&](core::Context&) { return handle ? core::destroyMipmappedArray(mipmappedOf(handle)) : Error::Success; });
}

CUDA_API(cudaError_t, cudaArrayGetInfo)
(cudaChannelFormatDesc* channels, cudaExtent* extent, unsigned int* flags, cudaArray_t handle) {
  return withArray(handle, [&](const core::Array& array) {
    const core::ArrayDescription& description = array.description();
    if (channels) *channels = channelsOf(array.format());
    if (extent) *extent = {description.width, description.height, description.depth};
    if (flags) *flags = description.flags;
    return Error::Success;
  });
}

CUDA_API(cudaError_t, cudaGetChannelDesc)(cudaChannelFormatDesc* out, cudaArray_const_t handle) {
  return withArray(handle, [&](const core::Array& array) {
    if (!out) return Error::InvalidValue;
    *out = channelsOf(array.format());
    return Error::Success;
  });
}

CUDA_API(cudaChannelFormatDesc, cudaCreateChannelDesc)(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

// No array has planes, is sparse, or gets its memory later.
CUDA_API(cudaError_t, cudaArrayGetPlane)(cudaArray_t*, cudaArray_t handle, unsigned int) {
  return withArray(handle, [](const core::Array&) { return Error::InvalidValue; });
}
CUDA_API(cudaError_t, cudaArrayGetSparseProperties)(cudaArraySparseProperties*, cudaArray_t handle) {
  return withArray(handle, [](const core::Array&) { return Error::InvalidValue; });
}
CUDA_API(cudaError_t, cudaMipmappedArrayGetSparseProperties)(cudaArraySparseProperties*, cudaMipmappedArray_t handle) {
  return withMipmappedArray(handle, [](const core::MipmappedArray&) { return Error::InvalidValue; });
}
CUDA_API(cudaError_t, cudaArrayGetMemoryRequirements)(cudaArrayMemoryRequirements*, cudaArray_t handle, int) {
  return withArray(handle, [](const core::Array&) { return Error::InvalidValue; });
}
CUDA_API(cudaError_t, cudaMipmappedArrayGetMemoryRequirements)
(cudaArrayMemoryRequirements*, cudaMipmappedArray_t handle, int) {
  return withMipmappedArray(handle, [](const core::MipmappedArray&) { return Error::InvalidValue; });
}
