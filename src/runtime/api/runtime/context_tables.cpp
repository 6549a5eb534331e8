// CUDA hands out tables of functions that are in no header, by UUID. cuBLAS asks two of them for the thread's context,
// its number, and the number of a stream: what cuCtxGetCurrent, cuCtxGetId and cuStreamGetId tell as well. Those
// functions are here, and no others. The driver library has no table.
#include <spdlog/fmt/fmt.h>

#include <array>
#include <utility>

#include "runtime/api/common/give.h"
#include "runtime/api/runtime/runtime.h"
#include "runtime/core/platform.h"

namespace mulciber::api {
namespace {

CUresult currentContext(CUcontext* out) { return static_cast<CUresult>(give(out, core::currentContext().get())); }

template <class Body>
CUresult inContext(CUcontext handle, Body&& body) {
  for (const core::ContextRef& context : core::Platform::get().contexts())
    if (reinterpret_cast<CUcontext>(context.get()) == handle) return static_cast<CUresult>(body(*context));
  return CUDA_ERROR_INVALID_CONTEXT;
}

CUresult contextId(CUcontext handle, unsigned long long* out) {
  return inContext(handle, [&](core::Context& context) { return give(out, context.id()); });
}

// What streamId() takes: NVIDIA's driver has objects of its own for streams. Here it is the handle, but for 0.
CUresult streamOf(CUcontext handle, CUstream stream, CUstream* out, int perThread) {
  return inContext(handle, [&](core::Context& context) {
    const uintptr_t defaultStream = perThread ? core::perThreadStreamHandle : core::legacyStreamHandle;
    const uintptr_t number = stream ? reinterpret_cast<uintptr_t>(stream) : defaultStream;
    core::StreamRef found;
    TRY(context.stream(number, false, found));
    return give(out, number);
  });
}

CUresult streamId(CUcontext handle, CUstream stream, unsigned long long* out) {
  return inContext(handle, [&](core::Context& context) {
    core::StreamRef found;
    TRY(context.stream(reinterpret_cast<uintptr_t>(stream), false, found));
    return give(out, found->id());
  });
}

constexpr char threadTable[] = "42d85a81-23f6-cb47-8298-f6e78a3aecdc";
constexpr char contextTable[] = "21318c60-9714-3248-8ca6-41ff7324c8f2";

template <const char* table, size_t place>
CUresult missing() {
  static const std::string name = fmt::format("function {} of the table of undocumented functions {}", place, table);
  reportUnsupported(name.c_str());
  return CUDA_ERROR_NOT_SUPPORTED;
}

// A table begins with its size in bytes.
template <const char* table, size_t... places>
std::array<const void*, sizeof...(places)> emptyTable(std::index_sequence<places...>) {
  std::array<const void*, sizeof...(places)> functions{reinterpret_cast<const void*>(missing<table, places>)...};
  functions[0] = reinterpret_cast<const void*>(sizeof(functions));
  return functions;
}

const void* findTable(const cudaUUID_t& id) {
  static const auto ofThread = [] {
    auto table = emptyTable<threadTable>(std::make_index_sequence<3>());
    table[2] = reinterpret_cast<const void*>(currentContext);
    return table;
  }();
  static const auto ofContext = [] {
    auto table = emptyTable<contextTable>(std::make_index_sequence<52>());
    table[4] = reinterpret_cast<const void*>(contextId);
    table[39] = reinterpret_cast<const void*>(streamId);
    table[51] = reinterpret_cast<const void*>(streamOf);
    return table;
  }();
  const std::string name = nameOfTable(&id);
  if (name == threadTable) return ofThread.data();
  if (name == contextTable) return ofContext.data();
  return nullptr;
}

}  // namespace
}  // namespace mulciber::api

using namespace mulciber::api;

CUDA_API(cudaError_t, cudaGetExportTable)(const void** table, const cudaUUID_t* id) {
  if (!table || !id) return record(cudaErrorInvalidValue);
  *table = findTable(*id);
  if (*table) return cudaSuccess;
  reportExportTable(id);
  return record(cudaErrorInvalidValue);
}
