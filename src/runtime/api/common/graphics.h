// OpenGL's objects, as both APIs have them: their handles are core's objects.
#pragma once

#include <vector>

#include "runtime/api/common/give.h"
#include "runtime/core/device.h"
#include "runtime/core/graphics.h"
#include "runtime/core/opengl.h"
#include "runtime/core/platform.h"
#include "runtime/core/stream.h"

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

// The functions of before CUDA 3.0 name a buffer itself. A buffer is registered once.
inline core::Error registerBufferObject(core::Context& context, uint32_t buffer) {
  core::GraphicsResourceRef resource;
  if (core::findBuffer(context, buffer, resource) == core::Error::Success) return core::Error::InvalidValue;
  core::GraphicsResource* made = nullptr;
  return core::registerBuffer(context, buffer, 0, made);
}

template <class Use>
core::Error withBufferObject(const core::Context& context, uint32_t buffer, Use&& use) {
  core::GraphicsResourceRef resource;
  TRY(core::findBuffer(context, buffer, resource));
  return use(*resource);
}

template <class Pointer>
core::Error mapBufferObject(core::Stream& stream, uint32_t buffer, Pointer* out, size_t* size) {
  if (!out) return core::Error::InvalidValue;
  return withBufferObject(stream.context(), buffer, [&](core::GraphicsResource& resource) {
    TRY(core::mapResources(stream, {&resource}));
    return giveMappedPointer(resource, out, size);
  });
}

inline core::Error unmapBufferObject(core::Stream& stream, uint32_t buffer) {
  return withBufferObject(stream.context(), buffer,
                          [&](core::GraphicsResource& resource) { return core::unmapResources(stream, {&resource}); });
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
