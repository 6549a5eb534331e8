#include "runtime/api/common/managed.h"

#include <algorithm>

#include "runtime/core/capture.h"
#include "runtime/core/managed_advice.h"
#include "runtime/core/platform.h"

namespace mulciber::api {

using core::Error;
using core::MemoryAdvice;
using core::MemoryPlace;

namespace {

struct Range {
  core::AllocationRef allocation;
  uint64_t begin, end;
};

Error find(CUdeviceptr address, size_t bytes, Range& out) {
  if (bytes == 0) return Error::InvalidValue;
  out.allocation = core::currentMemory().find(address, bytes);
  if (!out.allocation || !out.allocation->isManaged(address) || !out.allocation->isManaged(address + bytes - 1))
    return Error::InvalidValue;
  out.begin = out.allocation->offsetOf(address);
  out.end = out.begin + bytes;
  return Error::Success;
}

Error check(CUmemLocation location) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      return core::Platform::get().device(location.id) ? Error::Success : Error::InvalidDevice;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT: return Error::Success;
    default: return Error::InvalidValue;
  }
}

MemoryPlace placeOf(CUmemLocation location) {
  if (location.type == CU_MEM_LOCATION_TYPE_DEVICE) return {MemoryPlace::device, location.id};
  return {MemoryPlace::host, MemoryPlace::cpu};
}

}  // namespace

CUmemLocation locationOf(CUdevice device) {
  if (device == CU_DEVICE_CPU) return {CU_MEM_LOCATION_TYPE_HOST, 0};
  return {CU_MEM_LOCATION_TYPE_DEVICE, device};
}

Error adviseManaged(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUmemLocation location) {
  TRY(core::unsafeDuringCapture());
  if (advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY) return Error::InvalidValue;
  Range range;
  TRY(find(address, bytes, range));
  const Error placed = check(location);
  const bool needsPlace = advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION || advice == CU_MEM_ADVISE_SET_ACCESSED_BY ||
                          advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
  if (placed != Error::Success && (needsPlace || placed == Error::InvalidValue)) return placed;
  const MemoryPlace place = placeOf(location);
  range.allocation->advice->change(range.begin, range.end, [&](MemoryAdvice& given) {
    switch (advice) {
      case CU_MEM_ADVISE_SET_READ_MOSTLY: given.isReadMostly = true; break;
      case CU_MEM_ADVISE_UNSET_READ_MOSTLY: given.isReadMostly = false; break;
      case CU_MEM_ADVISE_SET_PREFERRED_LOCATION: given.preferred = place; break;
      case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: given.preferred = {}; break;
      case CU_MEM_ADVISE_SET_ACCESSED_BY: given.accessedBy.insert(place.id); break;
      case CU_MEM_ADVISE_UNSET_ACCESSED_BY: given.accessedBy.erase(place.id); break;
      default: break;
    }
  });
  return Error::Success;
}

Error prefetchManaged(core::Stream& stream, CUdeviceptr address, size_t bytes, CUmemLocation location) {
  TRY(stream.refuseInCapture());
  Range range;
  TRY(find(address, bytes, range));
  TRY(check(location));
  range.allocation->advice->change(range.begin, range.end,
                                   [&](MemoryAdvice& given) { given.prefetched = placeOf(location); });
  return Error::Success;
}

Error managedAttribute(void* data, size_t dataBytes, CUmem_range_attribute attribute, CUdeviceptr address,
                       size_t bytes) {
  if (!data || dataBytes == 0 || dataBytes % sizeof(int) != 0) return Error::InvalidValue;
  if (attribute != CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY && dataBytes != sizeof(int)) return Error::InvalidValue;
  Range range;
  TRY(find(address, bytes, range));
  // What holds for all of the range.
  MemoryAdvice common;
  bool isFirst = true;
  range.allocation->advice->visit(range.begin, range.end, [&](const MemoryAdvice& part) {
    if (isFirst) {
      common = part;
      isFirst = false;
      return;
    }
    common.isReadMostly &= part.isReadMostly;
    if (!(common.preferred == part.preferred)) common.preferred = {};
    if (!(common.prefetched == part.prefetched)) common.prefetched = {};
    std::erase_if(common.accessedBy, [&](int device) { return part.accessedBy.count(device) == 0; });
  });
  int* const out = static_cast<int*>(data);
  switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY: *out = common.isReadMostly; break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID: *out = common.preferred.id; break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE: *out = common.preferred.type; break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID: *out = common.prefetched.id; break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE: *out = common.prefetched.type; break;
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY: {
      auto device = common.accessedBy.begin();
      for (size_t i = 0; i < dataBytes / sizeof(int); ++i)
        out[i] = device == common.accessedBy.end() ? MemoryPlace::noDevice : *device++;
      break;
    }
    default: return Error::InvalidValue;
  }
  return Error::Success;
}

}  // namespace mulciber::api
