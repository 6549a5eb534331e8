// Symbols: __constant__ and __device__ variables, initialised and copied to, and pointers to variables in variables.
#include "program.h"

__constant__ float coefficients[5] = {1.0f, -2.0f, 0.5f, 0.25f, -0.125f};
__constant__ int factor;
__device__ int counter = 41;
__device__ int table[4] = {10, 20, 30, 40};
__device__ int* pointer = &table[2];
__device__ const char text[] = "constant text";

__global__ void evaluate(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 4; k >= 0; --k) sum = __fmaf_rn(sum, x[i], coefficients[k]);
  y[i] = sum * factor;
}

__global__ void touch(int* out) {
  atomicAdd(&counter, 1);
  out[0] = *pointer;
  out[1] = text[threadIdx.x + 3];
  *pointer = 99;
}

int main() {
  const int n = 1000;
  Random random;
  std::vector<float> x(n);
  for (auto& value : x) value = random.unit() * 4 - 2;
  DeviceArray<float> dx(x), dy(n);
  DeviceArray<int> out(2);
  int three = 3;
  CHECK(cudaMemcpyToSymbol(factor, &three, sizeof(int)));
  evaluate<<<4, 256>>>(dx.get(), dy.get(), n);
  touch<<<1, 1>>>(out.get());
  finish();
  show("y", dy.host());
  show("out", out.host());
  int values[4], count;
  CHECK(cudaMemcpyFromSymbol(values, table, sizeof(values)));
  CHECK(cudaMemcpyFromSymbol(&count, counter, sizeof(int)));
  std::printf("table %d %d %d %d, counter %d\n", values[0], values[1], values[2], values[3], count);
  void* address;
  size_t size;
  CHECK(cudaGetSymbolAddress(&address, table));
  CHECK(cudaGetSymbolSize(&size, table));
  std::printf("table has %zu bytes\n", size);
}
