#include <cuda.h>

#include <algorithm>
#include <cstdio>

#include "runtime/api/common/library.h"
#include "runtime/core/device.h"

namespace mulciber::api {

bool isPciBusId(const char* text) {
  unsigned domain = 0, bus = 0, device = 0;
  return std::sscanf(text, "%x:%x:%x", &domain, &bus, &device) == 3 || std::sscanf(text, "%x:%x.", &bus, &device) == 2;
}

core::Error availableDynamicShared(core::Function& function, int blocks, int blockThreads, size_t& bytes) {
  using core::Error;
  int fixed = 0, most = 0;
  core::Device& device = function.module().context().device();
  TRY(function.attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, fixed));
  TRY(device.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, most));
  if (blockThreads > static_cast<int>(device.shape().threadsPerBlock) ||
      blocks > static_cast<int>(device.shape().blocksPerMultiprocessor))
    return Error::InvalidValue;
  size_t low = 0, high = static_cast<size_t>(std::max(most - fixed, 0));
  while (low < high) {
    const size_t middle = (low + high + 1) / 2;
    int fit = 0;
    TRY(function.maxActiveBlocks(static_cast<uint32_t>(blockThreads), middle, fit));
    if (fit >= blocks) low = middle;
    else high = middle - 1;
  }
  bytes = low;
  return Error::Success;
}

}  // namespace mulciber::api
