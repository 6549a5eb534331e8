// Surface objects: core's from the runtime API's structures, and back.
#include <surface_types.h>

#include "runtime/api/runtime/runtime.h"
#include "runtime/core/surface_object.h"

using namespace mulciber::api;
namespace core = mulciber::core;

CUDA_API(cudaError_t, cudaCreateSurfaceObject)(cudaSurfaceObject_t* out, const cudaResourceDesc* resource) {
  return withContext([&](core::Context& context) {
    if (!out || !resource || resource->resType != cudaResourceTypeArray) return Error::InvalidValue;
    core::ArrayRef array;
    auto* const handle = reinterpret_cast<core::Array*>(resource->res.array.array);
    TRY(core::findArray(handle, array));
    uint64_t made = 0;
    const Error error = core::createSurface(context, array, made);
    if (error == Error::Success) *out = made;
    return error;
  });
}

CUDA_API(cudaError_t, cudaDestroySurfaceObject)(cudaSurfaceObject_t handle) {
  return withContext([&](core::Context& context) { return core::destroySurface(context, handle); });
}

CUDA_API(cudaError_t, cudaGetSurfaceObjectResourceDesc)(cudaResourceDesc* out, cudaSurfaceObject_t handle) {
  return withContext([&](core::Context& context) {
    std::shared_ptr<const core::SurfaceObject> surface;
    if (!out) return Error::InvalidDevice;  // natively too
    TRY(core::findSurface(context, handle, surface));
    *out = {};
    out->resType = cudaResourceTypeArray;
    out->res.array.array = reinterpret_cast<cudaArray_t>(surface->array().get());
    return Error::Success;
  });
}
