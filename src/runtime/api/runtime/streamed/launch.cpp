#include "runtime/core/launch.h"

#include "runtime/api/runtime/runtime.h"
#include "runtime/core/device.h"

using namespace mulciber::api;
namespace core = mulciber::core;

namespace {

cudaError_t launchKernel(const void* entry, dim3 grid, dim3 block, void** arguments, size_t sharedBytes,
                         cudaStream_t streamHandle, bool isCooperative) {
  if (sharedBytes > UINT32_MAX) return record(cudaErrorInvalidValue);
  return withStream(streamHandle, [&](core::Stream& stream) {
    // STR-12: a launch is the current device's, where copies may go to any stream.
    if (const core::ContextRef current = core::currentContext(); current && current.get() != &stream.context())
      return cudaErrorInvalidResourceHandle;
    core::Function* function = nullptr;
    const Error found = findFunction(entry, stream.context(), function);
    if (found == Error::NotFound || found == Error::InvalidHandle) return cudaErrorInvalidDeviceFunction;
    if (found != Error::Success) return codeOf(found);
    const core::Launch launch{
        {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, static_cast<uint32_t>(sharedBytes), isCooperative};
    core::Arguments all;
    all.pointers = arguments;
    return codeOf(core::launch(*function, launch, all, stream));
  });
}

// What a launch attribute asks for, where it is more than a hint.
cudaError_t apply(const cudaLaunchAttribute& attribute, bool& isCooperative) {
  switch (attribute.id) {
    case cudaLaunchAttributeCooperative: isCooperative = attribute.val.cooperative != 0; return cudaSuccess;
    case cudaLaunchAttributeClusterDimension: {
      const auto& cluster = attribute.val.clusterDim;
      return cluster.x == 1 && cluster.y == 1 && cluster.z == 1 ? cudaSuccess : cudaErrorNotSupported;
    }
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeSynchronizationPolicy:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    case cudaLaunchAttributeProgrammaticStreamSerialization:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributePreferredSharedMemoryCarveout: return cudaSuccess;
    default: return cudaErrorNotSupported;
  }
}

}  // namespace

CUDA_API_PTSZ(cudaError_t, cudaLaunchKernel)
(const void* entry, dim3 grid, dim3 block, void** arguments, size_t sharedBytes, cudaStream_t stream) {
  return launchKernel(entry, grid, block, arguments, sharedBytes, stream, false);
}

CUDA_API_PTSZ(cudaError_t, __cudaLaunchKernel)
(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t sharedBytes, cudaStream_t stream) {
  return launchKernel(kernel, grid, block, arguments, sharedBytes, stream, false);
}

CUDA_API_PTSZ(cudaError_t, cudaLaunchCooperativeKernel)
(const void* entry, dim3 grid, dim3 block, void** arguments, size_t sharedBytes, cudaStream_t stream) {
  return launchKernel(entry, grid, block, arguments, sharedBytes, stream, true);
}

CUDA_API_PTSZ(cudaError_t, cudaLaunchKernelExC)(const cudaLaunchConfig_t* config, const void* entry, void** arguments) {
  if (!config || (config->numAttrs != 0 && !config->attrs)) return record(cudaErrorInvalidValue);
  bool isCooperative = false;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    if (cudaError_t error = apply(config->attrs[i], isCooperative); error != cudaSuccess) return record(error);
  }
  return launchKernel(entry, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes, config->stream,
                      isCooperative);
}
