// CUDA arrays: making them and asking about them.
#include "runtime/core/array.h"

#include "runtime/api/driver/copy_box.h"
#include "runtime/api/driver/driver.h"
#include "runtime/core/device.h"

using namespace mulciber::api;
namespace core = mulciber::core;

namespace {

core::MipmappedArray* mipmappedOf(CUmipmappedArray handle) { return reinterpret_cast<core::MipmappedArray*>(handle); }

// An array is known in whatever context is current, and without one.
template <class Body>
CUresult withArray(CUarray handle, Body&& body, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withDriver([&] {
    core::ArrayRef array;
    TRY(core::findArray(arrayOf(handle), array));
    return body(*array);
  });
}

template <class Body>
CUresult withMipmappedArray(CUmipmappedArray handle, Body&& body, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withDriver([&] {
    core::MipmappedArrayRef array;
    TRY(core::findMipmappedArray(mipmappedOf(handle), array));
    return body(*array);
  });
}

core::ArrayDescription described(const CUDA_ARRAY3D_DESCRIPTOR& given) {
  return {given.Width, given.Height, given.Depth, core::findArrayFormat(given.Format, given.NumChannels), given.Flags};
}

CUresult create(CUarray* out, const CUDA_ARRAY3D_DESCRIPTOR& given, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withContext([&](core::Context& context) {
    core::Array* array = nullptr;
    const Error error = core::createArray(context, described(given), array);
    if (error == Error::Success) *out = reinterpret_cast<CUarray>(array);
    return error;
  });
}

// No array has planes, is sparse, or gets its memory later: what asks about these is wrong of any array.
CUresult refuse(CUarray handle, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return handle ? withArray(handle, [](const core::Array&) { return Error::InvalidValue; })
                : withDriver([] { return Error::InvalidValue; });
}
CUresult refuse(CUmipmappedArray handle, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return handle ? withMipmappedArray(handle, [](const core::MipmappedArray&) { return Error::InvalidValue; })
                : withDriver([] { return Error::InvalidValue; });
}

}  // namespace

CUDA_API(CUresult, cuArrayCreate_v2)(CUarray* out, const CUDA_ARRAY_DESCRIPTOR* given) {
  if (!out || !given) return withContext([](core::Context&) { return Error::InvalidValue; });
  return create(out, {given->Width, given->Height, 0, given->Format, given->NumChannels, 0});
}

CUDA_API(CUresult, cuArray3DCreate_v2)(CUarray* out, const CUDA_ARRAY3D_DESCRIPTOR* given) {
  if (!out || !given) return withContext([](core::Context&) { return Error::InvalidValue; });
  return create(out, *given);
}

CUDA_API(CUresult, cuArrayGetDescriptor_v2)(CUDA_ARRAY_DESCRIPTOR* out, CUarray handle) {
  return withArray(handle, [&](const core::Array& array) {
    if (!out) return Error::InvalidValue;
    const core::ArrayDescription& description = array.description();
    *out = {description.width, description.height, static_cast<CUarray_format>(description.format->code),
            description.format->channels};
    return Error::Success;
  });
}

CUDA_API(CUresult, cuArray3DGetDescriptor_v2)(CUDA_ARRAY3D_DESCRIPTOR* out, CUarray handle) {
  return withArray(handle, [&](const core::Array& array) {
    if (!out) return Error::InvalidValue;
    const core::ArrayDescription& description = array.description();
    *out = {description.width,
            description.height,
            description.depth,
            static_cast<CUarray_format>(description.format->code),
            description.format->channels,
            description.flags};
    return Error::Success;
  });
}

CUDA_API(CUresult, cuArrayDestroy)(CUarray handle) {
  return withDriver([&] { return core::destroyArray(arrayOf(handle)); });
}

CUDA_API(CUresult, cuArrayGetPlane)(CUarray*, CUarray handle, unsigned int) {
  return withArray(handle, [](const core::Array&) { return Error::InvalidValue; });
}
CUDA_API(CUresult, cuArrayGetSparseProperties)(CUDA_ARRAY_SPARSE_PROPERTIES*, CUarray handle) { return refuse(handle); }
CUDA_API(CUresult, cuArrayGetMemoryRequirements)(CUDA_ARRAY_MEMORY_REQUIREMENTS*, CUarray handle, CUdevice) {
  return refuse(handle);
}
CUDA_API(CUresult, cuMipmappedArrayGetSparseProperties)(CUDA_ARRAY_SPARSE_PROPERTIES*, CUmipmappedArray handle) {
  return refuse(handle);
}
CUDA_API(CUresult, cuMipmappedArrayGetMemoryRequirements)
(CUDA_ARRAY_MEMORY_REQUIREMENTS*, CUmipmappedArray handle, CUdevice) { return refuse(handle); }

CUDA_API(CUresult, cuMipmappedArrayCreate)
(CUmipmappedArray* out, const CUDA_ARRAY3D_DESCRIPTOR* given, unsigned int levels) {
  return withContext([&](core::Context& context) {
    if (!out || !given) return Error::InvalidValue;
    core::MipmappedArray* array = nullptr;
    const Error error = core::createMipmappedArray(context, described(*given), levels, array);
    if (error == Error::Success) *out = reinterpret_cast<CUmipmappedArray>(array);
    return error;
  });
}

CUDA_API(CUresult, cuMipmappedArrayGetLevel)(CUarray* out, CUmipmappedArray handle, unsigned int level) {
  return withMipmappedArray(handle, [&](core::MipmappedArray& array) {
    if (!out) return Error::InvalidValue;
    core::Array* made = nullptr;
    const Error error = array.level(level, made);
    if (error == Error::Success) *out = reinterpret_cast<CUarray>(made);
    return error;
  });
}

CUDA_API(CUresult, cuMipmappedArrayDestroy)(CUmipmappedArray handle) {
  return withDriver([&] { return core::destroyMipmappedArray(mipmappedOf(handle)); });
}
