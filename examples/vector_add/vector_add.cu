// Vector addition with the CUDA runtime. Built twice: with nvcc's default static runtime, and with -cudart shared.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void add(const float* a, const float* b, float* c, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) c[i] = a[i] + b[i];
}

static void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 1000000;
  std::vector<float> a(count), b(count), c(count);
  for (int i = 0; i < count; ++i) {
    a[i] = std::sin(float(i));
    b[i] = 0.5f * float(i);
  }

  const size_t bytes = count * sizeof(float);
  float *deviceA, *deviceB, *deviceC;
  check(cudaMalloc(&deviceA, bytes), "cudaMalloc");
  check(cudaMalloc(&deviceB, bytes), "cudaMalloc");
  check(cudaMalloc(&deviceC, bytes), "cudaMalloc");
  check(cudaMemcpy(deviceA, a.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  check(cudaMemcpy(deviceB, b.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");

  add<<<(count + 255) / 256, 256>>>(deviceA, deviceB, deviceC, count);
  check(cudaGetLastError(), "launch");

  check(cudaMemcpy(c.data(), deviceC, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  for (int i = 0; i < count; ++i) {
    if (c[i] != a[i] + b[i]) {
      std::fprintf(stderr, "wrong at %d: %g and not %g\n", i, c[i], a[i] + b[i]);
      return 1;
    }
  }
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  std::printf("%d sums right on %s\n", count, properties.name);
  check(cudaFree(deviceA), "cudaFree");
  check(cudaFree(deviceB), "cudaFree");
  check(cudaFree(deviceC), "cudaFree");
}
