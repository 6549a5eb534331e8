// Texture objects: core's description from the runtime API's structures, and back. Those of version 11 may end before
// the last member of cudaTextureDesc, which its first functions do not know.
#include <texture_types.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "runtime/api/common/textures.h"
#include "runtime/api/runtime/channels.h"
#include "runtime/api/runtime/runtime.h"
#include "runtime/core/texture_object.h"

namespace mulciber::api {

namespace {

using core::TextureDescription;
using Resource = TextureDescription::Resource;

cudaError_t readResource(const cudaResourceDesc& from, TextureDescription& to) {
  switch (from.resType) {
    case cudaResourceTypeArray: {
      to.resource = Resource::Array;
      auto* const handle = reinterpret_cast<core::Array*>(from.res.array.array);
      TRY(codeOf(core::findArray(handle, to.array)));
      to.format = &to.array->format();
      return cudaSuccess;
    }
    case cudaResourceTypeMipmappedArray: {
      to.resource = Resource::Mipmapped;
      auto* const handle = reinterpret_cast<core::MipmappedArray*>(from.res.mipmap.mipmap);
      TRY(codeOf(core::findMipmappedArray(handle, to.mipmapped)));
      to.format = to.mipmapped->description().format;
      return cudaSuccess;
    }
    case cudaResourceTypeLinear:
      to.resource = Resource::Linear;
      to.address = reinterpret_cast<uint64_t>(from.res.linear.devPtr);
      to.bytes = from.res.linear.sizeInBytes;
      to.format = formatOf(from.res.linear.desc);
      return to.format ? cudaSuccess : cudaErrorInvalidChannelDescriptor;
    case cudaResourceTypePitch2D:
      to.resource = Resource::Pitched;
      to.address = reinterpret_cast<uint64_t>(from.res.pitch2D.devPtr);
      to.width = from.res.pitch2D.width;
      to.height = from.res.pitch2D.height;
      to.pitch = from.res.pitch2D.pitchInBytes;
      to.format = formatOf(from.res.pitch2D.desc);
      return to.format ? cudaSuccess : cudaErrorInvalidChannelDescriptor;
    default: return cudaErrorInvalidValue;
  }
}

void writeResource(const TextureDescription& from, cudaResourceDesc& to) {
  to = {};
  to.resType = static_cast<cudaResourceType>(from.resource);
  switch (from.resource) {
    case Resource::Array: to.res.array.array = reinterpret_cast<cudaArray_t>(from.array.get()); break;
    case Resource::Mipmapped:
      to.res.mipmap.mipmap = reinterpret_cast<cudaMipmappedArray_t>(from.mipmapped.get());
      break;
    case Resource::Linear:
      to.res.linear.devPtr = reinterpret_cast<void*>(from.address);
      to.res.linear.sizeInBytes = from.bytes;
      to.res.linear.desc = channelsOf(*from.format);
      break;
    case Resource::Pitched:
      to.res.pitch2D.devPtr = reinterpret_cast<void*>(from.address);
      to.res.pitch2D.width = from.width;
      to.res.pitch2D.height = from.height;
      to.res.pitch2D.pitchInBytes = from.pitch;
      to.res.pitch2D.desc = channelsOf(*from.format);
      break;
  }
}

Error readTexture(const cudaTextureDesc& from, TextureDescription& to) {
  to.readsIntegers = from.readMode == cudaReadModeElementType;
  to.hasNormalizedCoordinates = from.normalizedCoords != 0;
  to.isSrgb = from.sRGB != 0;
  to.isTrilinearPlain = from.disableTrilinearOptimization != 0;
  to.isSeamless = from.seamlessCubemap != 0;
  return readSampling(from, to);
}

void writeTexture(const TextureDescription& from, cudaTextureDesc& to) {
  to = {};
  writeSampling(from, to);
  to.readMode = from.readsIntegers ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
  to.normalizedCoords = from.hasNormalizedCoordinates;
  to.sRGB = from.isSrgb;
  to.disableTrilinearOptimization = from.isTrilinearPlain;
  to.seamlessCubemap = from.isSeamless;
}

// What the runtime refuses by itself: linear filters of integers, and integers of 32 bits and floats as fractions.
// Arrays of words that are viewed as compressed blocks are none of these.
cudaError_t checkReading(const TextureDescription& texture, cudaTextureReadMode mode) {
  const auto kind = static_cast<cudaChannelFormatKind>(texture.format->kind);
  const bool isPlain = kind == cudaChannelFormatKindSigned || kind == cudaChannelFormatKindUnsigned;
  const bool isWide = texture.format->bits == 32;
  const bool isOfWords = kind == cudaChannelFormatKindUnsigned && isWide && !texture.isMemory();
  if (isOfWords && texture.hasView && texture.view.format >= cudaResViewFormatUnsignedBlockCompressed1)
    return cudaSuccess;
  if (texture.filtersLinear && isPlain && (isWide || mode == cudaReadModeElementType))
    return cudaErrorInvalidFilterSetting;
  if (mode == cudaReadModeNormalizedFloat && (kind == cudaChannelFormatKindFloat || (isPlain && isWide)))
    return cudaErrorInvalidNormSetting;
  return cudaSuccess;
}

// `textureBytes`: as much of the description as the caller has.
cudaError_t create(cudaTextureObject_t* out, const cudaResourceDesc* resource, const void* texture, size_t textureBytes,
                   const cudaResourceViewDesc* view, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withContext([&](core::Context& context) -> cudaError_t {
    if (!out || !resource || !texture) return cudaErrorInvalidValue;
    cudaTextureDesc asked{};
    std::memcpy(&asked, texture, textureBytes);
    TextureDescription description;
    TRY(readResource(*resource, description));
    const Error invalid = readTexture(asked, description);
    readView(view, description);
    TRY(checkReading(description, asked.readMode));
    TRY(codeOf(invalid));
    uint64_t handle = 0;
    const Error error = core::createTexture(context, description, handle);
    if (error == Error::Success) *out = handle;
    return static_cast<cudaError_t>(error);
  });
}

cudaError_t describe(cudaTextureDesc* out, size_t textureBytes, cudaTextureObject_t handle,
                     const char* call = __builtin_FUNCTION()) {
  const auto write = [=](const TextureDescription& from, cudaTextureDesc& to) {
    cudaTextureDesc whole;
    writeTexture(from, whole);
    std::memcpy(&to, &whole, textureBytes);
  };
  return withContext([&](core::Context& context) { return describeTexture(context, handle, out, write); }, call);
}

#if MULCIBER_CUDART_MAJOR == 11
constexpr size_t textureBytes = offsetof(cudaTextureDesc, seamlessCubemap);
#else
constexpr size_t textureBytes = sizeof(cudaTextureDesc);
#endif

}  // namespace

}  // namespace mulciber::api

