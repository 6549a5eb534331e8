// Memory and semaphores of other interfaces.
#include "runtime/core/external.h"

#include "runtime/api/common/external.h"
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
    TRY(core::findExternalMemory(memoryOf(handle), memory));
    return body(*memory);
  });
}

}  // namespace

CUDA_API(CUresult, cuImportExternalMemory)(CUexternalMemory* out, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC* given) {
  return withContext([&](core::Context& context) { return importMemory(context, out, given); });
}

CUDA_API(CUresult, cuExternalMemoryGetMappedBuffer)
(CUdeviceptr* out, CUexternalMemory handle, const CUDA_EXTERNAL_MEMORY_BUFFER_DESC* wanted) {
  return withMemory(handle, [&](const core::ExternalMemory& memory) { return mapBuffer(memory, out, wanted); });
}

CUDA_API(CUresult, cuExternalMemoryGetMappedMipmappedArray)
(CUmipmappedArray* out, CUexternalMemory handle, const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC* wanted) {
  return withMemory(handle, [&](const core::ExternalMemory& memory) {
    if (!out || !wanted) return Error::InvalidValue;
    const CUDA_ARRAY3D_DESCRIPTOR& array = wanted->arrayDesc;
    return giveMade<core::MipmappedArray*>(out, [&](core::MipmappedArray*& made) {
      return memory.mapArray(
          wanted->offset,
          {array.Width, array.Height, array.Depth, core::findArrayFormat(array.Format, array.NumChannels), array.Flags},
          wanted->numLevels, made);
    });
  });
}

CUDA_API(CUresult, cuDestroyExternalMemory)(CUexternalMemory handle) {
  return withDriver([&] { return core::destroyExternalMemory(memoryOf(handle)); });
}

CUDA_API(CUresult, cuImportExternalSemaphore)
(CUexternalSemaphore* out, const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC* given) {
  return withContext([&](core::Context& context) { return importSemaphore(context, out, given); });
}

CUDA_API(CUresult, cuDestroyExternalSemaphore)(CUexternalSemaphore handle) {
  return withDriver([&] { return core::destroyExternalSemaphore(reinterpret_cast<core::ExternalSemaphore*>(handle)); });
}
