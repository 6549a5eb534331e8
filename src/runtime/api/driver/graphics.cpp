// OpenGL's buffers and images. OpenGL's own types are plain numbers here, so that its headers need not be there.
#include "runtime/api/common/graphics.h"

#include "runtime/api/driver/driver.h"

using namespace mulciber::api;
namespace core = mulciber::core;

CUDA_API(CUresult, cuGraphicsGLRegisterBuffer)(CUgraphicsResource* out, unsigned int buffer, unsigned int flags) {
  return withContext([&](core::Context& context) {
    if (!out) return Error::InvalidValue;
    return giveMade<core::GraphicsResource*>(
        out, [&](core::GraphicsResource*& made) { return core::registerBuffer(context, buffer, flags, made); });
  });
}

CUDA_API(CUresult, cuGraphicsGLRegisterImage)
(CUgraphicsResource* out, unsigned int image, unsigned int target, unsigned int flags) {
  return withContext([&](core::Context& context) {
    if (!out) return Error::InvalidValue;
    return giveMade<core::GraphicsResource*>(
        out, [&](core::GraphicsResource*& made) { return core::registerImage(context, image, target, flags, made); });
  });
}

CUDA_API(CUresult, cuGraphicsUnregisterResource)(CUgraphicsResource handle) {
  return withContext([&](core::Context&) { return core::unregisterResource(resourceOf(handle)); });
}

CUDA_API(CUresult, cuGraphicsResourceSetMapFlags_v2)(CUgraphicsResource handle, unsigned int flags) {
  return withContext([&](core::Context&) {
    return withResource(handle, [&](core::GraphicsResource& resource) { return resource.setMapFlags(flags); });
  });
}

CUDA_API(CUresult, cuGraphicsResourceGetMappedPointer_v2)
(CUdeviceptr* out, size_t* bytes, CUgraphicsResource handle) {
  return withContext([&](core::Context&) {
    return withResource(handle,
                        [&](core::GraphicsResource& resource) { return giveMappedPointer(resource, out, bytes); });
  });
}

CUDA_API(CUresult, cuGraphicsSubResourceGetMappedArray)
(CUarray* out, CUgraphicsResource handle, unsigned int index, unsigned int level) {
  return withContext([&](core::Context&) {
    return withResource(handle, [&](core::GraphicsResource& resource) {
      return giveMade<core::Array*>(out, [&](core::Array*& array) { return resource.array(index, level, array); });
    });
  });
}

CUDA_API(CUresult, cuGraphicsResourceGetMappedMipmappedArray)(CUmipmappedArray* out, CUgraphicsResource handle) {
  return withContext([&](core::Context&) {
    return withResource(handle, [&](core::GraphicsResource& resource) {
      return giveMade<core::MipmappedArray*>(
          out, [&](core::MipmappedArray*& array) { return resource.mipmappedArray(array); });
    });
  });
}

CUDA_API(CUresult, cuGLGetDevices_v2)
(unsigned int* count, CUdevice* devices, unsigned int most, int list) {
  return withDriver([&] { return giveOpenGlDevices(count, devices, most, list); });
}

CUDA_API(CUresult, cuGLInit)() {
  return withContext([](core::Context&) {
    const core::OpenGl* gl = nullptr;
    return core::currentOpenGl(gl);
  });
}

// What follows, and some in streamed/graphics.cpp, is of before CUDA 3.0.

CUDA_API(CUresult, cuGLRegisterBufferObject)(unsigned int buffer) {
  return withContext([&](core::Context& context) { return registerBufferObject(context, buffer); });
}

CUDA_API(CUresult, cuGLUnregisterBufferObject)(unsigned int buffer) {
  return withContext([&](core::Context& context) {
    return withBufferObject(context, buffer,
                            [](core::GraphicsResource& resource) { return core::unregisterResource(&resource); });
  });
}

CUDA_API(CUresult, cuGLSetBufferObjectMapFlags)(unsigned int buffer, unsigned int flags) {
  return withContext([&](core::Context& context) {
    return withBufferObject(context, buffer,
                            [&](core::GraphicsResource& resource) { return resource.setMapFlags(flags); });
  });
}

CUDA_API(CUresult, cuGLUnmapBufferObject)(unsigned int buffer) {
  return withStream(nullptr, [&](core::Stream& stream) { return unmapBufferObject(stream, buffer); });
}

CUDA_API(CUresult, cuGLUnmapBufferObjectAsync)(unsigned int buffer, CUstream handle) {
  return withStream(handle, [&](core::Stream& stream) { return unmapBufferObject(stream, buffer); });
}
