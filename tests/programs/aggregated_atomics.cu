// One atomic for all active lanes of a warp, and compaction with it.
#include <algorithm>

#include "program.h"

__device__ unsigned lanesBelow() {
  unsigned mask;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
  return mask;
}

__device__ unsigned increment(unsigned* counter) {
  const unsigned active = __activemask(), leader = __ffs(active) - 1;
  unsigned base = 0;
  if ((threadIdx.x & 31) == leader) base = atomicAdd(counter, __popc(active));
  return __shfl_sync(active, base, leader) + __popc(active & lanesBelow());
}

__global__ void filter(const unsigned* in, int n, unsigned* out, unsigned* count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] % 3 == 1) out[increment(count)] = in[i];
}

__global__ void histogramByMatch(const unsigned* in, unsigned* bins) {
  const unsigned bin = in[blockIdx.x * blockDim.x + threadIdx.x] % 16;
  const unsigned peers = __match_any_sync(0xFFFFFFFF, bin);
  if ((peers & lanesBelow()) == 0) atomicAdd(&bins[bin], __popc(peers));
}

int main() {
  Random random;
  std::vector<unsigned> in(4096);
  for (auto& value : in) value = random.next();
  DeviceArray<unsigned> device(in), out(4096), count(std::vector<unsigned>{0}), bins(std::vector<unsigned>(16, 0));
  filter<<<17, 256>>>(device.get(), 4096, out.get(), count.get());
  histogramByMatch<<<16, 256>>>(device.get(), bins.get());
  finish();
  std::vector<unsigned> found = out.host();
  found.resize(count.host()[0]);
  std::sort(found.begin(), found.end());
  show("filter", found);
  show("bins", bins.host(), 16);
}
