// Memory and semaphores of other interfaces.
#include "runtime/core/external.h"

#include "runtime/api/common/external.h"
#include "runtime/api/runtime/channels.h"
#include "runtime/api/runtime/runtime.h"
#include "runtime/core/array.h"

using namespace mulciber::api;
namespace core = mulciber::core;

namespace {

core::ExternalMemory* memoryOf(cudaExternalMemory_t handle) { return reinterpret_cast<core::ExternalMemory*>(handle); }

template <class Body>
cudaError_t withMemory(cudaExternalMemory_t handle, Body&& body, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withContext([&](core::Context&) {
    core::ExternalMemoryRef memory;
    TRY(core::findExternalMemory(memoryOf(handle), memory));
    return body(*memory);
  });
}

}  // namespace

CUDA_API(cudaError_t, cudaImportExternalMemory)
(cudaExternalMemory_t* out, const cudaExternalMemoryHandleDesc* given) {
  return withContext([&](core::Context& context) { return importMemory(context, out, given); });
}

CUDA_API(cudaError_t, cudaExternalMemoryGetMappedBuffer)
(void** out, cudaExternalMemory_t handle, const cudaExternalMemoryBufferDesc* wanted) {
  return withMemory(handle, [&](const core::ExternalMemory& memory) { return mapBuffer(memory, out, wanted); });
}

CUDA_API(cudaError_t, cudaExternalMemoryGetMappedMipmappedArray)
(cudaMipmappedArray_t* out, cudaExternalMemory_t handle, const cudaExternalMemoryMipmappedArrayDesc* wanted) {
  return withMemory(handle, [&](const core::ExternalMemory& memory) {
    if (!out || !wanted) return Error::InvalidValue;
    const cudaExtent& extent = wanted->extent;
    return giveMade<core::MipmappedArray*>(out, [&](core::MipmappedArray*& made) {
      return memory.mapArray(wanted->offset,
                             {extent.width, extent.height, extent.depth, formatOf(wanted->formatDesc), wanted->flags},
                             wanted->numLevels, made);
    });
  });
}

CUDA_API(cudaError_t, cudaDestroyExternalMemory)(cudaExternalMemory_t handle) {
  return withContext([&](core::Context&) { return core::destroyExternalMemory(memoryOf(handle)); });
}

CUDA_API(cudaError_t, cudaImportExternalSemaphore)
(cudaExternalSemaphore_t* out, const cudaExternalSemaphoreHandleDesc* given) {
  return withContext([&](core::Context& context) { return importSemaphore(context, out, given); });
}

CUDA_API(cudaError_t, cudaDestroyExternalSemaphore)(cudaExternalSemaphore_t handle) {
  return withContext([&](core::Context&) {
    return core::destroyExternalSemaphore(reinterpret_cast<core::ExternalSemaphore*>(handle));
  });
}
