// OpenGL's buffers and images. OpenGL's own types are plain numbers here, so that its headers need not be there.
#include "runtime/api/common/graphics.h"

#include "runtime/api/runtime/runtime.h"

using namespace mulciber::api;
namespace core = mulciber::core;

CUDA_API(cudaError_t, cudaGraphicsGLRegisterBuffer)
(struct cudaGraphicsResource** out, unsigned int buffer, unsigned int flags) {
  return withContext([&](core::Context& context) {
    if (!out) return Error::InvalidValue;
    return giveMade<core::GraphicsResource*>(
        out, [&](core::GraphicsResource*& made) { return core::registerBuffer(context, buffer, flags, made); });
  });
}

CUDA_API(cudaError_t, cudaGraphicsGLRegisterImage)
(struct cudaGraphicsResource** out, unsigned int image, unsigned int target, unsigned int flags) {
  return withContext([&](core::Context& context) {
    if (!out) return Error::InvalidValue;
    return giveMade<core::GraphicsResource*>(
        out, [&](core::GraphicsResource*& made) { return core::registerImage(context, image, target, flags, made); });
  });
}

CUDA_API(cudaError_t, cudaGraphicsUnregisterResource)(cudaGraphicsResource_t handle) {
  return withContext([&](core::Context&) { return core::unregisterResource(resourceOf(handle)); });
}

CUDA_API(cudaError_t, cudaGraphicsResourceSetMapFlags)(cudaGraphicsResource_t handle, unsigned int flags) {
  return withContext([&](core::Context&) {
    return withResource(handle, [&](core::GraphicsResource& resource) { return resource.setMapFlags(flags); });
  });
}

CUDA_API(cudaError_t, cudaGraphicsMapResources)(int count, cudaGraphicsResource_t* resources, cudaStream_t handle) {
  return withStream(handle, [&](core::Stream& stream) {
    return useResources(stream, count < 0 ? 0 : static_cast<unsigned>(count), resources, core::mapResources);
  });
}

CUDA_API(cudaError_t, cudaGraphicsUnmapResources)(int count, cudaGraphicsResource_t* resources, cudaStream_t handle) {
  return withStream(handle, [&](core::Stream& stream) {
    return useResources(stream, count < 0 ? 0 : static_cast<unsigned>(count), resources, core::unmapResources);
  });
}

CUDA_API(cudaError_t, cudaGraphicsResourceGetMappedPointer)
(void** out, size_t* bytes, cudaGraphicsResource_t handle) {
  return withContext([&](core::Context&) {
    return withResource(handle,
                        [&](core::GraphicsResource& resource) { return giveMappedPointer(resource, out, bytes); });
  });
}

CUDA_API(cudaError_t, cudaGraphicsSubResourceGetMappedArray)
(cudaArray_t* out, cudaGraphicsResource_t handle, unsigned int index, unsigned int level) {
  return withContext([&](core::Context&) {
    return withResource(handle, [&](core::GraphicsResource& resource) {
      return giveMade<core::Array*>(out, [&](core::Array*& array) { return resource.array(index, level, array); });
    });
  });
}

CUDA_API(cudaError_t, cudaGraphicsResourceGetMappedMipmappedArray)
(cudaMipmappedArray_t* out, cudaGraphicsResource_t handle) {
  return withContext([&](core::Context&) {
    return withResource(handle, [&](core::GraphicsResource& resource) {
      return giveMade<core::MipmappedArray*>(
          out, [&](core::MipmappedArray*& array) { return resource.mipmappedArray(array); });
    });
  });
}

CUDA_API(cudaError_t, cudaGLGetDevices)
(unsigned int* count, int* devices, unsigned int most, int list) {
  return withPlatform([&] { return giveOpenGlDevices(count, devices, most, list); });
}

// What follows is of before CUDA 3.0.

// Any device can share with OpenGL since then: this chooses one as cudaSetDevice does.
CUDA_API(cudaError_t, cudaGLSetGLDevice)(int device) { return cudaSetDevice(device); }

CUDA_API(cudaError_t, cudaGLRegisterBufferObject)(unsigned int buffer) {
  return withContext([&](core::Context& context) { return registerBufferObject(context, buffer); });
}

CUDA_API(cudaError_t, cudaGLUnregisterBufferObject)(unsigned int buffer) {
  return withContext([&](core::Context& context) {
    return withBufferObject(context, buffer,
                            [](core::GraphicsResource& resource) { return core::unregisterResource(&resource); });
  });
}

CUDA_API(cudaError_t, cudaGLSetBufferObjectMapFlags)(unsigned int buffer, unsigned int flags) {
  return withContext([&](core::Context& context) {
    return withBufferObject(context, buffer,
                            [&](core::GraphicsResource& resource) { return resource.setMapFlags(flags); });
  });
}

CUDA_API(cudaError_t, cudaGLMapBufferObject)(void** out, unsigned int buffer) {
  return withStream(nullptr, [&](core::Stream& stream) { return mapBufferObject(stream, buffer, out, nullptr); });
}

CUDA_API(cudaError_t, cudaGLMapBufferObjectAsync)(void** out, unsigned int buffer, cudaStream_t handle) {
  return withStream(handle, [&](core::Stream& stream) { return mapBufferObject(stream, buffer, out, nullptr); });
}

CUDA_API(cudaError_t, cudaGLUnmapBufferObject)(unsigned int buffer) {
  return withStream(nullptr, [&](core::Stream& stream) { return unmapBufferObject(stream, buffer); });
}

CUDA_API(cudaError_t, cudaGLUnmapBufferObjectAsync)(unsigned int buffer, cudaStream_t handle) {
  return withStream(handle, [&](core::Stream& stream) { return unmapBufferObject(stream, buffer); });
}
