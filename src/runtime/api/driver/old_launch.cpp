// Launches from before CUDA 4: block shape, shared memory and parameters are set on the function, one call for each.
#include <algorithm>
#include <cstring>

#include "runtime/api/driver/driver.h"
#include "runtime/core/launch.h"

namespace mulciber::api {
namespace {

constexpr size_t mostParameterBytes = 32764;  // what PTX lets a kernel have

CUresult setParameter(CUfunction handle, int offset, const void* value, size_t bytes,
                      const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withFunction(handle, [&](core::Function& function) {
    const auto at = static_cast<size_t>(offset);
    if (offset < 0 || !value || bytes > mostParameterBytes || at > mostParameterBytes - bytes)
      return Error::InvalidValue;
    function.withSettings([&](core::LaunchSettings& settings) {
      if (settings.parameters.size() < at + bytes) settings.parameters.resize(at + bytes);
      std::memcpy(settings.parameters.data() + at, value, bytes);
    });
    return Error::Success;
  });
}

CUresult launchGrid(CUfunction handle, int width, int height, CUstream streamHandle,
                    const char* call = __builtin_FUNCTION()) {
  const core::ApiSpan span(call);
  return withStream(streamHandle, [&](core::Stream& stream) {
    core::Function* function = nullptr;
    TRY(functionOf(handle, &stream.context(), function));
    if (width <= 0 || height <= 0) return Error::InvalidValue;
    core::Launch launch{{static_cast<uint32_t>(width), static_cast<uint32_t>(height), 1}};
    core::LaunchSettings settings;
    function->withSettings([&](const core::LaunchSettings& set) { settings = set; });
    std::copy_n(settings.block, 3, launch.block);
    launch.dynamicSharedBytes = settings.sharedBytes;
    settings.parameters.resize(settings.parameterBytes);
    core::Arguments arguments;
    if (settings.parameterBytes != 0) arguments.packed = settings.parameters.data();
    arguments.packedBytes = settings.parameterBytes;
    return core::launch(*function, launch, arguments, stream);
  });
}

}  // namespace
}  // namespace mulciber::api

using namespace mulciber::api;
namespace core = mulciber::core;

CUDA_API(CUresult, cuFuncSetBlockShape)(CUfunction handle, int x, int y, int z) {
  return withFunction(handle, [&](core::Function& function) {
    if (x <= 0 || y <= 0 || z <= 0) return Error::InvalidValue;
    const int shape[] = {x, y, z};
    function.withSettings([&](core::LaunchSettings& settings) { std::copy_n(shape, 3, settings.block); });
    return Error::Success;
  });
}

CUDA_API(CUresult, cuFuncSetSharedSize)(CUfunction handle, unsigned int bytes) {
  return withFunction(handle, [&](core::Function& function) {
    function.withSettings([&](core::LaunchSettings& settings) { settings.sharedBytes = bytes; });
    return Error::Success;
  });
}

CUDA_API(CUresult, cuParamSetSize)(CUfunction handle, unsigned int bytes) {
  return withFunction(handle, [&](core::Function& function) {
    if (bytes > mostParameterBytes) return Error::InvalidValue;
    function.withSettings([&](core::LaunchSettings& settings) { settings.parameterBytes = bytes; });
    return Error::Success;
  });
}

CUDA_API(CUresult, cuParamSeti)(CUfunction handle, int offset, unsigned int value) {
  return setParameter(handle, offset, &value, sizeof(value));
}

CUDA_API(CUresult, cuParamSetf)(CUfunction handle, int offset, float value) {
  return setParameter(handle, offset, &value, sizeof(value));
}

CUDA_API(CUresult, cuParamSetv)(CUfunction handle, int offset, void* value, unsigned int bytes) {
  return setParameter(handle, offset, value, bytes);
}

CUDA_API(CUresult, cuLaunch)(CUfunction handle) { return launchGrid(handle, 1, 1, nullptr); }

CUDA_API(CUresult, cuLaunchGrid)(CUfunction handle, int width, int height) {
  return launchGrid(handle, width, height, nullptr);
}

CUDA_API(CUresult, cuLaunchGridAsync)(CUfunction handle, int width, int height, CUstream stream) {
  return launchGrid(handle, width, height, stream);
}
