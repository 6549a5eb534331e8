// OpenGL's objects, as both APIs have them: their handles are core's objects.
#pragma once

#include <vector>

#include "runtime/api/common/give.h"
#include "runtime/core/device.h"
#include "runtime/core/graphics.h"
#include "runtime/core/opengl.h"
#include "runtime/core/platform.h"

namespace mulciber::api {

template <class Handle>
core::GraphicsResource* resourceOf(Handle handle) {
  return reinterpret_cast<core::GraphicsResource*>(handle);
}

template <class Handle, class Use>
core::Error withResource(Handle handle, Use&& use) {
  core::GraphicsResourceRef resource;
  TRY(core::findGraphicsResource(resourceOf(handle), resource));
  return use(*resource);
}

// `use` is core::mapResources or core::unmapResources.
template <class Handle, class Use>
core::Error useResources(core::Stream& stream, unsigned count, Handle* handles, Use&& use) {
  if (count == 0 || !handles) return core::Error::InvalidValue;
  std::vector<core::GraphicsResource*> resources;
  for (unsigned i = 0; i < count; ++i) resources.push_back(resourceOf(handles[i]));
  return use(stream, resources);
}

template <class Pointer>
core::Error giveMappedPointer(core::GraphicsResource& resource, Pointer* out, size_t* size) {
  uint64_t address = 0, bytes = 0;
  TRY(resource.pointer(address, bytes));
  if (out) TRY(give(out, address));
  if (size) *size = bytes;
  return core::Error::Success;
}

// The devices of the thread's OpenGL context: one at most, also where frames alternate between several.
template <class Number>
core::Error giveOpenGlDevices(unsigned* count, Number* out, unsigned most, int list) {
  if (!count || list < 1 || list > 3) return core::Error::InvalidValue;
  *count = 0;
  const core::OpenGl* gl = nullptr;
  TRY(core::currentOpenGl(gl));
  const auto& devices = core::Platform::get().devices();
  for (size_t i = 0; i < devices.size() && *count == 0; ++i) {
    if (!core::isOnDevice(*gl, *devices[i])) continue;
    if (out && most > 0) *out = static_cast<Number>(i);
    *count = 1;
  }
  return *count != 0 ? core::Error::Success : core::Error::NoDevice;
}

}  // namespace mulciber::api
