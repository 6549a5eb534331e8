// Virtual memory management: addresses and memory apart.
#include "runtime/core/virtual_memory.h"

#include "runtime/api/driver/driver.h"
#include "runtime/core/device.h"
#include "util/environment.h"

using namespace mulciber::api;
namespace core = mulciber::core;
namespace util = mulciber::util;
using core::VirtualMemory;

namespace {

bool isShared(const CUmemAllocationProp& properties) {
  return properties.requestedHandleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
}

// Memory lies on a device. Other processes can have it by file descriptors alone.
Error check(const CUmemAllocationProp& properties, core::Device*& out) {
  if (properties.type != CU_MEM_ALLOCATION_TYPE_PINNED) return Error::InvalidValue;
  if (properties.location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    return properties.location.type == CU_MEM_LOCATION_TYPE_INVALID ? Error::InvalidValue : Error::NotSupported;
  if (properties.requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE && !isShared(properties)) return Error::NotSupported;
  out = core::Platform::get().device(properties.location.id);
  return out ? Error::Success : Error::InvalidDevice;
}

}  // namespace

CUDA_API(CUresult, cuMemGetAllocationGranularity)
(size_t* out, const CUmemAllocationProp* properties, CUmemAllocationGranularity_flags option) {
  return withDriver([&] {
    if (!out || !properties) return Error::InvalidValue;
    if (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM && option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
      return Error::InvalidValue;
    *out = VirtualMemory::granularity;
    return Error::Success;
  });
}

// Where addresses are is the driver's choice: `wanted` is a hint.
CUDA_API(CUresult, cuMemAddressReserve)
(CUdeviceptr* out, size_t size, size_t alignment, CUdeviceptr, unsigned long long flags) {
  return withDriver([&] {
    if (!out || flags != 0) return Error::InvalidValue;
    const core::ContextRef context = core::currentContext();
    core::Device& device = context ? context->device() : *core::Platform::get().devices().front();
    uint64_t address = 0;
    const Error error = VirtualMemory::get().reserve(device, size, alignment, address);
    if (error == Error::Success) *out = address;
    return error;
  });
}

CUDA_API(CUresult, cuMemAddressFree)(CUdeviceptr address, size_t size) {
  return withDriver([&] { return VirtualMemory::get().unreserve(address, size); });
}

CUDA_API(CUresult, cuMemCreate)
(CUmemGenericAllocationHandle* out, size_t size, const CUmemAllocationProp* properties, unsigned long long flags) {
  return withDriver([&] {
    if (!out || !properties || flags != 0) return Error::InvalidValue;
    core::Device* device = nullptr;
    TRY(check(*properties, device));
    uint64_t handle = 0;
    const Error error = VirtualMemory::get().create(*device, size, isShared(*properties), handle);
    if (error == Error::Success) *out = handle;
    return error;
  });
}

CUDA_API(CUresult, cuMemExportToShareableHandle)
(void* out, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type, unsigned long long flags) {
  return withDriver([&] {
    if (!util::environment().sharedMemory) return Error::NotSupported;
    if (!out || flags != 0) return Error::InvalidValue;
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return Error::NotSupported;
    return VirtualMemory::get().exportDescriptor(handle, *static_cast<int*>(out));
  });
}

// CUDA passes the descriptor as a pointer.
CUDA_API(CUresult, cuMemImportFromShareableHandle)
(CUmemGenericAllocationHandle* out, void* descriptor, CUmemAllocationHandleType type) {
  return withDriver([&] {
    if (!util::environment().sharedMemory) return Error::NotSupported;
    if (!out) return Error::InvalidValue;
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return Error::NotSupported;
    const core::ContextRef context = core::currentContext();
    core::Device& device = context ? context->device() : *core::Platform::get().devices().front();
    uint64_t handle = 0;
    TRY(VirtualMemory::get().importDescriptor(device, static_cast<int>(reinterpret_cast<intptr_t>(descriptor)),
                                              handle));
    *out = handle;
    return Error::Success;
  });
}

CUDA_API(CUresult, cuMemRelease)(CUmemGenericAllocationHandle handle) {
  return withDriver([&] { return VirtualMemory::get().release(handle); });
}

CUDA_API(CUresult, cuMemMap)
(CUdeviceptr address, size_t size, size_t offset, CUmemGenericAllocationHandle handle, unsigned long long flags) {
  return withDriver(
      [&] { return flags != 0 ? Error::InvalidValue : VirtualMemory::get().map(address, size, offset, handle); });
}

CUDA_API(CUresult, cuMemUnmap)(CUdeviceptr address, size_t size) {
  return withDriver([&] { return VirtualMemory::get().unmap(address, size); });
}

// Only the device itself reaches its memory; reading alone cannot be enforced.
CUDA_API(CUresult, cuMemSetAccess)
(CUdeviceptr address, size_t size, const CUmemAccessDesc* access, size_t count) {
  return withDriver([&] {
    if (!access || count == 0) return Error::InvalidValue;
    for (size_t i = 0; i < count; ++i) {
      if (access[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE) return Error::InvalidValue;
      if (!core::Platform::get().device(access[i].location.id)) return Error::InvalidDevice;
      const bool isAccessible = access[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
      TRY(VirtualMemory::get().setAccess(address, size, isAccessible));
    }
    return Error::Success;
  });
}

CUDA_API(CUresult, cuMemGetAccess)(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr address) {
  return withDriver([&] {
    if (!flags || !location || address == 0) return Error::InvalidValue;
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE || !core::Platform::get().device(location->id))
      return Error::InvalidDevice;
    *flags = 0;
    bool isAccessible = false;
    if (VirtualMemory::get().access(address, isAccessible) == Error::Success) {
      *flags = isAccessible ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
      return Error::Success;
    }
    return core::currentMemory().find(address) ? Error::Success : Error::InvalidValue;
  });
}

CUDA_API(CUresult, cuMemRetainAllocationHandle)(CUmemGenericAllocationHandle* out, void* address) {
  return withDriver([&] {
    if (!out) return Error::InvalidValue;
    uint64_t handle = 0;
    const Error error = VirtualMemory::get().retain(reinterpret_cast<uintptr_t>(address), handle);
    if (error == Error::Success) *out = handle;
    return error;
  });
}

CUDA_API(CUresult, cuMemGetAllocationPropertiesFromHandle)
(CUmemAllocationProp* out, CUmemGenericAllocationHandle handle) {
  return withDriver([&] {
    if (!out) return Error::InvalidValue;
    int ordinal = 0;
    bool canExport = false;
    TRY(VirtualMemory::get().propertiesOf(handle, ordinal, canExport));
    *out = {};
    out->type = CU_MEM_ALLOCATION_TYPE_PINNED;
    out->location = {CU_MEM_LOCATION_TYPE_DEVICE, ordinal};
    if (canExport) out->requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return Error::Success;
  });
}
