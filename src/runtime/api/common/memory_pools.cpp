#include "runtime/api/common/memory_pools.h"

#include <cstring>

#include "runtime/core/capture.h"
#include "runtime/core/context.h"
#include "runtime/core/platform.h"

namespace mulciber::api {

using core::Error;

core::MemoryPoolRef poolOf(CUmemoryPool handle) {
  const auto* const wanted = reinterpret_cast<const core::MemoryPool*>(handle);
  for (const auto& device : core::Platform::get().devices())
    if (core::MemoryPoolRef pool = device->pool(wanted)) return pool;
  return nullptr;
}

namespace {

bool isFlag(CUmemPool_attribute attribute) { return attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES; }

// Body gets the pool.
template <class Body>
Error withPool(CUmemoryPool handle, Body&& body) {
  const core::MemoryPoolRef pool = poolOf(handle);
  return pool ? body(*pool) : Error::InvalidValue;
}

}  // namespace

Error poolsDevice(const CUmemLocation* location, CUmemAllocationType type, core::Device*& out) {
  if (!location) return Error::InvalidValue;
  if (type != CU_MEM_ALLOCATION_TYPE_PINNED && type != CU_MEM_ALLOCATION_TYPE_MANAGED) return Error::InvalidValue;
  if (type == CU_MEM_ALLOCATION_TYPE_MANAGED) return Error::NotSupported;
  switch (location->type) {
    case CU_MEM_LOCATION_TYPE_DEVICE: break;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT: return Error::NotSupported;
    case CU_MEM_LOCATION_TYPE_INVALID: return Error::InvalidValue;
    default: return Error::NotSupported;
  }
  out = core::Platform::get().device(location->id);
  return out ? Error::Success : Error::InvalidValue;
}

Error createPool(CUmemoryPool* out, const CUmemPoolProps* properties) {
  if (!out || !properties) return Error::InvalidValue;
  core::Device* device = nullptr;
  TRY(poolsDevice(&properties->location, properties->allocType, device));
  const bool isShared = properties->handleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  if (properties->handleTypes > CU_MEM_HANDLE_TYPE_FABRIC) return Error::InvalidValue;
  if (properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE && !isShared) return Error::NotSupported;
  if (isShared && !core::MemoryPool::canBeShared(*device)) return Error::NotSupported;
  TRY(core::unsafeDuringCapture());
  *out = handleOf(device->addPool(std::make_shared<core::MemoryPool>(
      *device, properties->maxSize, isShared ? core::PoolSharing::Exported : core::PoolSharing::None)));
  return Error::Success;
}

namespace {

Error checkSharing(unsigned long long flags, CUmemAllocationHandleType type) {
  if (flags != 0 || type == CU_MEM_HANDLE_TYPE_NONE || type > CU_MEM_HANDLE_TYPE_FABRIC) return Error::InvalidValue;
  return type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ? Error::Success : Error::NotSupported;
}

}  // namespace

Error exportPool(void* out, CUmemoryPool handle, CUmemAllocationHandleType type, unsigned long long flags) {
  if (!out) return Error::InvalidValue;
  TRY(checkSharing(flags, type));
  return withPool(handle, [&](core::MemoryPool& pool) {
    int descriptor = -1;
    TRY(pool.exportDescriptor(descriptor));
    *static_cast<int*>(out) = descriptor;
    return Error::Success;
  });
}

// CUDA passes the descriptor as a pointer.
Error importPool(CUmemoryPool* out, void* descriptor, CUmemAllocationHandleType type, unsigned long long flags) {
  if (!out) return Error::InvalidValue;
  TRY(checkSharing(flags, type));
  const core::ContextRef context = core::currentContext();
  core::Device& device = context ? context->device() : *core::Platform::get().devices().front();
  if (!core::MemoryPool::canBeShared(device)) return Error::NotSupported;
  core::MemoryPoolRef pool;
  TRY(core::MemoryPool::importDescriptor(device, static_cast<int>(reinterpret_cast<intptr_t>(descriptor)), pool));
  *out = handleOf(pool);
  return Error::Success;
}

Error exportPoolPointer(CUmemPoolPtrExportData* out, CUdeviceptr address) {
  if (!out) return Error::InvalidValue;
  core::SharedPointer pointer{};
  static_assert(sizeof(pointer) <= sizeof(*out));
  TRY(core::MemoryPool::exportPointer(address, pointer));
  *out = {};
  std::memcpy(out, &pointer, sizeof(pointer));
  return Error::Success;
}

Error importPoolPointer(core::Context& context, CUdeviceptr* out, CUmemoryPool handle,
                        const CUmemPoolPtrExportData* data) {
  if (!out || !data) return Error::InvalidValue;
  core::SharedPointer pointer{};
  std::memcpy(&pointer, data, sizeof(pointer));
  return withPool(handle, [&](core::MemoryPool& pool) {
    uint64_t address = 0;
    TRY(pool.importPointer(context, pointer, address));
    *out = address;
    return Error::Success;
  });
}

Error trimPool(CUmemoryPool handle, size_t keepBytes) {
  const core::MemoryPoolRef pool = poolOf(handle);
  if (!pool) return Error::InvalidValue;
  TRY(core::unsafeDuringCapture());
  pool->trim(keepBytes);
  return Error::Success;
}

Error destroyPool(CUmemoryPool handle) {
  TRY(core::unsafeDuringCapture());
  return withPool(handle, [](core::MemoryPool& pool) { return pool.device().destroyPool(&pool); });
}

Error poolAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
  if (!value) return Error::InvalidValue;
  return withPool(handle, [&](core::MemoryPool& pool) {
    uint64_t number = 0;
    TRY(pool.attribute(static_cast<core::PoolAttribute>(attribute), number));
    if (isFlag(attribute)) *static_cast<int*>(value) = static_cast<int>(number);
    else *static_cast<uint64_t*>(value) = number;
    return Error::Success;
  });
}

