// OpenGL's objects in streams.
#include "runtime/api/common/graphics.h"

#include "runtime/api/driver/driver.h"

using namespace mulciber::api;
namespace core = mulciber::core;

CUDA_API_PTSZ(CUresult, cuGraphicsMapResources)
(unsigned int count, CUgraphicsResource* resources, CUstream handle) {
  return withStream(handle,
                    [&](core::Stream& stream) { return useResources(stream, count, resources, core::mapResources); });
}

CUDA_API_PTSZ(CUresult, cuGraphicsUnmapResources)
(unsigned int count, CUgraphicsResource* resources, CUstream handle) {
  return withStream(handle,
                    [&](core::Stream& stream) { return useResources(stream, count, resources, core::unmapResources); });
}

CUDA_API_PTDS(CUresult, cuGLMapBufferObject_v2)(CUdeviceptr* out, size_t* bytes, unsigned int buffer) {
  return withStream(nullptr, [&](core::Stream& stream) { return mapBufferObject(stream, buffer, out, bytes); });
}

CUDA_API_PTSZ(CUresult, cuGLMapBufferObjectAsync_v2)
(CUdeviceptr* out, size_t* bytes, unsigned int buffer, CUstream handle) {
  return withStream(handle, [&](core::Stream& stream) { return mapBufferObject(stream, buffer, out, bytes); });
}
