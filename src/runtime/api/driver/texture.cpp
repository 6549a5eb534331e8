// Texture objects: core's description from CUDA's structures, and back.
#include "runtime/core/texture_object.h"

#include <algorithm>

#include "runtime/api/common/textures.h"
#include "runtime/api/driver/driver.h"

namespace mulciber::api {

namespace {

using core::TextureDescription;
using Resource = TextureDescription::Resource;

bool isCubemap(const TextureDescription& texture) {
  if (texture.isMemory()) return false;
  const bool isArray = texture.resource == Resource::Array;
  return isArray ? texture.array->description().isCube() : texture.mipmapped->description().isCube();
}

constexpr uint32_t lastPlainKind = 2;  // cudaChannelFormatKindFloat

// Memory has none of the formats that are fractions by themselves.
const core::ArrayFormat* formatOfMemory(CUarray_format format, unsigned channels) {
  const core::ArrayFormat* found = core::findArrayFormat(format, channels);
  return found && found->kind <= lastPlainKind ? found : nullptr;
}

constexpr auto isSet = [](auto reserved) { return reserved != 0; };

Error readResource(const CUDA_RESOURCE_DESC& from, TextureDescription& to) {
  if (from.flags != 0) return Error::InvalidValue;
  switch (from.resType) {
    case CU_RESOURCE_TYPE_ARRAY: {
      to.resource = Resource::Array;
      auto* const handle = reinterpret_cast<core::Array*>(from.res.array.hArray);
      if (core::findArray(handle, to.array) != Error::Success) return Error::InvalidValue;
      to.format = &to.array->format();
      return Error::Success;
    }
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: {
      to.resource = Resource::Mipmapped;
      auto* const handle = reinterpret_cast<core::MipmappedArray*>(from.res.mipmap.hMipmappedArray);
      if (core::findMipmappedArray(handle, to.mipmapped) != Error::Success) return Error::InvalidValue;
      to.format = to.mipmapped->description().format;
      return Error::Success;
    }
    case CU_RESOURCE_TYPE_LINEAR:
      to.resource = Resource::Linear;
      to.address = from.res.linear.devPtr;
      to.bytes = from.res.linear.sizeInBytes;
      to.format = formatOfMemory(from.res.linear.format, from.res.linear.numChannels);
      return to.format ? Error::Success : Error::InvalidValue;
    case CU_RESOURCE_TYPE_PITCH2D:
      to.resource = Resource::Pitched;
      to.address = from.res.pitch2D.devPtr;
      to.width = from.res.pitch2D.width;
      to.height = from.res.pitch2D.height;
      to.pitch = from.res.pitch2D.pitchInBytes;
      to.format = formatOfMemory(from.res.pitch2D.format, from.res.pitch2D.numChannels);
      return to.format ? Error::Success : Error::InvalidValue;
    default: return Error::InvalidValue;
  }
}

void writeResource(const TextureDescription& from, CUDA_RESOURCE_DESC& to) {
  to = {};
  to.resType = static_cast<CUresourcetype>(from.resource);
  switch (from.resource) {
    case Resource::Array: to.res.array.hArray = reinterpret_cast<CUarray>(from.array.get()); break;
    case Resource::Mipmapped:
      to.res.mipmap.hMipmappedArray = reinterpret_cast<CUmipmappedArray>(from.mipmapped.get());
      break;
    case Resource::Linear:
      to.res.linear.devPtr = from.address;
      to.res.linear.sizeInBytes = from.bytes;
      to.res.linear.format = static_cast<CUarray_format>(from.format->code);
      to.res.linear.numChannels = from.format->channels;
      break;
    case Resource::Pitched:
      to.res.pitch2D.devPtr = from.address;
      to.res.pitch2D.width = from.width;
      to.res.pitch2D.height = from.height;
      to.res.pitch2D.pitchInBytes = from.pitch;
      to.res.pitch2D.format = static_cast<CUarray_format>(from.format->code);
      to.res.pitch2D.numChannels = from.format->channels;
      break;
  }
}

Error readTexture(const CUDA_TEXTURE_DESC& from, TextureDescription& to) {
  constexpr unsigned known = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |
                             CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP;
  if ((from.flags & ~known) != 0 || std::ranges::any_of(from.reserved, isSet)) return Error::InvalidValue;
  to.readsIntegers = (from.flags & CU_TRSF_READ_AS_INTEGER) != 0;
  to.hasNormalizedCoordinates = (from.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  to.isSrgb = (from.flags & CU_TRSF_SRGB) != 0;
  to.isTrilinearPlain = (from.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0;
  to.isSeamless = (from.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
  return readSampling(from, to);
}

void writeTexture(const TextureDescription& from, CUDA_TEXTURE_DESC& to) {
  to = {};
  writeSampling(from, to);
  to.flags = (from.readsIntegers ? CU_TRSF_READ_AS_INTEGER : 0u) |
             (from.hasNormalizedCoordinates ? CU_TRSF_NORMALIZED_COORDINATES : 0u) | (from.isSrgb ? CU_TRSF_SRGB : 0u) |
             (from.isTrilinearPlain ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0u) |
             (from.isSeamless ? CU_TRSF_SEAMLESS_CUBEMAP : 0u);
}

template <class Out, class Write>
CUresult describe(CUtexObject handle, Out* out, Write write, const char* call = __builtin_FUNCTION()) {
  return withContext([&](core::Context& context) { return describeTexture(context, handle, out, write); }, call);
}

}  // namespace

}  // namespace mulciber::api

using namespace mulciber::api;
namespace core = mulciber::core;

CUDA_API(CUresult, cuTexObjectCreate)
(CUtexObject* out, const CUDA_RESOURCE_DESC* resource, const CUDA_TEXTURE_DESC* texture,
 const CUDA_RESOURCE_VIEW_DESC* view) {
  return withContext([&](core::Context& context) {
    if (!out || !resource || !texture) return Error::InvalidValue;
    core::TextureDescription description;
    TRY(readResource(*resource, description));
    TRY(readTexture(*texture, description));
    if (description.isSeamless && !isCubemap(description)) return Error::InvalidValue;
    if (description.isMemory()) view = nullptr;  // nobody looks at it
    if (view && std::ranges::any_of(view->reserved, isSet)) return Error::InvalidValue;
    readView(view, description);
    uint64_t handle = 0;
    const Error error = core::createTexture(context, description, handle);
    if (error == Error::Success) *out = handle;
    return error;
  });
}

CUDA_API(CUresult, cuTexObjectDestroy)(CUtexObject handle) {
  return withContext([&](core::Context& context) { return core::destroyTexture(context, handle); });
}

CUDA_API(CUresult, cuTexObjectGetResourceDesc)(CUDA_RESOURCE_DESC* out, CUtexObject handle) {
  return describe(handle, out, writeResource);
}

CUDA_API(CUresult, cuTexObjectGetTextureDesc)(CUDA_TEXTURE_DESC* out, CUtexObject handle) {
  return describe(handle, out, writeTexture);
}

CUDA_API(CUresult, cuTexObjectGetResourceViewDesc)(CUDA_RESOURCE_VIEW_DESC* out, CUtexObject handle) {
  return describe(handle, out, writeView<CUDA_RESOURCE_VIEW_DESC>);
}