Error setPoolAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, const void* value) {
  if (!value) return Error::InvalidValue;
  TRY(core::unsafeDuringCapture());
  return withPool(handle, [&](core::MemoryPool& pool) {
    const uint64_t number = isFlag(attribute) ? static_cast<uint64_t>(*static_cast<const int*>(value))
                                              : *static_cast<const uint64_t*>(value);
    return pool.setAttribute(static_cast<core::PoolAttribute>(attribute), number);
  });
}

// Only the device itself reaches its memory.
Error poolAccess(CUmemAccess_flags* flags, CUmemoryPool handle, const CUmemLocation* location) {
  if (!flags || !location) return Error::InvalidValue;
  return withPool(handle, [&](core::MemoryPool& pool) {
    if (location->type == CU_MEM_LOCATION_TYPE_HOST) {
      *flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
      return Error::Success;
    }
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE || !core::Platform::get().device(location->id))
      return Error::InvalidValue;
    const bool isOwn = location->id == pool.device().ordinal();
    *flags = isOwn ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return Error::Success;
  });
}

Error setPoolAccess(CUmemoryPool handle, const CUmemAccessDesc* access, size_t count) {
  if (!access) return Error::InvalidValue;
  return withPool(handle, [&](core::MemoryPool& pool) {
    for (size_t i = 0; i < count; ++i) {
      if (access[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE) return Error::NotSupported;
      if (!core::Platform::get().device(access[i].location.id)) return Error::InvalidDevice;
      const bool isOwn = access[i].location.id == pool.device().ordinal();
      switch (access[i].flags) {
        case CU_MEM_ACCESS_FLAGS_PROT_READWRITE:
          if (!isOwn) return Error::InvalidValue;
          break;
        case CU_MEM_ACCESS_FLAGS_PROT_NONE:
          if (isOwn) return Error::InvalidDevice;  // a device cannot be kept from its own memory
          break;
        case CU_MEM_ACCESS_FLAGS_PROT_READ: return Error::NotSupported;
        default: return Error::InvalidValue;
      }
    }
    return Error::Success;
  });
}

}  // namespace mulciber::api
