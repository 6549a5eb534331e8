// The source of kernels.ptx: nvcc -arch=compute_75 -ptx kernels.cu, comments taken out.
#include <cassert>
#include <cstdio>
__device__ int counter = 5;
__constant__ float table[4] = {1, 2, 3, 4};
__device__ int* pointer = &counter;
struct Big {
  int v[200];
};
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void count() { atomicAdd(pointer, 1); }
extern "C" __global__ void big(Big b, int* out) { out[threadIdx.x] = b.v[threadIdx.x]; }
extern "C" __global__ void where(unsigned* out) {
  unsigned g = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  if (threadIdx.x == 0 && threadIdx.y == 0) atomicAdd(&out[g % 1024], 1u);
}
extern "C" __global__ void hello(int x) { printf("hello %d from %u: %s %5.2f\n", x, threadIdx.x, "text", 1.5); }
extern "C" __global__ void broken(int* p) { assert(p == nullptr); }
extern "C" __global__ void traps() { asm("trap;"); }
extern "C" __global__ void reverse(int* d) {
  extern __shared__ int s[];
  s[threadIdx.x] = d[threadIdx.x];
  __syncthreads();
  d[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void __launch_bounds__(64) limited(int* d) { *d = (int)table[threadIdx.x & 3]; }
extern "C" __global__ void lookup(float* out) { out[threadIdx.x] = table[threadIdx.x & 3]; }
extern "C" __global__ void heap(unsigned long long* out) {
  unsigned long long* p = (unsigned long long*)malloc(24);
  if (!p) return;
  p[1] = threadIdx.x * 3;
  __syncthreads();
  out[threadIdx.x] = p[1];
  free(p);
}
