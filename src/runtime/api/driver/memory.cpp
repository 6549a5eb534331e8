// Allocation, and what is known about an address.
#include "runtime/api/common/host_memory.h"
#include "runtime/api/common/managed.h"
#include "runtime/api/driver/driver.h"

using namespace mulciber::api;
namespace core = mulciber::core;

namespace {

// One attribute of an address, or InvalidValue when it has none.
Error pointerAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  const core::AllocationRef found = core::currentMemory().find(address);
  if (!found) return Error::InvalidValue;
  const bool isManaged = found->isManaged(address), isDevice = !isManaged && !found->isHost();
  const uint64_t start = address - found->deviceAddress < found->size ? found->deviceAddress : found->hostAddress;
  const uint64_t offset = address - start;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: {
      *static_cast<CUcontext*>(data) = handleOf(found->context.lock());
      return Error::Success;
    }
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned*>(data) = isDevice || isManaged ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
      return Error::Success;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *static_cast<CUdeviceptr*>(data) = found->deviceAddress + offset;
      return Error::Success;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      *static_cast<uint64_t*>(data) = 0;
      if (isDevice || !found->isHostVisible()) return Error::InvalidValue;
      *static_cast<uint64_t*>(data) = found->hostAddress + offset;
      return Error::Success;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      *static_cast<unsigned*>(data) = found->isSynchronySet ? found->isSynchronous.load() : found->isManaged(address);
      return Error::Success;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: *static_cast<unsigned long long*>(data) = found->id; return Error::Success;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *static_cast<unsigned*>(data) = isManaged; return Error::Success;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *static_cast<int*>(data) = found->device; return Error::Success;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: *static_cast<unsigned*>(data) = 0; return Error::Success;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *static_cast<CUdeviceptr*>(data) = start; return Error::Success;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *static_cast<size_t*>(data) = found->size; return Error::Success;
    case CU_POINTER_ATTRIBUTE_MAPPED: *static_cast<unsigned*>(data) = 1; return Error::Success;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: *static_cast<unsigned long long*>(data) = 0; return Error::Success;
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: *static_cast<unsigned*>(data) = 0; return Error::Success;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      *static_cast<unsigned*>(data) = CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE;
      return Error::Success;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      *static_cast<CUmemoryPool*>(data) = reinterpret_cast<CUmemoryPool>(found->pool.get());
      return Error::Success;
    default: return Error::InvalidValue;
  }
}

}  // namespace

CUDA_API(CUresult, cuMemGetInfo_v2)(size_t* free, size_t* total) {
  if (free) *free = 0;
  if (total) *total = 0;
  return withContext([&](core::Context& context) {
    size_t available = 0, all = 0;
    context.memoryInfo(available, all);
    if (free) *free = available;
    if (total) *total = all;
    return Error::Success;
  });
}

CUDA_API(CUresult, cuMemAlloc_v2)(CUdeviceptr* out, size_t bytes) {
  if (out) *out = 0;
  return withContext([&](core::Context& context) {
    if (!out) return Error::InvalidValue;
    uint64_t address = 0;
    const Error error = context.allocate(bytes, address);
    if (error == Error::Success) *out = address;
    return error;
  });
}

CUDA_API(CUresult, cuMemAllocPitch_v2)
(CUdeviceptr* out, size_t* pitch, size_t width, size_t height, unsigned int elementBytes) {
  if (out) *out = 0;
  if (pitch) *pitch = 0;
  return withContext([&](core::Context& context) {
    if (!out || !pitch || width == 0 || height == 0) return Error::InvalidValue;
    if (elementBytes != 4 && elementBytes != 8 && elementBytes != 16) return Error::InvalidValue;
    uint64_t address = 0;
    const Error error = context.allocatePitched(width, height, 1, address, *pitch);
    if (error == Error::Success) *out = address;
    return error;
  });
}

CUDA_API(CUresult, cuMemFree_v2)(CUdeviceptr address) {
  return withDriver([&] { return core::freeAnywhere(address); });
}

CUDA_API(CUresult, cuMemGetAddressRange_v2)(CUdeviceptr* start, size_t* bytes, CUdeviceptr address) {
  if (start) *start = 0;
  if (bytes) *bytes = 0;
  return withContext([&](core::Context&) {
    const core::AllocationRef found = core::currentMemory().find(address);
    if (!found) return Error::NotFound;
    if (start) *start = found->deviceAddress;
    if (bytes) *bytes = found->size;
    return Error::Success;
  });
}

CUDA_API(CUresult, cuMemHostAlloc)(void** out, size_t bytes, unsigned int flags) {
  if (out) *out = nullptr;
  return withContext([&](core::Context& context) {
    constexpr unsigned known = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    if (!out || (flags & ~known)) return Error::InvalidValue;
    // All pinned memory is mapped.
    return bytes == 0 ? Error::Success : context.allocateHost(bytes, flags | CU_MEMHOSTALLOC_DEVICEMAP, *out);
  });
}

