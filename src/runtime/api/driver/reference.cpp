// Texture and surface references: the calls that set, bind and read them.
#include <algorithm>

#include "runtime/api/driver/driver.h"
#include "runtime/core/module.h"
#include "runtime/core/texture_reference.h"

using namespace mulciber::api;
namespace core = mulciber::core;

namespace {

using State = core::TextureReference::State;
using Resource = core::TextureDescription::Resource;

constexpr uint64_t addressAlignment = 512;  // as the device's attributes say
constexpr int dimensions = 3;

template <class Body>
CUresult withReference(CUtexref handle, Body&& body) {
  return withContext([&](core::Context&) {
    core::TextureReferenceRef reference;
    auto* const key = reinterpret_cast<core::TextureReference*>(handle);
    TRY(core::findTextureReference(key, reference));
    return body(*reference);
  });
}

// Changes what the next launches see.
template <class Body>
CUresult change(CUtexref handle, bool isValid, Body&& body) {
  return withReference(handle, [&](core::TextureReference& reference) {
    if (!isValid) return Error::InvalidValue;
    reference.change(body);
    return Error::Success;
  });
}

template <class Body>
CUresult read(CUtexref handle, bool isValid, Body&& body) {
  return withReference(handle, [&](core::TextureReference& reference) {
    if (!isValid) return Error::InvalidValue;
    return body(reference.state());
  });
}

template <class Body>
CUresult withSurfaceReference(CUsurfref handle, Body&& body) {
  return withContext([&](core::Context&) {
    core::SurfaceReferenceRef reference;
    auto* const key = reinterpret_cast<core::SurfaceReference*>(handle);
    TRY(core::findSurfaceReference(key, reference));
    return body(*reference);
  });
}

template <class Body>
CUresult withNamed(CUmodule handle, const void* out, const char* name, Body&& body) {
  return withContext([&](core::Context&) {
    core::ModuleRef module;
    if (!out || !name) return Error::InvalidValue;
    TRY(core::findModule(reinterpret_cast<core::Module*>(handle), module));
    return body(*module);
  });
}

bool isFilter(CUfilter_mode mode) { return mode <= CU_TR_FILTER_MODE_LINEAR; }
CUfilter_mode filterOf(bool isLinear) { return isLinear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT; }

void bind(State& state, Resource resource, const core::ArrayFormat* format) {
  core::TextureDescription& description = state.description;
  description.resource = resource;
  description.array = nullptr;
  description.mipmapped = nullptr;
  description.address = 0;
  description.format = format;
  state.isBound = true;
  state.format = format;
}

}  // namespace

CUDA_API(CUresult, cuModuleGetTexRef)(CUtexref* out, CUmodule module, const char* name) {
  return withNamed(module, out, name, [&](const core::Module& of) {
    core::TextureReference* found = nullptr;
    const Error error = of.textureReference(name, found);
    if (error == Error::Success) *out = reinterpret_cast<CUtexref>(found);
    return error;
  });
}

CUDA_API(CUresult, cuModuleGetSurfRef)(CUsurfref* out, CUmodule module, const char* name) {
  return withNamed(module, out, name, [&](const core::Module& of) {
    core::SurfaceReference* found = nullptr;
    const Error error = of.surfaceReference(name, found);
    if (error == Error::Success) *out = reinterpret_cast<CUsurfref>(found);
    return error;
  });
}

// A reference of no module: kernels cannot name it.
CUDA_API(CUresult, cuTexRefCreate)(CUtexref* out) {
  return withContext([&](core::Context& context) {
    if (!out) return Error::InvalidValue;
    auto made = std::make_shared<core::TextureReference>(context);
    *out = reinterpret_cast<CUtexref>(context.textureReferences().add(std::move(made)));
    return Error::Success;
  });
}

CUDA_API(CUresult, cuTexRefDestroy)(CUtexref handle) {
  return withContext([&](core::Context& context) {
    auto* const key = reinterpret_cast<core::TextureReference*>(handle);
    return context.textureReferences().remove(key) ? Error::Success : Error::InvalidHandle;
  });
}

CUDA_API(CUresult, cuTexRefSetArray)(CUtexref handle, CUarray array, unsigned int flags) {
  return withReference(handle, [&](core::TextureReference& reference) {
    core::ArrayRef found;
    if ((flags & ~CU_TRSA_OVERRIDE_FORMAT) != 0) return Error::InvalidValue;
    TRY(core::findArray(reinterpret_cast<core::Array*>(array), found));
    reference.change([&](State& state) {
      bind(state, Resource::Array, &found->format());
      state.description.array = found;
    });
    return Error::Success;
  });
}