using namespace mulciber::api;
namespace core = mulciber::core;

CUDA_API(cudaError_t, cudaCreateTextureObject)
(cudaTextureObject_t* out, const cudaResourceDesc* resource, const cudaTextureDesc* texture,
 const cudaResourceViewDesc* view) {
  return create(out, resource, texture, textureBytes, view);
}

#if MULCIBER_CUDART_MAJOR == 11
CUDA_API(cudaError_t, cudaCreateTextureObject_v2)
(cudaTextureObject_t* out, const cudaResourceDesc* resource, const cudaTextureDesc* texture,
 const cudaResourceViewDesc* view) {
  return create(out, resource, texture, sizeof(cudaTextureDesc), view);
}
#endif

CUDA_API(cudaError_t, cudaDestroyTextureObject)(cudaTextureObject_t handle) {
  return withContext([&](core::Context& context) { return core::destroyTexture(context, handle); });
}

CUDA_API(cudaError_t, cudaGetTextureObjectResourceDesc)(cudaResourceDesc* out, cudaTextureObject_t handle) {
  return withContext([&](core::Context& context) { return describeTexture(context, handle, out, writeResource); });
}

CUDA_API(cudaError_t, cudaGetTextureObjectTextureDesc)(cudaTextureDesc* out, cudaTextureObject_t handle) {
  return describe(out, textureBytes, handle);
}

#if MULCIBER_CUDART_MAJOR == 11
CUDA_API(cudaError_t, cudaGetTextureObjectTextureDesc_v2)(cudaTextureDesc* out, cudaTextureObject_t handle) {
  return describe(out, sizeof(cudaTextureDesc), handle);
}
#endif

CUDA_API(cudaError_t, cudaGetTextureObjectResourceViewDesc)(cudaResourceViewDesc* out, cudaTextureObject_t handle) {
  return withContext([&](core::Context& context) {
    std::shared_ptr<const core::TextureObject> texture;
    TRY(core::findTexture(context, handle, texture));
    if (!out || !texture->description().hasView) return Error::InvalidValue;
    writeView(texture->description(), *out);
    return Error::Success;
  });
}
