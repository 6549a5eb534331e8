// __syncthreads_count, _and, _or; named barriers for parts of a block; threads that leave before a barrier.
#include "program.h"

__global__ void votes(const int* in, int* out) {
  const int value = in[blockIdx.x * blockDim.x + threadIdx.x];
  int* row = out + (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  row[0] = __syncthreads_count(value % 3 == 0);
  row[1] = __syncthreads_and(value > 5) != 0;
  row[2] = __syncthreads_or(value == 77) != 0;
  row[3] = __syncthreads_count(value & 1) + __syncthreads_count(value & 2);
}

__global__ void named(int* out) {
  __shared__ int data[128];
  const int half = threadIdx.x / 64, i = threadIdx.x % 64;
  data[threadIdx.x] = threadIdx.x * 3;
  asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
  const int got = data[half * 64 + (i + 17) % 64];
  asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
  data[threadIdx.x] = got;
  __syncthreads();
  out[threadIdx.x] = data[127 - threadIdx.x];
}

__global__ void leaving(int* out, int stay) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  if (static_cast<int>(threadIdx.x) >= stay) return;
  atomicAdd(&sum, static_cast<int>(threadIdx.x));
  __syncthreads();
  out[threadIdx.x] = sum;
}

int main() {
  Random random;
  std::vector<int> in(4 * 200);
  for (auto& value : in) value = random.next() % 100;
  DeviceArray<int> device(in), a(in.size() * 4), b(128), c(128);
  votes<<<4, 200>>>(device.get(), a.get());
  named<<<1, 128>>>(b.get());
  leaving<<<1, 128>>>(c.get(), 64);
  finish();
  show("votes", a.host(), 8);
  show("named", b.host());
  show("leaving", c.host());
}