CUDA_API(CUresult, cuTexRefSetMipmappedArray)(CUtexref handle, CUmipmappedArray array, unsigned int flags) {
  return withReference(handle, [&](core::TextureReference& reference) {
    core::MipmappedArrayRef found;
    if ((flags & ~CU_TRSA_OVERRIDE_FORMAT) != 0) return Error::InvalidValue;
    TRY(core::findMipmappedArray(reinterpret_cast<core::MipmappedArray*>(array), found));
    reference.change([&](State& state) {
      bind(state, Resource::Mipmapped, found->description().format);
      state.description.mipmapped = found;
    });
    return Error::Success;
  });
}

// Textures begin at aligned addresses: a kernel adds the bytes that lie before the program's own.
CUDA_API(CUresult, cuTexRefSetAddress_v2)(size_t* byteOffset, CUtexref handle, CUdeviceptr address, size_t bytes) {
  const size_t offset = address % addressAlignment;
  return change(handle, byteOffset || offset == 0, [&](State& state) {
    bind(state, Resource::Linear, state.format);
    state.description.address = address - offset;
    state.description.bytes = bytes + offset;
    state.isBound = address != 0;
    if (byteOffset) *byteOffset = offset;
  });
}

CUDA_API(CUresult, cuTexRefSetAddress2D_v3)
(CUtexref handle, const CUDA_ARRAY_DESCRIPTOR* given, CUdeviceptr address, size_t pitch) {
  const core::ArrayFormat* format = given ? core::findArrayFormat(given->Format, given->NumChannels) : nullptr;
  return change(handle, format && address % addressAlignment == 0, [&](State& state) {
    bind(state, Resource::Pitched, format);
    state.description.address = address;
    state.description.width = given->Width;
    state.description.height = given->Height;
    state.description.pitch = pitch;
    state.isBound = address != 0;
  });
}

CUDA_API(CUresult, cuTexRefSetFormat)(CUtexref handle, CUarray_format format, int channels) {
  const core::ArrayFormat* found = core::findArrayFormat(format, static_cast<uint32_t>(channels));
  return change(handle, found, [&](State& state) { state.format = state.description.format = found; });
}

CUDA_API(CUresult, cuTexRefSetAddressMode)(CUtexref handle, int dimension, CUaddress_mode mode) {
  return change(handle, dimension >= 0 && dimension < dimensions,
                [&](State& state) { state.description.addressModes[dimension] = mode; });
}

CUDA_API(CUresult, cuTexRefSetFilterMode)(CUtexref handle, CUfilter_mode mode) {
  return change(handle, isFilter(mode),
                [&](State& state) { state.description.filtersLinear = mode == CU_TR_FILTER_MODE_LINEAR; });
}

CUDA_API(CUresult, cuTexRefSetMipmapFilterMode)(CUtexref handle, CUfilter_mode mode) {
  return change(handle, isFilter(mode),
                [&](State& state) { state.description.filtersLevels = mode == CU_TR_FILTER_MODE_LINEAR; });
}

CUDA_API(CUresult, cuTexRefSetMipmapLevelBias)(CUtexref handle, float bias) {
  return change(handle, true, [&](State& state) { state.description.levelBias = bias; });
}

CUDA_API(CUresult, cuTexRefSetMipmapLevelClamp)(CUtexref handle, float least, float most) {
  return change(handle, true, [&](State& state) {
    state.description.minLevel = least;
    state.description.maxLevel = most;
  });
}

CUDA_API(CUresult, cuTexRefSetMaxAnisotropy)(CUtexref handle, unsigned int most) {
  return change(handle, true, [&](State& state) { state.description.anisotropy = most; });
}

CUDA_API(CUresult, cuTexRefSetBorderColor)(CUtexref handle, float* color) {
  return change(handle, color, [&](State& state) { std::copy_n(color, 4, state.description.border); });
}

