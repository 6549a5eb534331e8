// Control flow that tears warps apart: loops of different length, breaks, jumps into loops, early returns, recursion.
#include "program.h"

__global__ void collatz(unsigned* out) {
  unsigned long long x = blockIdx.x * blockDim.x + threadIdx.x + 1;
  unsigned steps = 0;
  while (x != 1) x = x & 1 ? 3 * x + 1 : x / 2, ++steps;
  out[blockIdx.x * blockDim.x + threadIdx.x] = steps;
}

__device__ int place(unsigned columns, unsigned left, unsigned right, int row, int n) {
  if (row == n) return 1;
  int count = 0;
  for (unsigned free = ~(columns | left | right) & ((1u << n) - 1); free; free &= free - 1) {
    const unsigned bit = free & (0 - free);
    count += place(columns | bit, (left | bit) << 1, (right | bit) >> 1, row + 1, n);
  }
  return count;
}
__global__ void queens(int* out) {
  out[threadIdx.x] = place(1u << threadIdx.x, 2u << threadIdx.x, (1u << threadIdx.x) >> 1, 1, 8);
}

__global__ void tangled(const unsigned* in, unsigned* out) {
  unsigned x = in[threadIdx.x], steps = 0;
  switch (x % 5) {
    do {
      case 0: x = x * 5 + 1;
      case 1:
        x ^= x >> 3;
        if (x % 7 == 0) goto middle;
      case 2: x += 11;
      case 3:
      middle:
        x = x / 2 + steps;
        if (x % 11 == 3) continue;
      default:
        x += 2;
        if (x % 13 == 5) goto out;
    } while (++steps < 40);
  }
out:
  for (unsigned i = 0;; ++i) {
    for (unsigned j = 0; j < 5; ++j) {
      x = x * 1664525 + 1013904223;
      if (x >> 28 == j) goto next;
      if (x >> 29 == 7 && i > threadIdx.x % 4) goto done;
    }
  next:
    if (i == 9) break;
  }
done:
  out[threadIdx.x] = x + steps;
}

__global__ void meeting(const unsigned* in, unsigned* out) {
  __shared__ unsigned shared[128];
  unsigned x = in[threadIdx.x];
  for (unsigned i = 0; i < x % 20; ++i) x = x * 3 + i;
  shared[threadIdx.x] = x;
  __syncthreads();
  if (x % 3 == 0) {
    x = shared[(threadIdx.x + 1) % 128];
    if (x % 2) x += __popc(__activemask() & 0);
  } else if (x % 3 == 1) {
    return;
  }
  x += __popc(__ballot_sync(__activemask(), true) & 0) + shared[127 - threadIdx.x];
  out[threadIdx.x] = x;
}

int main() {
  Random random;
  std::vector<unsigned> in(128);
  for (auto& value : in) value = random.next();
  DeviceArray<unsigned> device(in), a(1024), c(128), d(128);
  DeviceArray<int> b(8);
  collatz<<<4, 256>>>(a.get());
  queens<<<1, 8>>>(b.get());
  tangled<<<1, 128>>>(device.get(), c.get());
  meeting<<<1, 128>>>(device.get(), d.get());
  finish();
  show("collatz", a.host());
  show("queens", b.host(), 8);
  show("tangled", c.host());
  show("meeting", d.host());
}
