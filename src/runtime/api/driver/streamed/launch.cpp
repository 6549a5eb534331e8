#include "runtime/core/launch.h"

#include "runtime/api/driver/driver.h"

using namespace mulciber::api;
namespace core = mulciber::core;

namespace {

// cuLaunchKernel's `extra`: pairs of a name and a value, up to the end mark (DRV-13).
Error readExtra(void** extra, core::Arguments& out) {
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) out.packed = extra[1];
    else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) out.packedBytes = *static_cast<const size_t*>(extra[1]);
    else return Error::InvalidValue;
  }
  return Error::Success;
}

CUresult launchKernel(CUfunction handle, const core::Launch& launch, CUstream streamHandle, void** parameters,
                      void** extra) {
  return withStream(streamHandle, [&](core::Stream& stream) {
    core::Function* function = nullptr;
    if (Error error = functionOf(handle, &stream.context(), function); error != Error::Success) return error;
    if (parameters && extra) return Error::InvalidValue;
    core::Arguments arguments;
    arguments.pointers = parameters;
    if (extra) {
      if (Error error = readExtra(extra, arguments); error != Error::Success) return error;
    }
    return core::launch(*function, launch, arguments, stream);
  });
}

// What a launch attribute asks for, where it is more than a hint.
Error apply(const CUlaunchAttribute& attribute, core::Launch& launch) {
  switch (attribute.id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      launch.isCooperative = attribute.value.cooperative != 0;
      return Error::Success;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION: {
      const auto& cluster = attribute.value.clusterDim;
      return cluster.x == 1 && cluster.y == 1 && cluster.z == 1 ? Error::Success : Error::NotSupported;
    }
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return Error::Success;
    default: return Error::NotSupported;
  }
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
  if (!config || (config->numAttrs != 0 && !config->attrs)) return CUDA_ERROR_INVALID_VALUE;
  core::Launch launch{{config->gridDimX, config->gridDimY, config->gridDimZ},
                      {config->blockDimX, config->blockDimY, config->blockDimZ},
                      config->sharedMemBytes,
                      false};
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    if (Error error = apply(config->attrs[i], launch); error != Error::Success) return result(error);
  }
  return launchKernel(function, launch, config->hStream, parameters, extra);
}
