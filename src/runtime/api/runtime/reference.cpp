// Texture and surface references, which programs of toolkits before 12 declare at file scope and bind by name. What a
// program sets in the structure counts when it binds it.
#include <algorithm>

#include "runtime/api/runtime/channels.h"
#include "runtime/api/runtime/references.h"
#include "runtime/api/runtime/runtime.h"
#include "runtime/core/memory_map.h"
#include "runtime/core/module.h"
#include "runtime/core/platform.h"
#include "runtime/core/texture_reference.h"

// As texture_types.h and surface_types.h had them.
struct textureReference {
  int normalized;
  cudaTextureFilterMode filterMode;
  cudaTextureAddressMode addressMode[3];
  cudaChannelFormatDesc channelDesc;
  int sRGB;
  unsigned maxAnisotropy;
  cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization;
  int reserved[14];
};
struct surfaceReference {
  cudaChannelFormatDesc channelDesc;
};

using namespace mulciber::api;
namespace core = mulciber::core;

namespace {

using State = core::TextureReference::State;
using Resource = core::TextureDescription::Resource;

constexpr uint64_t addressAlignment = 512;  // as the device's properties say

// `body` gets the reference that stands for the structure in the current context.
template <class Body>
cudaError_t withReference(const textureReference* host, Body&& body, const char* call = __builtin_FUNCTION()) {
  return withContext(
      [&](core::Context& context) -> cudaError_t {
        RegisteredReference registered;
        Error error = findReference(host, context, registered);
        if (error == Error::NotFound) return cudaErrorInvalidTexture;
        core::TextureReference* reference = nullptr;
        if (error == Error::Success) error = registered.module->textureReference(registered.name, reference);
        if (error == Error::NotFound) return cudaErrorInvalidTexture;
        return error == Error::Success ? body(*reference, registered.readsFractions) : codeOf(error);
      },
      call);
}

template <class Fill>
cudaError_t bind(core::TextureReference& reference, const textureReference& host, bool readsFractions,
                 const core::ArrayFormat* format, Fill&& fill) {
  if (host.filterMode > cudaFilterModeLinear || host.mipmapFilterMode > cudaFilterModeLinear)
    return cudaErrorInvalidFilterSetting;
  reference.change([&](State& state) {
    core::TextureDescription& to = state.description;
    to = {};
    to.format = state.format = format;
    to.filtersLinear = host.filterMode == cudaFilterModeLinear;
    to.filtersLevels = host.mipmapFilterMode == cudaFilterModeLinear;
    std::copy_n(host.addressMode, 3, to.addressModes);
    to.readsIntegers = !readsFractions;
    to.hasNormalizedCoordinates = host.normalized != 0;
    to.isSrgb = host.sRGB != 0;
    to.isTrilinearPlain = host.disableTrilinearOptimization != 0;
    to.anisotropy = host.maxAnisotropy;
    to.levelBias = host.mipmapLevelBias;
    to.minLevel = host.minMipmapLevelClamp;
    to.maxLevel = host.maxMipmapLevelClamp;
    state.isBound = true;
    state.byteOffset = 0;
    fill(state);
  });
  return cudaSuccess;
}

// Memory that textures read begins at aligned addresses: a kernel adds what lies before the program's own.
cudaError_t bindMemory(const textureReference* host, size_t* byteOffset, const void* memory,
                       const cudaChannelFormatDesc* channels, const core::TextureDescription& shape,
                       const char* call = __builtin_FUNCTION()) {
  return withReference(
      host,
      [&](core::TextureReference& reference, bool readsFractions) -> cudaError_t {
        if (!channels) return cudaErrorInvalidValue;
        const core::ArrayFormat* format = formatOf(*channels);
        if (!format) return cudaErrorInvalidChannelDescriptor;
        const auto address = reinterpret_cast<uint64_t>(memory);
        const core::AllocationRef allocation = core::currentMemory().find(address);
        if (!allocation) return cudaErrorInvalidValue;
        const size_t offset = address % addressAlignment;
        if (offset != 0 && (!byteOffset || shape.resource == Resource::Pitched)) return cudaErrorInvalidValue;
        // Programs leave the size out, which stands for as much as there is.
        const size_t bytes = std::min(shape.bytes, allocation->size - allocation->offsetOf(address));
        if (byteOffset) *byteOffset = offset;
        return bind(reference, *host, readsFractions, format, [&](State& state) {
          core::TextureDescription& to = state.description;
          to.resource = shape.resource;
          to.address = address - offset;
          to.bytes = bytes + offset;
          to.width = shape.width;
          to.height = shape.height;
          to.pitch = shape.pitch;
          state.byteOffset = offset;
        });
      },
      call);
}

}  // namespace

