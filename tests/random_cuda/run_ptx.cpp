// Runs a random program's launches with PTX that nvcc made of it, through whatever libcuda.so.1 is found:
//   run_ptx PTX LAUNCHES
#include <cuda.h>

#include <iostream>

#include "launches.h"

namespace {

void check(CUresult error, const std::string& what) {
  if (error == CUDA_SUCCESS) return;
  const char* name = nullptr;
  cuGetErrorName(error, &name);
  std::cout << what << ": " << (name != nullptr ? name : "unknown error") << std::endl;
  std::exit(1);
}

struct DriverDevice {
  CUmodule module;

  uint64_t allocate(size_t size) {
    CUdeviceptr memory = 0;
    check(cuMemAlloc(&memory, size), "cuMemAlloc");
    return memory;
  }
  void write(uint64_t to, const launches::Bytes& bytes) {
    check(cuMemcpyHtoD(to, bytes.data(), bytes.size()), "cuMemcpyHtoD");
  }
  void read(uint64_t from, launches::Bytes& bytes) {
    check(cuMemcpyDtoH(bytes.data(), from, bytes.size()), "cuMemcpyDtoH");
  }
  void launch(const launches::Launch& launch, void** arguments) {
    CUfunction function = nullptr;
    const auto& [gridX, gridY, gridZ] = launch.grid;
    const auto& [blockX, blockY, blockZ] = launch.block;
    check(cuModuleGetFunction(&function, module, launch.kernel.c_str()), launch.kernel);
    check(cuLaunchKernel(function, gridX, gridY, gridZ, blockX, blockY, blockZ, launch.sharedBytes, nullptr, arguments,
                         nullptr),
          launch.kernel);
    check(cuCtxSynchronize(), launch.kernel);
  }
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr << "usage: run_ptx PTX LAUNCHES\n";
    return 2;
  }
  CUdevice device = 0;
  CUcontext context = nullptr;
  check(cuInit(0), "cuInit");
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  check(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, launches::stackBytes), "cuCtxSetLimit");
  DriverDevice driver{};
  check(cuModuleLoadData(&driver.module, launches::readFile(arguments[1]).c_str()), "cuModuleLoadData");
  launches::run(launches::parse(launches::readFile(arguments[2])), driver);
}
