// Memory and semaphores of other interfaces.
#include "runtime/core/external.h"

#include "runtime/api/driver/driver.h"
#include "runtime/core/array.h"

using namespace mulciber::api;
namespace core = mulciber::core;

namespace {

core::ExternalMemory* memoryOf(CUexternalMemory handle) { return reinterpret_cast<core::ExternalMemory*>(handle); }

template <class Body>
CUresult withMemory(CUexternalMemory handle, Body&& body, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withDriver([&] {
    core::ExternalMemoryRef memory;
    if (Error error = core::findExternalMemory(memoryOf(handle), memory); error != Error::Success) return error;
    return body(*memory);
  });
}

}  // namespace

CUDA_API(CUresult, cuImportExternalMemory)(CUexternalMemory* out, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC* given) {
  return withContext([&](core::Context& context) {
    if (!out || !given) return Error::InvalidValue;
    core::ExternalMemory* memory = nullptr;
    const Error error = core::importMemory(
        context, {static_cast<core::ExternalMemoryType>(given->type), given->handle.fd, given->size, given->flags},
        memory);
    if (error == Error::Success) *out = reinterpret_cast<CUexternalMemory>(memory);
    return error;
  });
}

CUDA_API(CUresult, cuExternalMemoryGetMappedBuffer)
(CUdeviceptr* out, CUexternalMemory handle, const CUDA_EXTERNAL_MEMORY_BUFFER_DESC* wanted) {
  return withMemory(handle, [&](const core::ExternalMemory& memory) {
    if (!out || !wanted) return Error::InvalidValue;
    uint64_t address = 0;
    const Error error = memory.mapBuffer(wanted->offset, wanted->size, wanted->flags, address);
    if (error == Error::Success) *out = address;
    return error;
  });
}

CUDA_API(CUresult, cuExternalMemoryGetMappedMipmappedArray)
(CUmipmappedArray* out, CUexternalMemory handle, const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC* wanted) {
  return withMemory(handle, [&](const core::ExternalMemory& memory) {
    if (!out || !wanted) return Error::InvalidValue;
    const CUDA_ARRAY3D_DESCRIPTOR& array = wanted->arrayDesc;
    core::MipmappedArray* made = nullptr;
    const Error error = memory.mapArray(
        wanted->offset,
        {array.Width, array.Height, array.Depth, core::findArrayFormat(array.Format, array.NumChannels), array.Flags},
        wanted->numLevels, made);
    if (error == Error::Success) *out = reinterpret_cast<CUmipmappedArray>(made);
    return error;
  });
}

CUDA_API(CUresult, cuDestroyExternalMemory)(CUexternalMemory handle) {
  return withDriver([&] { return core::destroyExternalMemory(memoryOf(handle)); });
}

CUDA_API(CUresult, cuImportExternalSemaphore)
(CUexternalSemaphore* out, const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC* given) {
  return withContext([&](core::Context& context) {
    if (!out || !given) return Error::InvalidValue;
    core::ExternalSemaphore* semaphore = nullptr;
    const Error error = core::importSemaphore(
        context, {static_cast<core::ExternalSemaphoreType>(given->type), given->handle.fd, given->flags}, semaphore);
    if (error == Error::Success) *out = reinterpret_cast<CUexternalSemaphore>(semaphore);
    return error;
  });
}

CUDA_API(CUresult, cuDestroyExternalSemaphore)(CUexternalSemaphore handle) {
  return withDriver([&] { return core::destroyExternalSemaphore(reinterpret_cast<core::ExternalSemaphore*>(handle)); });
}
