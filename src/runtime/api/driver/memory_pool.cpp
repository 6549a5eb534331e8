// Memory pools; allocating from them stands in streamed/memory.cpp.
#include "runtime/api/common/graph_memory.h"
#include "runtime/api/common/memory_pools.h"
#include "runtime/api/driver/driver.h"

using namespace mulciber::api;
namespace core = mulciber::core;

namespace {

Error give(CUmemoryPool* out, const core::MemoryPoolRef& pool) {
  *out = handleOf(pool);
  return Error::Success;
}

Error choose(core::Device& device, CUmemoryPool pool, core::MemoryKind kind) {
  return device.setCurrentPool(reinterpret_cast<core::MemoryPool*>(pool), kind);
}

// Body gets whose pools are meant.
template <class Body>
CUresult withPoolsOf(const CUmemLocation* location, CUmemAllocationType type, Body&& body,
                     const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withDriver([&] {
    PoolPlace place{};
    const Error error = readPlace(location, type, place);
    return error == Error::Success ? body(place) : error;
  });
}

// Unlike elsewhere, a device there is not is just a wrong value.
template <class Body>
CUresult withPoolDevice(CUdevice ordinal, Body&& body, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  const CUresult error = withDevice(ordinal, body);
  return error == CUDA_ERROR_INVALID_DEVICE ? CUDA_ERROR_INVALID_VALUE : error;
}

}  // namespace

CUDA_API(CUresult, cuDeviceGetDefaultMemPool)(CUmemoryPool* out, CUdevice ordinal) {
  return withDevice(ordinal, [&](core::Device& device) {
    return out ? give(out, device.defaultPool(core::MemoryKind::Device)) : Error::InvalidValue;
  });
}

CUDA_API(CUresult, cuDeviceGetMemPool)(CUmemoryPool* out, CUdevice ordinal) {
  return withPoolDevice(ordinal, [&](core::Device& device) {
    return out ? give(out, device.currentPool(core::MemoryKind::Device)) : Error::InvalidValue;
  });
}

CUDA_API(CUresult, cuDeviceSetMemPool)(CUdevice ordinal, CUmemoryPool pool) {
  return withPoolDevice(ordinal, [&](core::Device& device) { return choose(device, pool, core::MemoryKind::Device); });
}

CUDA_API(CUresult, cuDeviceGraphMemTrim)(CUdevice ordinal) { return withDevice(ordinal, trimGraphMemory); }

CUDA_API(CUresult, cuDeviceGetGraphMemAttribute)(CUdevice ordinal, CUgraphMem_attribute attribute, void* value) {
  return withDevice(ordinal, [&](core::Device& device) {
    return graphMemoryAttribute(device, attribute, static_cast<uint64_t*>(value));
  });
}

CUDA_API(CUresult, cuDeviceSetGraphMemAttribute)(CUdevice ordinal, CUgraphMem_attribute attribute, void* value) {
  return withDevice(ordinal, [&](core::Device& device) {
    return setGraphMemoryAttribute(device, attribute, static_cast<const uint64_t*>(value));
  });
}

CUDA_API(CUresult, cuMemGetDefaultMemPool)(CUmemoryPool* out, CUmemLocation* location, CUmemAllocationType type) {
  return withPoolsOf(location, type, [&](PoolPlace of) {
    return out ? give(out, of.device->defaultPool(of.kind)) : Error::InvalidValue;
  });
}

CUDA_API(CUresult, cuMemGetMemPool)(CUmemoryPool* out, CUmemLocation* location, CUmemAllocationType type) {
  return withPoolsOf(location, type, [&](PoolPlace of) {
    return out ? give(out, of.device->currentPool(of.kind)) : Error::InvalidValue;
  });
}

CUDA_API(CUresult, cuMemSetMemPool)(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  return withPoolsOf(location, type, [&](PoolPlace of) { return choose(*of.device, pool, of.kind); });
}

CUDA_API(CUresult, cuMemPoolCreate)(CUmemoryPool* out, const CUmemPoolProps* properties) {
  return withDriver([&] { return createPool(out, properties); });
}

CUDA_API(CUresult, cuMemPoolDestroy)(CUmemoryPool pool) {
  return withDriver([&] { return destroyPool(pool); });
}

CUDA_API(CUresult, cuMemPoolTrimTo)(CUmemoryPool handle, size_t keep) {
  return withDriver([&] { return trimPool(handle, keep); });
}

CUDA_API(CUresult, cuMemPoolGetAttribute)(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return withDriver([&] { return poolAttribute(pool, attribute, value); });
}

CUDA_API(CUresult, cuMemPoolSetAttribute)(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return withDriver([&] { return setPoolAttribute(pool, attribute, value); });
}

CUDA_API(CUresult, cuMemPoolGetAccess)(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location) {
  return withDriver([&] { return poolAccess(flags, pool, location); });
}

CUDA_API(CUresult, cuMemPoolSetAccess)(CUmemoryPool pool, const CUmemAccessDesc* access, size_t count) {
  return withDriver([&] { return setPoolAccess(pool, access, count); });
}

CUDA_API(CUresult, cuMemPoolExportToShareableHandle)
(void* out, CUmemoryPool pool, CUmemAllocationHandleType type, unsigned long long flags) {
  return withDriver([&] { return exportPool(out, pool, type, flags); });
}

CUDA_API(CUresult, cuMemPoolImportFromShareableHandle)
(CUmemoryPool* out, void* descriptor, CUmemAllocationHandleType type, unsigned long long flags) {
  return withDriver([&] { return importPool(out, descriptor, type, flags); });
}

CUDA_API(CUresult, cuMemPoolExportPointer)(CUmemPoolPtrExportData* out, CUdeviceptr address) {
  return withDriver([&] { return exportPoolPointer(out, address); });
}

CUDA_API(CUresult, cuMemPoolImportPointer)(CUdeviceptr* out, CUmemoryPool pool, CUmemPoolPtrExportData* data) {
  return withContext([&](core::Context& context) { return importPoolPointer(context, out, pool, data); });
}
