#include "runtime/core/launch.h"

#include "runtime/api/common/launch_attributes.h"
#include "runtime/api/runtime/runtime.h"
#include "runtime/core/device.h"

using namespace mulciber::api;
namespace core = mulciber::core;

namespace {

cudaError_t launchKernel(const void* entry, dim3 grid, dim3 block, void** arguments, size_t sharedBytes,
                         cudaStream_t streamHandle, const LaunchAttributes* attributes = nullptr,
                         const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  if (sharedBytes > UINT32_MAX) return record(cudaErrorInvalidValue);
  return withStream(streamHandle, [&](core::Stream& stream) {
    // STR-12: a launch is the current device's, where copies may go to any stream.
    if (core::isOtherCurrent(stream.context())) return cudaErrorInvalidResourceHandle;
    core::Function* function = nullptr;
    const Error found = findFunction(entry, stream.context(), function);
    if (found == Error::InvalidHandle) return cudaErrorInvalidDeviceFunction;
    if (found != Error::Success) return codeOf(found);
    const core::Launch launch{{grid.x, grid.y, grid.z},
                              {block.x, block.y, block.z},
                              static_cast<uint32_t>(sharedBytes),
                              attributes && attributes->isCooperative};
    const core::LaunchNotes notes{entry, attributes ? &attributes->hints : nullptr};
    core::Arguments all;
    all.pointers = arguments;
    TRY(codeOf(core::launch(*function, launch, all, stream, notes)));
    return attributes ? codeOf(recordEvents(stream, *attributes)) : cudaSuccess;
  });
}

static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute));

}  // namespace

CUDA_API_PTSZ(cudaError_t, cudaLaunchKernel)
(const void* entry, dim3 grid, dim3 block, void** arguments, size_t sharedBytes, cudaStream_t stream) {
  return launchKernel(entry, grid, block, arguments, sharedBytes, stream);
}

CUDA_API_PTSZ(cudaError_t, __cudaLaunchKernel)
(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t sharedBytes, cudaStream_t stream) {
  return launchKernel(kernel, grid, block, arguments, sharedBytes, stream);
}

CUDA_API_PTSZ(cudaError_t, cudaLaunchCooperativeKernel)
(const void* entry, dim3 grid, dim3 block, void** arguments, size_t sharedBytes, cudaStream_t stream) {
  LaunchAttributes attributes;
  attributes.isCooperative = true;
  return launchKernel(entry, grid, block, arguments, sharedBytes, stream, &attributes);
}

CUDA_API_PTSZ(cudaError_t, cudaLaunchKernelExC)(const cudaLaunchConfig_t* config, const void* entry, void** arguments) {
  if (!config) return record(cudaErrorInvalidValue);
  LaunchAttributes attributes;
  const auto* list = reinterpret_cast<const CUlaunchAttribute*>(config->attrs);
  const cudaError_t read = guarded([&] { return readAttributes(list, config->numAttrs, attributes); });
  if (read != cudaSuccess) return read;
  return launchKernel(entry, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes, config->stream,
                      &attributes);
}
