// Memory pools as both APIs show them: their handles and structures are the same.
#pragma once

#include <cuda.h>

#include "runtime/core/error.h"
#include "runtime/core/memory_pool.h"

namespace mulciber::api {

core::MemoryPoolRef poolOf(CUmemoryPool handle);  // null for what is no pool
inline CUmemoryPool handleOf(const core::MemoryPoolRef& pool) { return reinterpret_cast<CUmemoryPool>(pool.get()); }

core::Error createPool(CUmemoryPool* out, const CUmemPoolProps* properties);
// Between processes (core/shared_pool.cpp).
core::Error exportPool(void* out, CUmemoryPool handle, CUmemAllocationHandleType type, unsigned long long flags);
core::Error importPool(CUmemoryPool* out, void* descriptor, CUmemAllocationHandleType type, unsigned long long flags);
core::Error exportPoolPointer(CUmemPoolPtrExportData* out, CUdeviceptr address);
core::Error importPoolPointer(core::Context& context, CUdeviceptr* out, CUmemoryPool handle,
                              const CUmemPoolPtrExportData* data);

core::Error destroyPool(CUmemoryPool handle);
core::Error trimPool(CUmemoryPool handle, size_t keepBytes);
core::Error poolAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value);
core::Error setPoolAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, const void* value);
core::Error poolAccess(CUmemAccess_flags* flags, CUmemoryPool handle, const CUmemLocation* location);
core::Error setPoolAccess(CUmemoryPool handle, const CUmemAccessDesc* access, size_t count);

// Whose pools are meant, and of which memory. Pools of host and of managed memory are those of the current context's
// device, or of the first: where managed memory prefers to be makes no difference.
struct PoolPlace {
  core::Device* device;
  core::MemoryKind kind;
};
core::Error readPlace(const CUmemLocation* location, CUmemAllocationType type, PoolPlace& out);

}  // namespace mulciber::api
