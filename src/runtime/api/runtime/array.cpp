// CUDA arrays: making them and asking about them.
#include "runtime/core/array.h"

#include <algorithm>

#include "runtime/api/runtime/channels.h"
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
cudaError_t withArray(cudaArray_const_t handle, Body&& body, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withContext([&](core::Context&) {
    core::ArrayRef array;
    TRY(core::findArray(arrayOf(handle), array));
    return body(*array);
  });
}

template <class Body>
cudaError_t withMipmappedArray(cudaMipmappedArray_const_t handle, Body&& body,
                               const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withContext([&](core::Context&) {
    core::MipmappedArrayRef array;
    TRY(core::findMipmappedArray(mipmappedOf(handle), array));
    return body(*array);
  });
}

// InvalidChannelDescriptor for what no array consists of; planar formats belong to arrays with planes.
cudaError_t describe(const cudaChannelFormatDesc& channels, const cudaExtent& extent, unsigned flags,
                     core::ArrayDescription& out) {
  out = {extent.width, extent.height, extent.depth, formatOf(channels), flags};
  if (out.format) return cudaSuccess;
  const bool isPlanar = channels.f == cudaChannelFormatKindNV12 && channels.x == 8 && channels.y == 8 &&
                        channels.z == 8 && channels.w == 0;
  return isPlanar ? cudaErrorInvalidValue : cudaErrorInvalidChannelDescriptor;
}

// `create` makes what the description says.
template <class Handle, class Create>
cudaError_t allocate(Handle* out, const cudaChannelFormatDesc* channels, const cudaExtent& extent, unsigned flags,
                     Create&& create, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withContext([&](core::Context& context) -> cudaError_t {
    if (!out || !channels) return cudaErrorInvalidValue;
    *out = nullptr;
    core::ArrayDescription description;
    TRY(describe(*channels, extent, flags, description));
    return codeOf(create(context, description));
  });
}

cudaError_t allocateArray(cudaArray_t* out, const cudaChannelFormatDesc* channels, const cudaExtent& extent,
                          unsigned flags) {
  return allocate(out, channels, extent, flags, [&](core::Context& context, const core::ArrayDescription& description) {
    core::Array* array = nullptr;
    const Error error = core::createArray(context, description, array);
    *out = reinterpret_cast<cudaArray_t>(array);
    return error;
  });
}

}  // namespace

CUDA_API(cudaError_t, cudaMallocArray)
(cudaArray_t* out, const cudaChannelFormatDesc* channels, size_t width, size_t height, unsigned int flags) {
  return allocateArray(out, channels, {width, height, 0}, flags);
}

CUDA_API(cudaError_t, cudaMalloc3DArray)
(cudaArray_t* out, const cudaChannelFormatDesc* channels, cudaExtent extent, unsigned int flags) {
  return allocateArray(out, channels, extent, flags);
}

CUDA_API(cudaError_t, cudaMallocMipmappedArray)
(cudaMipmappedArray_t* out, const cudaChannelFormatDesc* channels, cudaExtent extent, unsigned int levels,
 unsigned int flags) {
  return allocate(out, channels, extent, flags, [&](core::Context& context, const core::ArrayDescription& description) {
    core::MipmappedArray* array = nullptr;
    const Error error = core::createMipmappedArray(context, description, levels, array);
    *out = reinterpret_cast<cudaMipmappedArray_t>(array);
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
  if (channels) *channels = {};
  if (extent) *extent = {};
  if (flags) *flags = 0;
  return withArray(handle, [&](const core::Array& array) {
    const core::ArrayDescription& description = array.description();
    if (channels) *channels = channelsOf(array.format());
    if (extent) *extent = {description.width, description.height, description.depth};
    if (flags) *flags = description.flags;
    return Error::Success;
  });
}

CUDA_API(cudaError_t, cudaGetChannelDesc)(cudaChannelFormatDesc* out, cudaArray_const_t handle) {
  if (!out) return withContext([](core::Context&) { return Error::InvalidValue; });
  return withArray(handle, [&](const core::Array& array) {
    *out = channelsOf(array.format());
    return Error::Success;
  });
}

CUDA_API(cudaChannelFormatDesc, cudaCreateChannelDesc)(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

// No array has planes, is sparse, or gets its memory later: what asks about these is wrong of any array.
namespace {

template <class Properties>
cudaError_t refuse(Properties* out, cudaArray_t handle, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  if (out) *out = {};
  return handle ? withArray(handle, [](const core::Array&) { return Error::InvalidValue; })
                : withContext([](core::Context&) { return Error::InvalidValue; });
}
template <class Properties>
cudaError_t refuse(Properties* out, cudaMipmappedArray_t, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  if (out) *out = {};
  return withContext([](core::Context&) { return Error::InvalidValue; });
}

}  // namespace

CUDA_API(cudaError_t, cudaArrayGetPlane)(cudaArray_t*, cudaArray_t handle, unsigned int) {
  return withArray(handle, [](const core::Array&) { return Error::InvalidValue; });
}
CUDA_API(cudaError_t, cudaArrayGetSparseProperties)(cudaArraySparseProperties* out, cudaArray_t handle) {
  return refuse(out, handle);
}
CUDA_API(cudaError_t, cudaMipmappedArrayGetSparseProperties)
(cudaArraySparseProperties* out, cudaMipmappedArray_t handle) { return refuse(out, handle); }
CUDA_API(cudaError_t, cudaArrayGetMemoryRequirements)(cudaArrayMemoryRequirements* out, cudaArray_t handle, int) {
  return refuse(out, handle);
}
CUDA_API(cudaError_t, cudaMipmappedArrayGetMemoryRequirements)
(cudaArrayMemoryRequirements* out, cudaMipmappedArray_t handle, int) { return refuse(out, handle); }
