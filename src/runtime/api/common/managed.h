// Advice about managed memory, as both APIs take it.
#pragma once

#include <cuda.h>

#include "runtime/core/stream.h"

namespace mulciber::api {

core::Error adviseManaged(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUmemLocation location);
core::Error prefetchManaged(core::Stream& stream, CUdeviceptr address, size_t bytes, CUmemLocation location);
core::Error managedAttribute(void* data, size_t dataBytes, CUmem_range_attribute attribute, CUdeviceptr address,
                             size_t bytes);
// The older functions name a device, or CU_DEVICE_CPU.
CUmemLocation locationOf(CUdevice device);

}  // namespace mulciber::api