CUDA_API(cudaError_t, cudaBindTexture)
(size_t* byteOffset, const textureReference* host, const void* memory, const cudaChannelFormatDesc* channels,
 size_t bytes) {
  core::TextureDescription shape;
  shape.resource = Resource::Linear;
  shape.bytes = bytes;
  return bindMemory(host, byteOffset, memory, channels, shape);
}

CUDA_API(cudaError_t, cudaBindTexture2D)
(size_t* byteOffset, const textureReference* host, const void* memory, const cudaChannelFormatDesc* channels,
 size_t width, size_t height, size_t pitch) {
  core::TextureDescription shape;
  shape.resource = Resource::Pitched;
  shape.width = width;
  shape.height = height;
  shape.pitch = pitch;
  return bindMemory(host, byteOffset, memory, channels, shape);
}

CUDA_API(cudaError_t, cudaBindTextureToArray)
(const textureReference* host, cudaArray_const_t array, const cudaChannelFormatDesc* channels) {
  return withReference(host, [&](core::TextureReference& reference, bool readsFractions) -> cudaError_t {
    core::ArrayRef found;
    if (!channels) return cudaErrorInvalidValue;
    auto* const key = reinterpret_cast<core::Array*>(const_cast<cudaArray_t>(array));
    TRY(codeOf(core::findArray(key, found)));
    return bind(reference, *host, readsFractions, &found->format(), [&](State& state) {
      state.description.resource = Resource::Array;
      state.description.array = found;
    });
  });
}

CUDA_API(cudaError_t, cudaBindTextureToMipmappedArray)
(const textureReference* host, cudaMipmappedArray_const_t array, const cudaChannelFormatDesc* channels) {
  return withReference(host, [&](core::TextureReference& reference, bool readsFractions) -> cudaError_t {
    core::MipmappedArrayRef found;
    if (!channels) return cudaErrorInvalidValue;
    auto* const key = reinterpret_cast<core::MipmappedArray*>(const_cast<cudaMipmappedArray_t>(array));
    TRY(codeOf(core::findMipmappedArray(key, found)));
    return bind(reference, *host, readsFractions, found->description().format, [&](State& state) {
      state.description.resource = Resource::Mipmapped;
      state.description.mipmapped = found;
    });
  });
}

CUDA_API(cudaError_t, cudaUnbindTexture)(const textureReference* host) {
  return withReference(host, [&](core::TextureReference& reference, bool) {
    reference.change([](State& state) {
      state.description = {};
      state.isBound = false;
    });
    return cudaSuccess;
  });
}

CUDA_API(cudaError_t, cudaGetTextureAlignmentOffset)(size_t* out, const textureReference* host) {
  return withReference(host, [&](core::TextureReference& reference, bool) {
    if (!out) return cudaErrorInvalidValue;
    const State state = reference.state();
    if (!state.isBound) return cudaErrorInvalidTextureBinding;
    *out = state.byteOffset;
    return cudaSuccess;
  });
}

// The structure stands for itself.
CUDA_API(cudaError_t, cudaGetTextureReference)(const textureReference** out, const void* symbol) {
  return withContext([&](core::Context&) {
    if (!out || !isReference(symbol)) return out ? cudaErrorInvalidTexture : cudaErrorInvalidValue;
    *out = static_cast<const textureReference*>(symbol);
    return cudaSuccess;
  });
}

CUDA_API(cudaError_t, cudaGetSurfaceReference)(const surfaceReference** out, const void* symbol) {
  return withContext([&](core::Context&) {
    if (!out || !isReference(symbol)) return out ? cudaErrorInvalidSurface : cudaErrorInvalidValue;
    *out = static_cast<const surfaceReference*>(symbol);
    return cudaSuccess;
  });
}

CUDA_API(cudaError_t, cudaBindSurfaceToArray)
(const surfaceReference* host, cudaArray_const_t array, const cudaChannelFormatDesc* channels) {
  return withContext([&](core::Context& context) -> cudaError_t {
    RegisteredReference registered;
    core::SurfaceReference* reference = nullptr;
    core::ArrayRef found;
    if (!channels) return cudaErrorInvalidValue;
    Error error = findReference(host, context, registered);
    if (error == Error::Success) error = registered.module->surfaceReference(registered.name, reference);
    if (error == Error::NotFound) return cudaErrorInvalidSurface;
    if (error != Error::Success) return codeOf(error);
    auto* const key = reinterpret_cast<core::Array*>(const_cast<cudaArray_t>(array));
    error = core::findArray(key, found);
    return codeOf(error == Error::Success ? reference->bind(found) : error);
  });
}
