// The view of a texture's array as the two APIs describe it: the members have the same names in both.
#pragma once

#include "runtime/core/texture_object.h"

namespace mulciber::api {

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

}  // namespace mulciber::api
