// Initialisation, versions, error texts, entry points by name.
#include <algorithm>
#include <cstring>

#include "runtime/api/driver/driver.h"
#include "runtime/api/driver/procedures.h"
#include "util/environment.h"

namespace mulciber::api {

Error copyText(const std::string& text, char* buffer, int bytes) {
  if (!buffer || bytes <= 0) return Error::InvalidValue;
  const size_t length = std::min(text.size(), static_cast<size_t>(bytes) - 1);
  std::memcpy(buffer, text.data(), length);
  buffer[length] = '\0';
  return Error::Success;
}

int refuse(const char* name) {
  reportUnsupported(name);
  return CUDA_ERROR_NOT_SUPPORTED;
}

namespace {

// The newest version of a function that a program built for `cudaVersion` knows. What exists for each thread is given
// to programs that ask for it so, and nothing else of that name.
Error findProcedure(const char* name, void** out, int cudaVersion, bool perThread,
                    CUdriverProcAddressQueryResult* status) {
  const Procedure* found[2] = {};
  bool isKnown[2] = {};
  for (unsigned i = 0; i < procedureCount; ++i) {
    const Procedure& procedure = procedures[i];
    if (std::strcmp(procedure.name, name) != 0) continue;
    isKnown[procedure.isPerThread] = true;
    if (procedure.since > static_cast<unsigned>(cudaVersion)) continue;
    const Procedure*& best = found[procedure.isPerThread];
    if (!best || procedure.since >= best->since) best = &procedure;
  }
  const bool which = perThread && isKnown[true];
  if (found[which] || status) *out = found[which] ? reinterpret_cast<void*>(found[which]->entry) : nullptr;
  if (status) {
    *status = found[which]     ? CU_GET_PROC_ADDRESS_SUCCESS
              : isKnown[which] ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                               : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return found[which] || status ? Error::Success : Error::NotFound;
}

}  // namespace
}  // namespace mulciber::api

using namespace mulciber::api;
namespace core = mulciber::core;

CUDA_API(CUresult, cuInit)(unsigned int flags) {
  if (flags == 0 && core::Platform::get().isInitialized()) return CUDA_SUCCESS;
  return guarded([&] { return flags != 0 ? Error::InvalidValue : core::Platform::get().initialize(); });
}

CUDA_API(CUresult, cuDriverGetVersion)(int* version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = static_cast<int>(mulciber::util::environment().driverVersion);
  return CUDA_SUCCESS;
}

CUDA_API(CUresult, cuGetErrorName)(CUresult error, const char** text) {
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  *text = core::errorName(static_cast<Error>(error));
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUDA_API(CUresult, cuGetErrorString)(CUresult error, const char** text) {
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  *text = core::errorDescription(static_cast<Error>(error));
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUDA_API(CUresult, cuGetProcAddress_v2)
(const char* name, void** out, int cudaVersion, cuuint64_t flags, CUdriverProcAddressQueryResult* status) {
  constexpr cuuint64_t known = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (!name || !out || (flags & ~known)) return CUDA_ERROR_INVALID_VALUE;
  return result(findProcedure(name, out, cudaVersion, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, status));
}

// Tables of undocumented functions, by UUID: there are none here.
CUDA_API(CUresult, cuGetExportTable)(const void** table, const CUuuid* id) {
  if (table && id) {
    *table = nullptr;
    reportExportTable(id);
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUDA_API(CUresult, cuProfilerStart)() {
  return withContext([](core::Context&) { return Error::Success; });
}
CUDA_API(CUresult, cuProfilerStop)() {
  return withContext([](core::Context&) { return Error::Success; });
}