CUDA_API(CUresult, cuTexRefSetFlags)(CUtexref handle, unsigned int flags) {
  constexpr unsigned known = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |
                             CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP;
  return change(handle, (flags & ~known) == 0, [&](State& state) {
    core::TextureDescription& to = state.description;
    to.readsIntegers = (flags & CU_TRSF_READ_AS_INTEGER) != 0;
    to.hasNormalizedCoordinates = (flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    to.isSrgb = (flags & CU_TRSF_SRGB) != 0;
    to.isTrilinearPlain = (flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0;
    to.isSeamless = (flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
  });
}

CUDA_API(CUresult, cuTexRefGetAddress_v2)(CUdeviceptr* out, CUtexref handle) {
  return read(handle, out, [&](const State& state) {
    if (!state.isBound || state.description.address == 0) return Error::InvalidValue;
    *out = state.description.address;
    return Error::Success;
  });
}

CUDA_API(CUresult, cuTexRefGetArray)(CUarray* out, CUtexref handle) {
  return read(handle, out, [&](const State& state) {
    if (!state.description.array) return Error::InvalidValue;
    *out = reinterpret_cast<CUarray>(state.description.array.get());
    return Error::Success;
  });
}

CUDA_API(CUresult, cuTexRefGetMipmappedArray)(CUmipmappedArray* out, CUtexref handle) {
  return read(handle, out, [&](const State& state) {
    if (!state.description.mipmapped) return Error::InvalidValue;
    *out = reinterpret_cast<CUmipmappedArray>(state.description.mipmapped.get());
    return Error::Success;
  });
}

CUDA_API(CUresult, cuTexRefGetAddressMode)(CUaddress_mode* out, CUtexref handle, int dimension) {
  return read(handle, out && dimension >= 0 && dimension < dimensions, [&](const State& state) {
    *out = static_cast<CUaddress_mode>(state.description.addressModes[dimension]);
    return Error::Success;
  });
}

CUDA_API(CUresult, cuTexRefGetFilterMode)(CUfilter_mode* out, CUtexref handle) {
  return read(handle, out, [&](const State& state) {
    *out = filterOf(state.description.filtersLinear);
    return Error::Success;
  });
}

CUDA_API(CUresult, cuTexRefGetFormat)(CUarray_format* format, int* channels, CUtexref handle) {
  return read(handle, format || channels, [&](const State& state) {
    if (format) *format = static_cast<CUarray_format>(state.format->code);
    if (channels) *channels = static_cast<int>(state.format->channels);
    return Error::Success;
  });
}

CUDA_API(CUresult, cuTexRefGetMipmapFilterMode)(CUfilter_mode* out, CUtexref handle) {
  return read(handle, out, [&](const State& state) {
    *out = filterOf(state.description.filtersLevels);
    return Error::Success;
  });
}

CUDA_API(CUresult, cuTexRefGetMipmapLevelBias)(float* out, CUtexref handle) {
  return read(handle, out, [&](const State& state) {
    *out = state.description.levelBias;
    return Error::Success;
  });
}

CUDA_API(CUresult, cuTexRefGetMipmapLevelClamp)(float* least, float* most, CUtexref handle) {
  return read(handle, least && most, [&](const State& state) {
    *least = state.description.minLevel;
    *most = state.description.maxLevel;
    return Error::Success;
  });
}

CUDA_API(CUresult, cuTexRefGetMaxAnisotropy)(int* out, CUtexref handle) {
  return read(handle, out, [&](const State& state) {
    *out = static_cast<int>(state.description.anisotropy);
    return Error::Success;
  });
}

CUDA_API(CUresult, cuTexRefGetBorderColor)(float* out, CUtexref handle) {
  return read(handle, out, [&](const State& state) {
    std::copy_n(state.description.border, 4, out);
    return Error::Success;
  });
}

CUDA_API(CUresult, cuTexRefGetFlags)(unsigned int* out, CUtexref handle) {
  return read(handle, out, [&](const State& state) {
    const core::TextureDescription& from = state.description;
    *out = (from.readsIntegers ? CU_TRSF_READ_AS_INTEGER : 0u) |
           (from.hasNormalizedCoordinates ? CU_TRSF_NORMALIZED_COORDINATES : 0u) | (from.isSrgb ? CU_TRSF_SRGB : 0u) |
           (from.isTrilinearPlain ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0u) |
           (from.isSeamless ? CU_TRSF_SEAMLESS_CUBEMAP : 0u);
    return Error::Success;
  });
}

CUDA_API(CUresult, cuSurfRefSetArray)(CUsurfref handle, CUarray array, unsigned int flags) {
  return withSurfaceReference(handle, [&](core::SurfaceReference& reference) {
    core::ArrayRef found;
    if (flags != 0) return Error::InvalidValue;
    TRY(core::findArray(reinterpret_cast<core::Array*>(array), found));
    return reference.bind(found);
  });
}

CUDA_API(CUresult, cuSurfRefGetArray)(CUarray* out, CUsurfref handle) {
  return withSurfaceReference(handle, [&](const core::SurfaceReference& reference) {
    const core::ArrayRef array = reference.array();
    if (!out || !array) return Error::InvalidValue;
    *out = reinterpret_cast<CUarray>(array.get());
    return Error::Success;
  });
}

// Kernels have the references of their module in any case.
CUDA_API(CUresult, cuParamSetTexRef)(CUfunction, int unit, CUtexref handle) {
  return withReference(handle, [&](const core::TextureReference&) {
    return unit == CU_PARAM_TR_DEFAULT ? Error::Success : Error::InvalidValue;
  });
}
