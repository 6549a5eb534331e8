#include "runtime/core/launch.h"

#include "runtime/api/common/launch_arguments.h"
#include "runtime/api/common/launch_attributes.h"
#include "runtime/api/driver/driver.h"

using namespace mulciber::api;
namespace core = mulciber::core;

namespace {

CUresult launchKernel(CUfunction handle, const core::Launch& launch, CUstream streamHandle, void** parameters,
                      void** extra, const LaunchAttributes* attributes = nullptr,
                      const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withStream(streamHandle, [&](core::Stream& stream) {
    core::Function* function = nullptr;
    TRY(functionOf(handle, &stream.context(), function));
    core::Arguments arguments;
    TRY(readArguments(parameters, extra, arguments));
    const core::LaunchNotes notes{handle, attributes ? &attributes->hints : nullptr};
    TRY(core::launch(*function, launch, arguments, stream, notes));
    return attributes ? recordEvents(stream, *attributes) : Error::Success;
  });
}

}  // namespace

CUDA_API_PTSZ(CUresult, cuLaunchKernel)
(CUfunction function, unsigned int gridX, unsigned int gridY, unsigned int gridZ, unsigned int blockX,
 unsigned int blockY, unsigned int blockZ, unsigned int sharedBytes, CUstream stream, void** parameters, void** extra) {
  return launchKernel(function, {{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes, false}, stream,
                      parameters, extra);
}

CUDA_API_PTSZ(CUresult, cuLaunchCooperativeKernel)
(CUfunction function, unsigned int gridX, unsigned int gridY, unsigned int gridZ, unsigned int blockX,
 unsigned int blockY, unsigned int blockZ, unsigned int sharedBytes, CUstream stream, void** parameters) {
  return launchKernel(function, {{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes, true}, stream,
                      parameters, nullptr);
}

CUDA_API_PTSZ(CUresult, cuLaunchKernelEx)
(const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra) {
  if (!config) return CUDA_ERROR_INVALID_VALUE;
  LaunchAttributes attributes;
  const CUresult read = guarded([&] { return readAttributes(config->attrs, config->numAttrs, attributes); });
  if (read != CUDA_SUCCESS) return read;
  const core::Launch launch{{config->gridDimX, config->gridDimY, config->gridDimZ},
                            {config->blockDimX, config->blockDimY, config->blockDimZ},
                            config->sharedMemBytes,
                            attributes.isCooperative};
  return launchKernel(function, launch, config->hStream, parameters, extra, &attributes);
}
