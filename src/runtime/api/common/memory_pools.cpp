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

// Of the current context; without one, the first.
core::Device& usualDevice() {
  const core::ContextRef context = core::currentContext();
  return context ? context->device() : *core::Platform::get().devices().front();
}

bool isFlag(CUmemPool_attribute attribute) { return attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES; }

// Body gets the pool.
template <class Body>
Error withPool(CUmemoryPool handle, Body&& body) {
  const core::MemoryPoolRef pool = poolOf(handle);
  return pool ? body(*pool) : Error::InvalidValue;
}

}  // namespace

Error readPlace(const CUmemLocation* location, CUmemAllocationType type, PoolPlace& out) {
  if (!location) return Error::InvalidValue;
  if (type != CU_MEM_ALLOCATION_TYPE_PINNED && type != CU_MEM_ALLOCATION_TYPE_MANAGED) return Error::InvalidValue;
  const bool isManaged = type == CU_MEM_ALLOCATION_TYPE_MANAGED;
  out.kind = isManaged ? core::MemoryKind::Managed : core::MemoryKind::Pinned;
  switch (location->type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      if (!isManaged) out.kind = core::MemoryKind::Device;
      out.device = core::Platform::get().device(location->id);
      break;
    case CU_MEM_LOCATION_TYPE_HOST: out.device = &usualDevice(); break;
    case CU_MEM_LOCATION_TYPE_NONE:
      if (!isManaged) return Error::InvalidValue;
      out.device = &usualDevice();
      break;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      if (!isManaged) return Error::NotSupported;
      out.device = &usualDevice();
      break;
    default: return Error::NotSupported;
  }
  if (!out.device) return Error::InvalidValue;
  if (out.kind == core::MemoryKind::Device) return Error::Success;
  int canReach = 0;
  TRY(out.device->attribute(CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED, canReach));
  return canReach ? Error::Success : Error::NotSupported;
}

Error createPool(CUmemoryPool* out, const CUmemPoolProps* properties) {
  if (!out || !properties || properties->location.type > CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)
    return Error::InvalidValue;
  PoolPlace place{};
  TRY(readPlace(&properties->location, properties->allocType, place));
  const bool isShared = properties->handleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  if (properties->handleTypes > CU_MEM_HANDLE_TYPE_FABRIC) return Error::InvalidValue;
  if (properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE && !isShared) return Error::NotSupported;
  const bool canBeShared = place.kind == core::MemoryKind::Device && core::MemoryPool::canBeShared(*place.device);
  if (isShared && !canBeShared) return Error::NotSupported;
  TRY(core::unsafeDuringCapture());
  *out = handleOf(place.device->addPool(
      std::make_shared<core::MemoryPool>(*place.device, place.kind, properties->maxSize,
                                         isShared ? core::PoolSharing::Exported : core::PoolSharing::None)));
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
  core::Device& device = usualDevice();
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

// Only the device itself reaches its memory. Host and managed memory is the host's too, and cannot be kept from either.
Error poolAccess(CUmemAccess_flags* flags, CUmemoryPool handle, const CUmemLocation* location) {
  if (!flags || !location) return Error::InvalidValue;
  return withPool(handle, [&](core::MemoryPool& pool) {
    if (location->type == CU_MEM_LOCATION_TYPE_HOST) {
      const bool isReached = pool.kind() != core::MemoryKind::Device;
      *flags = isReached ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
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
      const bool isHost = access[i].location.type == CU_MEM_LOCATION_TYPE_HOST;
      if (isHost && pool.kind() != core::MemoryKind::Device && access[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        continue;
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
