// Calls the CUDA runtime and the driver through the installed headers and libraries. A machine without a device is
// fine.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdio>

int main() {
  int version = 0, count = 0;
  if (cudaRuntimeGetVersion(&version) != cudaSuccess) return 1;
  const CUresult initialised = cuInit(0);
  if (initialised != CUDA_SUCCESS && initialised != CUDA_ERROR_NO_DEVICE) return 1;
  if (initialised == CUDA_SUCCESS && cuDeviceGetCount(&count) != CUDA_SUCCESS) return 1;
  std::printf("runtime %d\n", version);
}
