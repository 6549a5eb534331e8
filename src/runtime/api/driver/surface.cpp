// Surface objects: core's from CUDA's structures, and back.
#include "runtime/core/surface_object.h"

#include "runtime/api/driver/driver.h"

using namespace mulciber::api;
namespace core = mulciber::core;

CUDA_API(CUresult, cuSurfObjectCreate)(CUsurfObject* out, const CUDA_RESOURCE_DESC* resource) {
  return withContext([&](core::Context& context) {
    if (!out || !resource || resource->flags != 0 || resource->resType != CU_RESOURCE_TYPE_ARRAY)
      return Error::InvalidValue;
    core::ArrayRef array;
    auto* const handle = reinterpret_cast<core::Array*>(resource->res.array.hArray);
    if (core::findArray(handle, array) != Error::Success) return Error::InvalidValue;
    uint64_t made = 0;
    const Error error = core::createSurface(context, array, made);
    if (error == Error::Success) *out = made;
    return error;
  });
}

CUDA_API(CUresult, cuSurfObjectDestroy)(CUsurfObject handle) {
  return withContext([&](core::Context& context) { return core::destroySurface(context, handle); });
}

CUDA_API(CUresult, cuSurfObjectGetResourceDesc)(CUDA_RESOURCE_DESC* out, CUsurfObject handle) {
  return withContext([&](core::Context& context) {
    std::shared_ptr<const core::SurfaceObject> surface;
    if (!out) return Error::InvalidValue;
    TRY(core::findSurface(context, handle, surface));
    *out = {};
    out->resType = CU_RESOURCE_TYPE_ARRAY;
    out->res.array.hArray = reinterpret_cast<CUarray>(surface->array().get());
    return Error::Success;
  });
}
