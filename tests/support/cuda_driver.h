// A CUDA driver, NVIDIA's or Mulciber's, loaded by its path.
#pragma once

#include <cuda.h>

#include <memory>
#include <string>

namespace mulciber::test {

#define MULCIBER_CUDA_DRIVER_FUNCTIONS(X)                                                                   \
  X(cuInit)                                                                                                 \
  X(cuDriverGetVersion)                                                                                     \
  X(cuDeviceGet)                                                                                            \
  X(cuDeviceGetName)                                                                                        \
  X(cuDevicePrimaryCtxRetain)                                                                               \
  X(cuCtxSetCurrent)                                                                                        \
  X(cuModuleLoadDataEx) X(cuModuleGetFunction) X(cuModuleUnload) X(cuMemAlloc) X(cuMemFree) X(cuMemcpyHtoD) \
      X(cuMemcpyDtoH) X(cuMemsetD8) X(cuLaunchKernel) X(cuCtxSynchronize) X(cuGetErrorName)

struct CudaDriver {
  // Null when the library cannot be loaded or there is no device; `error` says why.
  static std::unique_ptr<CudaDriver> open(const std::string& library, std::string& error);

  std::string nameOf(CUresult result) const;

#define MEMBER(function) decltype(&::function) function##_ = nullptr;
  MULCIBER_CUDA_DRIVER_FUNCTIONS(MEMBER)
#undef MEMBER
  CUcontext context = nullptr;  // the primary one of the first device
  std::string device, version;
};

}  // namespace mulciber::test
