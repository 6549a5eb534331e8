// A scan in one pass: every block waits for the sums of those before it, which took their tickets earlier.
#include "program.h"

__device__ unsigned ticket = 0;

__global__ void scan(const unsigned* in, unsigned* out, volatile unsigned long long* sums) {
  __shared__ unsigned tile, before, warps[8];
  if (threadIdx.x == 0) tile = atomicAdd(&ticket, 1);
  __syncthreads();
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, at = tile * 256 + threadIdx.x;
  unsigned value = in[at];
  for (unsigned step = 1; step < 32; step *= 2) {
    const unsigned other = __shfl_up_sync(0xFFFFFFFF, value, step);
    if (lane >= step) value += other;
  }
  if (lane == 31) warps[warp] = value;
  __syncthreads();
  unsigned base = 0, total = 0;
  for (unsigned w = 0; w < 8; ++w) base += w < warp ? warps[w] : 0, total += warps[w];
  if (threadIdx.x == 0) {
    unsigned sum = 0;
    if (tile != 0) {
      unsigned long long seen;
      while ((seen = sums[tile - 1]) >> 32 == 0) {
      }
      sum = static_cast<unsigned>(seen);
    }
    before = sum;
    __threadfence();
    sums[tile] = 1ull << 32 | (sum + total);
  }
  __syncthreads();
  out[at] = before + base + value;
}

int main() {
  Random random;
  std::vector<unsigned> in(100 * 256);
  for (auto& value : in) value = random.next() % 100;
  DeviceArray<unsigned> device(in), out(in.size());
  DeviceArray<unsigned long long> sums(std::vector<unsigned long long>(100, 0));
  scan<<<100, 256>>>(device.get(), out.get(), sums.get());
  finish();
  show("scan", out.host());
}
