// A program with nvcc's default, static runtime: see redirect_test.py.
#include <cstdio>

__constant__ float table[4];

__global__ void kernel(float* data, int value) { *data = value * table[0]; }

int main() {
  float* data = nullptr;
  if (cudaMalloc(&data, 64) != cudaSuccess) return 1;
  kernel<<<dim3(2, 3, 4), dim3(32, 2), 16>>>(data, 77);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  cudaFree(data);
  std::puts("end");
}
