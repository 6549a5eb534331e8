// Memory pools; allocating from them stands in streamed/memory.cpp. Structures and handles are the driver API's.
#include "runtime/api/common/graph_memory.h"
#include "runtime/api/common/memory_pools.h"
#include "runtime/api/runtime/runtime.h"

using namespace mulciber::api;
namespace core = mulciber::core;

static_assert(sizeof(cudaMemPoolProps) == sizeof(CUmemPoolProps));
static_assert(sizeof(cudaMemAccessDesc) == sizeof(CUmemAccessDesc));

namespace {

Error give(cudaMemPool_t* out, const core::MemoryPoolRef& pool) {
  *out = handleOf(pool);
  return Error::Success;
}

Error choose(core::Device& device, cudaMemPool_t pool, core::MemoryKind kind) {
  return device.setCurrentPool(reinterpret_cast<core::MemoryPool*>(pool), kind);
}

const CUmemLocation* driverLocation(const cudaMemLocation* location) {
  return reinterpret_cast<const CUmemLocation*>(location);
}

// Body gets whose pools are meant.
template <class Body>
cudaError_t withPoolsOf(const cudaMemLocation* location, cudaMemAllocationType type, Body&& body,
                        const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withPlatform([&] {
    PoolPlace place{};
    const Error error = readPlace(driverLocation(location), static_cast<CUmemAllocationType>(type), place);
    return error == Error::Success ? body(place) : error;
  });
}

// Unlike elsewhere, a device there is not is just a wrong value.
template <class Body>
cudaError_t withPoolDevice(int ordinal, Body&& body, const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withPlatform([&]() -> cudaError_t {
    core::Device* device = core::Platform::get().device(ordinal);
    return device ? codeOf(body(*device)) : cudaErrorInvalidValue;
  });
}

}  // namespace

CUDA_API(cudaError_t, cudaDeviceGetDefaultMemPool)(cudaMemPool_t* out, int ordinal) {
  return withDevice(ordinal, [&](core::Device& device) {
    return out ? give(out, device.defaultPool(core::MemoryKind::Device)) : Error::InvalidValue;
  });
}

CUDA_API(cudaError_t, cudaDeviceGetMemPool)(cudaMemPool_t* out, int ordinal) {
  return withPoolDevice(ordinal, [&](core::Device& device) {
    return out ? give(out, device.currentPool(core::MemoryKind::Device)) : Error::InvalidValue;
  });
}

CUDA_API(cudaError_t, cudaDeviceSetMemPool)(int ordinal, cudaMemPool_t pool) {
  return withPoolDevice(ordinal, [&](core::Device& device) { return choose(device, pool, core::MemoryKind::Device); });
}

CUDA_API(cudaError_t, cudaDeviceGraphMemTrim)(int ordinal) { return withDevice(ordinal, trimGraphMemory); }

CUDA_API(cudaError_t, cudaDeviceGetGraphMemAttribute)(int ordinal, cudaGraphMemAttributeType attribute, void* value) {
  return withDevice(ordinal, [&](core::Device& device) {
    return graphMemoryAttribute(device, static_cast<CUgraphMem_attribute>(attribute), static_cast<uint64_t*>(value));
  });
}

CUDA_API(cudaError_t, cudaDeviceSetGraphMemAttribute)(int ordinal, cudaGraphMemAttributeType attribute, void* value) {
  return withDevice(ordinal, [&](core::Device& device) {
    return setGraphMemoryAttribute(device, static_cast<CUgraphMem_attribute>(attribute),
                                   static_cast<const uint64_t*>(value));
  });
}

CUDA_API(cudaError_t, cudaMemGetDefaultMemPool)
(cudaMemPool_t* out, cudaMemLocation* location, cudaMemAllocationType type) {
  return withPoolsOf(location, type, [&](PoolPlace of) {
    return out ? give(out, of.device->defaultPool(of.kind)) : Error::InvalidValue;
  });
}

CUDA_API(cudaError_t, cudaMemGetMemPool)(cudaMemPool_t* out, cudaMemLocation* location, cudaMemAllocationType type) {
  return withPoolsOf(location, type, [&](PoolPlace of) {
    return out ? give(out, of.device->currentPool(of.kind)) : Error::InvalidValue;
  });
}

CUDA_API(cudaError_t, cudaMemSetMemPool)(cudaMemLocation* location, cudaMemAllocationType type, cudaMemPool_t pool) {
  return withPoolsOf(location, type, [&](PoolPlace of) { return choose(*of.device, pool, of.kind); });
}

CUDA_API(cudaError_t, cudaMemPoolCreate)(cudaMemPool_t* out, const cudaMemPoolProps* properties) {
  return withPlatform([&] { return createPool(out, reinterpret_cast<const CUmemPoolProps*>(properties)); });
}

CUDA_API(cudaError_t, cudaMemPoolDestroy)(cudaMemPool_t pool) {
  return withPlatform([&] { return destroyPool(pool); });
}

CUDA_API(cudaError_t, cudaMemPoolTrimTo)(cudaMemPool_t handle, size_t keep) {
  return withPlatform([&] { return trimPool(handle, keep); });
}

CUDA_API(cudaError_t, cudaMemPoolGetAttribute)(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return withPlatform([&] { return poolAttribute(pool, static_cast<CUmemPool_attribute>(attribute), value); });
}

CUDA_API(cudaError_t, cudaMemPoolSetAttribute)(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return withPlatform([&] { return setPoolAttribute(pool, static_cast<CUmemPool_attribute>(attribute), value); });
}

CUDA_API(cudaError_t, cudaMemPoolGetAccess)(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location) {
  return withPlatform(
      [&] { return poolAccess(reinterpret_cast<CUmemAccess_flags*>(flags), pool, driverLocation(location)); });
}

CUDA_API(cudaError_t, cudaMemPoolSetAccess)(cudaMemPool_t pool, const cudaMemAccessDesc* access, size_t count) {
  return withPlatform([&] {
    if (!access && count == 0) return Error::Success;
    return setPoolAccess(pool, reinterpret_cast<const CUmemAccessDesc*>(access), count);
  });
}

CUDA_API(cudaError_t, cudaMemPoolExportToShareableHandle)
(void* out, cudaMemPool_t pool, cudaMemAllocationHandleType type, unsigned int flags) {
  return withPlatform([&] { return exportPool(out, pool, static_cast<CUmemAllocationHandleType>(type), flags); });
}

CUDA_API(cudaError_t, cudaMemPoolImportFromShareableHandle)
(cudaMemPool_t* out, void* descriptor, cudaMemAllocationHandleType type, unsigned int flags) {
  return withPlatform([&] { return importPool(out, descriptor, static_cast<CUmemAllocationHandleType>(type), flags); });
}

CUDA_API(cudaError_t, cudaMemPoolExportPointer)(cudaMemPoolPtrExportData* out, void* pointer) {
  return withPlatform([&] {
    return exportPoolPointer(reinterpret_cast<CUmemPoolPtrExportData*>(out), reinterpret_cast<CUdeviceptr>(pointer));
  });
}

CUDA_API(cudaError_t, cudaMemPoolImportPointer)(void** out, cudaMemPool_t pool, cudaMemPoolPtrExportData* data) {
  return withContext([&](core::Context& context) {
    return importPoolPointer(context, reinterpret_cast<CUdeviceptr*>(out), pool,
                             reinterpret_cast<const CUmemPoolPtrExportData*>(data));
  });
}
