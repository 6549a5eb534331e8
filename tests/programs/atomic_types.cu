// Atomics of every type and scope in shared and global memory. Results do not depend on the order.
#include <cuda_fp16.h>

#include "program.h"

struct Cells {
  int i[8];
  unsigned u[12];
  unsigned long long l[8];
  long long s[2];
  float f;
  double d;
  unsigned short cas;
};

__device__ void all(Cells* c, unsigned x) {
  atomicAdd(&c->i[0], static_cast<int>(x) - 50), atomicSub(&c->i[1], 3), atomicMin(&c->i[2], 40 - static_cast<int>(x));
  atomicMax(&c->i[3], static_cast<int>(x) - 90), atomicAnd(&c->i[4], ~(1 << (x & 15))),
      atomicOr(&c->i[5], 1 << (x & 31));
  atomicXor(&c->i[6], static_cast<int>(x * 2654435761u)), atomicAdd_system(&c->i[7], 1);
  atomicAdd(&c->u[0], x), atomicMin(&c->u[1], x + 7), atomicMax(&c->u[2], x), atomicInc(&c->u[3], 99999);
  atomicDec(&c->u[4], 50000), atomicAdd_block(&c->u[5], 2u), atomicOr_block(&c->u[6], 1u << (x % 20)),
      atomicXor(&c->u[7], x);
  atomicAdd(&c->l[0], 0x100000001ull * x), atomicMin(&c->l[1], ~0ull / (x + 1)), atomicMax(&c->l[2], 1ull << (x % 60));
  atomicAnd(&c->l[3], ~(1ull << (x % 64))), atomicOr(&c->l[4], 1ull << (x % 64)), atomicXor(&c->l[5], 0x12345ull * x);
  atomicMin(&c->s[0], 100ll - x), atomicMax(&c->s[1], -5ll - x);
  atomicAdd(&c->f, 1.0f), atomicAdd(&c->d, 0.5);
  unsigned short old = c->cas, seen;
  do {
    seen = old;
    old = atomicCAS(&c->cas, seen, static_cast<unsigned short>(seen + 3));
  } while (old != seen);
}

__global__ void global(Cells* cells) { all(cells, blockIdx.x * blockDim.x + threadIdx.x); }
__global__ void shared(Cells* out) {
  __shared__ Cells cells;
  if (threadIdx.x == 0) cells = out[blockIdx.x];
  __syncthreads();
  all(&cells, threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = cells;
}
__global__ void halves(__half2* cell, __half* one) {
  atomicAdd(cell, __floats2half2_rn(1.0f, 2.0f));
  atomicAdd(one, __float2half(0.5f));
}
__global__ void exchanges(int* cell, int* seen) { seen[threadIdx.x] = atomicExch(cell, threadIdx.x + 1); }

int main() {
  Cells start{};
  start.i[4] = -1, start.u[1] = 1000, start.u[4] = 50000, start.l[1] = ~0ull, start.l[3] = ~0ull;
  DeviceArray<Cells> a(std::vector<Cells>(1, start)), b(std::vector<Cells>(3, start));
  global<<<8, 128>>>(a.get());
  shared<<<3, 96>>>(b.get());
  DeviceArray<__half2> pair(std::vector<__half2>(1));
  DeviceArray<__half> half(std::vector<__half>(1));
  CHECK(cudaMemset(pair.get(), 0, 4));
  CHECK(cudaMemset(half.get(), 0, 2));
  halves<<<2, 64>>>(pair.get(), half.get());
  DeviceArray<int> cell(std::vector<int>{0}), seen(64);
  exchanges<<<1, 64>>>(cell.get(), seen.get());
  finish();
  show("global", a.host());
  show("shared", b.host());
  show("half2", pair.host());
  show("half", half.host());
  long long sum = cell.host()[0];
  for (int value : seen.host()) sum += value;
  std::printf("exchanges: %lld\n", sum);
}
