#include <cuda.h>

#include <algorithm>
#include <cstdio>

#include "runtime/api/common/launch_attributes.h"
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

core::Error maxActiveClusters(core::Function& function, const CUlaunchAttribute* attributes, unsigned count,
                              uint64_t blockThreads, size_t dynamicShared, int& clusters) {
  using core::Error;
  if (count != 0 && !attributes) return Error::InvalidValue;
  const core::DeviceShape& shape = function.module().context().device().shape();
  uint64_t blocks = 0;  // without the attribute no cluster is counted
  for (unsigned i = 0; i < count; ++i) {
    if (attributes[i].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
    const auto& size = attributes[i].value.clusterDim;
    if ((size.x | size.y | size.z) == 0) continue;  // none, as for a launch
    if (size.x == 0 || size.y == 0 || size.z == 0) return Error::InvalidClusterSize;
    blocks = uint64_t{size.x} * size.y * size.z;
  }
  if (blockThreads == 0) return Error::InvalidValue;
  clusters = 0;
  // Clusters of several blocks cannot be launched here.
  if (blocks != 1 || blockThreads > shape.threadsPerBlock) return Error::Success;
  int resident = 0;
  TRY(function.maxActiveBlocks(static_cast<uint32_t>(blockThreads), dynamicShared, resident));
  constexpr int mostOfMultiprocessor = 8;  // measured on an H200, which counts 1056 clusters of one small block
  clusters = std::min(resident, mostOfMultiprocessor) * static_cast<int>(shape.multiprocessors);
  return Error::Success;
}

core::Error maxClusterSize(core::Function& function, uint64_t blockThreads, size_t dynamicShared, int& blocks) {
  using core::Error;
  if (blockThreads == 0) return Error::InvalidValue;
  blocks = 0;
  if (blockThreads > function.module().context().device().shape().threadsPerBlock) return Error::Success;
  int resident = 0;
  TRY(function.maxActiveBlocks(static_cast<uint32_t>(blockThreads), dynamicShared, resident));
  blocks = std::min(resident, 1);
  return Error::Success;
}

}  // namespace mulciber::api
