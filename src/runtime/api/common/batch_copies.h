// Many copies given at once (CUDA 12.8). The two APIs lay their descriptions out alike.
#pragma once

#include <cuda.h>

#include "runtime/core/stream.h"

namespace mulciber::api {

// Nothing is copied when one of the descriptions is wrong; `failed`, which may be null, says which: the greatest number
// when it is none in particular.
core::Error copyBatch(core::Stream& stream, const CUdeviceptr* destinations, const CUdeviceptr* sources,
                      const size_t* sizes, size_t count, const CUmemcpyAttributes* attributes, const size_t* firsts,
                      size_t attributeCount, size_t* failed);
core::Error copyBoxes(core::Stream& stream, const CUDA_MEMCPY3D_BATCH_OP* boxes, size_t count, unsigned long long flags,
                      size_t* failed);

}  // namespace mulciber::api
