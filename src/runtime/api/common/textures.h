// Texture objects as the two APIs describe them: much of their structures has the same members.
#pragma once

#include <algorithm>
#include <memory>
#include <type_traits>

#include "runtime/core/texture_object.h"

namespace mulciber::api {

constexpr int linear = 1;  // CU_TR_FILTER_MODE_LINEAR and cudaFilterModeLinear; 0 is the nearest texel

// How a texture is filtered and where it ends: CUDA_TEXTURE_DESC or cudaTextureDesc without the flags.
template <class Given>
core::Error readSampling(const Given& from, core::TextureDescription& to) {
  std::copy_n(from.addressMode, 3, to.addressModes);
  to.filtersLinear = from.filterMode == linear;
  to.filtersLevels = from.mipmapFilterMode == linear;
  to.anisotropy = from.maxAnisotropy;
  to.levelBias = from.mipmapLevelBias;
  to.minLevel = from.minMipmapLevelClamp;
  to.maxLevel = from.maxMipmapLevelClamp;
  std::copy_n(from.borderColor, 4, to.border);
  return from.filterMode <= linear && from.mipmapFilterMode <= linear ? core::Error::Success
                                                                      : core::Error::InvalidValue;
}

template <class Given>
void writeSampling(const core::TextureDescription& from, Given& to) {
  using AddressMode = std::remove_reference_t<decltype(to.addressMode[0])>;
  std::ranges::transform(from.addressModes, to.addressMode, [](uint32_t mode) { return AddressMode(mode); });
  to.filterMode = decltype(to.filterMode)(from.filtersLinear ? linear : 0);
  to.mipmapFilterMode = decltype(to.mipmapFilterMode)(from.filtersLevels ? linear : 0);
  to.maxAnisotropy = from.anisotropy;
  to.mipmapLevelBias = from.levelBias;
  to.minMipmapLevelClamp = from.minLevel;
  to.maxMipmapLevelClamp = from.maxLevel;
  std::copy_n(from.border, 4, to.borderColor);
}

template <class View>
void readView(const View* given, core::TextureDescription& out) {
  out.hasView = given != nullptr;
  if (given)
    out.view = {static_cast<uint32_t>(given->format),
                given->width,
                given->height,
                given->depth,
                given->firstMipmapLevel,
                given->lastMipmapLevel,
                given->firstLayer,
                given->lastLayer};
}

// Zeros where the program gave no view.
template <class View>
void writeView(const core::TextureDescription& from, View& to) {
  to = {};
  to.format = decltype(to.format)(from.view.format);
  to.width = from.view.width;
  to.height = from.view.height;
  to.depth = from.view.depth;
  to.firstMipmapLevel = from.view.firstLevel;
  to.lastMipmapLevel = from.view.lastLevel;
  to.firstLayer = from.view.firstLayer;
  to.lastLayer = from.view.lastLayer;
}

// `write(description, *out)` puts what is asked about the texture.
template <class Out, class Write>
core::Error describeTexture(core::Context& context, uint64_t handle, Out* out, Write write) {
  std::shared_ptr<const core::TextureObject> texture;
  if (!out) return core::Error::InvalidValue;
  TRY(core::findTexture(context, handle, texture));
  write(texture->description(), *out);
  return core::Error::Success;
}

}  // namespace mulciber::api
