// Every atomic operation, contended, with results that do not depend on order.
#include "program.h"

struct Results {
  int add, sub, least, greatest, conjunction, disjunction, exclusive;
  unsigned increment, decrement, unsignedLeast, unsignedGreatest;
  unsigned long long wideAdd, wideLeast, wideGreatest, wideAnd, wideOr, wideXor;
  float floatAdd;
  double doubleAdd;
  int lock, protectedCount;
  unsigned long long exchanged;
};

__global__ void contend(Results* r) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&r->add, i);
  atomicSub(&r->sub, i);
  atomicMin(&r->least, 50 - i);
  atomicMax(&r->greatest, i * 3 - 100);
  atomicAnd(&r->conjunction, ~(1 << (i % 30)) | 0x10);
  atomicOr(&r->disjunction, 1 << (i % 31));
  atomicXor(&r->exclusive, i * 0x9E3779B1);
  atomicInc(&r->increment, 1000);
  atomicDec(&r->decrement, 1000);
  atomicMin(&r->unsignedLeast, 5000u - i);
  atomicMax(&r->unsignedGreatest, 4000000000u + i);
  atomicAdd(&r->wideAdd, 0x100000001ull * i);
  atomicMin(&r->wideLeast, 0x500000000ull - i);
  atomicMax(&r->wideGreatest, 0x500000000ull + i);
  atomicAnd(&r->wideAnd, ~(1ull << (i % 60)));
  atomicOr(&r->wideOr, 1ull << (i % 61));
  atomicXor(&r->wideXor, 0x9E3779B97F4A7C15ull * i);
  atomicAdd(&r->floatAdd, 1.0f);
  atomicAdd(&r->doubleAdd, 0.5);
  unsigned long long old = atomicExch(&r->exchanged, i + 1);
  atomicAdd(&r->wideAdd, old * 0);
  // A lock taken by one thread of each block.
  if (threadIdx.x == 0) {
    while (atomicCAS(&r->lock, 0, 1) != 0) {
    }
    __threadfence();
    int count = *reinterpret_cast<volatile int*>(&r->protectedCount);
    *reinterpret_cast<volatile int*>(&r->protectedCount) = count + 1;
    __threadfence();
    atomicExch(&r->lock, 0);
  }
}

__global__ void sharedAtomics(int* out) {
  __shared__ int value;
  __shared__ unsigned long long wide;
  __shared__ float real;
  if (threadIdx.x == 0) value = 0, wide = 0, real = 0;
  __syncthreads();
  atomicAdd(&value, threadIdx.x);
  atomicAdd(&wide, 1ull << 20);
  atomicAdd(&real, 2.0f);
  atomicMax(&value, -1);
  __syncthreads();
  if (threadIdx.x == 0) out[0] = value, out[1] = wide >> 20, out[2] = static_cast<int>(real);
}

int main() {
  Results start{};
  start.conjunction = -1, start.wideAnd = ~0ull, start.unsignedLeast = ~0u, start.wideLeast = ~0ull,
  start.decrement = 700;
  DeviceArray<Results> device(std::vector<Results>{start});
  DeviceArray<int> shared(3);
  contend<<<30, 96>>>(device.get());
  sharedAtomics<<<1, 256>>>(shared.get());
  finish();
  Results r = device.host()[0];
  std::printf("%d %d %d %d %x %x %x %u %u %u %u\n", r.add, r.sub, r.least, r.greatest, r.conjunction, r.disjunction,
              r.exclusive, r.increment, r.decrement, r.unsignedLeast, r.unsignedGreatest);
  std::printf("%llx %llx %llx %llx %llx %llx %f %f %d %d\n", r.wideAdd, r.wideLeast, r.wideGreatest, r.wideAnd,
              r.wideOr, r.wideXor, r.floatAdd, r.doubleAdd, r.lock, r.protectedCount);
  show("shared", shared.host());
}
