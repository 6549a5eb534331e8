// What the language has: virtual functions, tables, statics, managed and constant data, textures, assertions,
// recursion.
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cassert>
#include <cstdio>

namespace cg = cooperative_groups;

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual float area(float x) const = 0;
};
struct Disc : Shape {
  __device__ float area(float x) const override { return sinf(x) * x; }
};
struct Box : Shape {
  float side;
  __device__ explicit Box(float s) : side(s) {}
  __device__ float area(float x) const override { return powf(x, side); }
};

__device__ __managed__ int managed[4];
__constant__ float weights[3] = {1.f, 2.f, 3.f};
__device__ double table[2][3] = {{1, 2, 3}, {4, 5, 6}};
__device__ const char* messages[2] = {"hello", "wor\nld"};
typedef int (*Operation)(int);
__device__ int increment(int x) { return x + 1; }
__device__ int decrement(int x) { return x - 1; }
__device__ Operation operations[2] = {increment, decrement};
extern __shared__ float dynamicMemory[];

__global__ void __launch_bounds__(128, 2) everything(float* p, int n, int which) {
  __shared__ float tile[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = p[i];
  __syncthreads();
  Shape* shape = n & 1 ? static_cast<Shape*>(new Disc) : new Box(2.f);
  p[i] = shape->area(tile[127 - threadIdx.x]) + weights[n % 3] + table[n & 1][n % 3];
  printf("%s %d\n", messages[n & 1], operations[n & 1](i));
  delete shape;
  dynamicMemory[n] = p[i];
  switch (which) {
    case 0: p[0] = 1; break;
    case 1: p[1] = 5; break;
    case 2: p[2] = 7; break;
    case 3: p[7] = 9; break;
    case 4: p[9] = 1; break;
    case 5: p[11] = cosf(p[4]); break;
    case 6: p[19] = 1; break;
    default: assert(n != 7);
  }
  managed[which & 3]++;
}

__global__ void numbers(__half2* a, __nv_bfloat162* b, double* d) {
  int i = threadIdx.x;
  a[i] = __hfma2(a[i], a[i + 1], a[i + 2]);
  b[i] = __hadd2(b[i], b[i + 3]);
  d[i] = sin(d[i]) + pow(d[i], 3.3);
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  d[i] += warp.shfl_down(i, 3) + static_cast<double>(__ballot_sync(~0u, i & 1));
  atomicAdd(reinterpret_cast<float*>(d) + 3, 1.f);
  atomicCAS(reinterpret_cast<int*>(d), 1, 2);
}

__global__ void images(cudaTextureObject_t texture, cudaSurfaceObject_t surface, float* out) {
  out[threadIdx.x] = tex2D<float>(texture, 1.f, 2.f);
  surf2Dwrite(tex3D<float4>(texture, 1, 2, 3), surface, 16, 1);
}

struct Large {
  int values[40];
};
__device__ __noinline__ Large change(Large large, int i) {
  large.values[i]++;
  return large;
}
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? 1 : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void calls(Large large, Large* out, int i) {
  *out = change(large, i);
  out->values[0] = fibonacci(i);
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p mov.u32 %0, 5; }" : "=r"(out->values[1]) : "r"(i));
}
