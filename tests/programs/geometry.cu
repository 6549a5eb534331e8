// Grids and blocks of every dimension, linear thread numbers, warps that are not full, special registers.
#include "program.h"

__device__ unsigned reg(int which) {
  unsigned value = 0;
  switch (which) {
    case 0: asm("mov.u32 %0, %%laneid;" : "=r"(value)); break;
    case 1: asm("mov.u32 %0, %%lanemask_lt;" : "=r"(value)); break;
    case 2: asm("mov.u32 %0, %%lanemask_ge;" : "=r"(value)); break;
    default: asm("mov.u32 %0, %%lanemask_eq;" : "=r"(value)); break;
  }
  return value;
}

__global__ void numbers(unsigned* out) {
  unsigned thread = threadIdx.x + threadIdx.y * blockDim.x + threadIdx.z * blockDim.x * blockDim.y;
  unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  unsigned block = blockIdx.x + blockIdx.y * gridDim.x + blockIdx.z * gridDim.x * gridDim.y;
  unsigned* row = out + (block * threads + thread) * 8;
  row[0] = threadIdx.x | threadIdx.y << 10 | threadIdx.z << 20;
  row[1] = blockIdx.x | blockIdx.y << 10 | blockIdx.z << 20;
  for (int i = 0; i < 4; ++i) row[2 + i] = reg(i);
  row[6] = __activemask();
  row[7] = thread / warpSize;
}

int main() {
  const dim3 shapes[][2] = {{dim3(3), dim3(70)},
                            {dim3(2, 3), dim3(5, 7)},
                            {dim3(2, 2, 2), dim3(3, 5, 4)},
                            {dim3(1, 1, 5), dim3(1, 1, 33)},
                            {dim3(70000), dim3(1)},
                            {dim3(1, 3, 2), dim3(32, 4, 1)}};
  for (const auto& shape : shapes) {
    const dim3 grid = shape[0], block = shape[1];
    DeviceArray<unsigned> out(size_t(grid.x) * grid.y * grid.z * block.x * block.y * block.z * 8);
    numbers<<<grid, block>>>(out.get());
    finish();
    show("numbers", out.host(), 8);
  }
  numbers<<<dim3(1), dim3(1025)>>>(nullptr);
  std::printf("too many threads: %s\n", cudaGetErrorName(cudaGetLastError()));
  numbers<<<dim3(1, 65536), dim3(1)>>>(nullptr);
  std::printf("too many rows: %s\n", cudaGetErrorName(cudaGetLastError()));
  numbers<<<dim3(0), dim3(1)>>>(nullptr);
  std::printf("no blocks: %s\n", cudaGetErrorName(cudaGetLastError()));
}