CUDA_API(CUresult, cuMemAllocHost_v2)(void** out, size_t bytes) { return cuMemHostAlloc(out, bytes, 0); }

CUDA_API(CUresult, cuMemFreeHost)(void* pointer) {
  return withDriver([&] { return core::freeHostAnywhere(pointer); });
}

CUDA_API(CUresult, cuMemHostGetDevicePointer_v2)(CUdeviceptr* out, void* pointer, unsigned int flags) {
  if (out) *out = 0;
  return withContext([&](core::Context& context) { return giveDevicePointer(context, out, pointer, flags); });
}

CUDA_API(CUresult, cuMemHostGetFlags)(unsigned int* flags, void* pointer) {
  return withContext([&](core::Context&) { return hostFlags(pointer, flags); });
}

CUDA_API(CUresult, cuMemHostRegister_v2)(void* pointer, size_t bytes, unsigned int flags) {
  return withContext([&](core::Context& context) {
    // There is no memory of devices to be registered. What is registered is mapped.
    constexpr unsigned known =
        CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_READ_ONLY;
    if (!pointer || bytes == 0 || (flags & ~known)) return Error::InvalidValue;
    return context.registerHost(pointer, bytes, (flags & CU_MEMHOSTREGISTER_PORTABLE) | CU_MEMHOSTREGISTER_DEVICEMAP);
  });
}

CUDA_API(CUresult, cuMemHostUnregister)(void* pointer) {
  return withContext(
      [&](core::Context& context) { return pointer ? context.unregisterHost(pointer) : Error::InvalidValue; });
}

CUDA_API(CUresult, cuMemAllocManaged)(CUdeviceptr* out, size_t bytes, unsigned int flags) {
  if (out) *out = 0;
  return withContext([&](core::Context& context) {
    if (!out || bytes == 0 || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
      return Error::InvalidValue;
    uint64_t address = 0;
    const Error error = context.allocateManaged(bytes, flags, address);
    if (error == Error::Success) *out = address;
    return error;
  });
}

// Managed memory stays where both sides reach it: advice about placement changes nothing.
CUDA_API(CUresult, cuMemAdvise_v2)(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUmemLocation location) {
  return withContext([&](core::Context&) { return adviseManaged(address, bytes, advice, location); });
}

CUDA_API(CUresult, cuMemRangeGetAttribute)
(void* data, size_t dataBytes, CUmem_range_attribute attribute, CUdeviceptr address, size_t bytes) {
  return withContext([&](core::Context&) { return managedAttribute(data, dataBytes, attribute, address, bytes); });
}

CUDA_API(CUresult, cuMemRangeGetAttributes)
(void** data, size_t* dataBytes, CUmem_range_attribute* attributes, size_t count, CUdeviceptr address, size_t bytes) {
  return withContext([&](core::Context&) {
    if (!data || !dataBytes || !attributes || count == 0) return Error::InvalidValue;
    for (size_t i = 0; i < count; ++i) {
      TRY(managedAttribute(data[i], dataBytes[i], attributes[i], address, bytes));
    }
    return Error::Success;
  });
}

CUDA_API(CUresult, cuPointerGetAttribute)(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  return withDriver([&] { return data ? pointerAttribute(data, attribute, address) : Error::InvalidValue; });
}

CUDA_API(CUresult, cuPointerSetAttribute)(const void* value, CUpointer_attribute attribute, CUdeviceptr address) {
  return withDriver([&] {
    const core::AllocationRef found = core::currentMemory().find(address);
    if (!value || !found || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) return Error::InvalidValue;
    found->isSynchronous = *static_cast<const unsigned*>(value) != 0;
    found->isSynchronySet = true;
    return Error::Success;
  });
}

// Unlike the singular form, what an address does not have is left zero.
CUDA_API(CUresult, cuPointerGetAttributes)
(unsigned int count, CUpointer_attribute* attributes, void** data, CUdeviceptr address) {
  return withDriver([&] {
    if (count == 0 || !attributes || !data) return Error::InvalidValue;
    for (unsigned i = 0; i < count; ++i)
      if (!data[i] || attributes[i] < CU_POINTER_ATTRIBUTE_CONTEXT ||
          attributes[i] > CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE)
        return Error::InvalidValue;
    for (unsigned i = 0; i < count; ++i) {
      if (pointerAttribute(data[i], attributes[i], address) == Error::Success) continue;
      switch (attributes[i]) {
        case CU_POINTER_ATTRIBUTE_CONTEXT:
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: *static_cast<uint64_t*>(data[i]) = 0; break;
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *static_cast<int*>(data[i]) = -2; break;
        default: *static_cast<unsigned*>(data[i]) = 0; break;
      }
    }
    return Error::Success;
  });
}
