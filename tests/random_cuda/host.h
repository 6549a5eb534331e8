// The host side of a random program: `launch_list` names the launches, `kernel_list` the kernels.
#pragma once
#include "launches.h"

struct RuntimeDevice {
  const Kernel* kernels;
  size_t count;

  static void check(cudaError_t error, const char* what) {
    if (error == cudaSuccess) return;
    std::printf("%s: %s\n", what, cudaGetErrorName(error));
    std::exit(1);
  }
  uint64_t allocate(size_t size) {
    void* memory = nullptr;
    check(cudaMalloc(&memory, size), "cudaMalloc");
    return reinterpret_cast<uint64_t>(memory);
  }
  void write(uint64_t to, const launches::Bytes& bytes) {
    check(cudaMemcpy(reinterpret_cast<void*>(to), bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  void read(uint64_t from, launches::Bytes& bytes) {
    check(cudaMemcpy(bytes.data(), reinterpret_cast<void*>(from), bytes.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  }
  void launch(const launches::Launch& launch, void** arguments) {
    for (size_t i = 0; i < count; ++i) {
      if (launch.kernel != kernels[i].name) continue;
      const dim3 grid(launch.grid[0], launch.grid[1], launch.grid[2]),
          block(launch.block[0], launch.block[1], launch.block[2]);
      check(cudaLaunchKernel(kernels[i].function, grid, block, arguments, launch.sharedBytes, nullptr),
            launch.kernel.c_str());
      check(cudaDeviceSynchronize(), launch.kernel.c_str());
    }
  }
};

int main() {
  RuntimeDevice device{kernel_list, sizeof kernel_list / sizeof *kernel_list};
  RuntimeDevice::check(cudaDeviceSetLimit(cudaLimitStackSize, launches::stackBytes), "cudaDeviceSetLimit");
  launches::run(launches::parse(launch_list), device);
}
