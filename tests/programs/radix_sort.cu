// A radix sort by digits of four bits: histograms, a scan of them, scattering in order by ballots.
#include "program.h"

__global__ void histogram(const unsigned* in, unsigned* counts, int shift) {
  __shared__ unsigned bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[in[blockIdx.x * 256 + threadIdx.x] >> shift & 15], 1);
  __syncthreads();
  if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}
__global__ void scan(unsigned* counts, int n) {
  __shared__ unsigned sums[2][512];
  unsigned value = threadIdx.x < n ? counts[threadIdx.x] : 0;
  int from = 0;
  sums[0][threadIdx.x] = value;
  for (int step = 1; step < 512; step *= 2) {
    __syncthreads();
    sums[1 - from][threadIdx.x] = sums[from][threadIdx.x] + (threadIdx.x >= step ? sums[from][threadIdx.x - step] : 0);
    from = 1 - from;
  }
  __syncthreads();
  if (threadIdx.x < n) counts[threadIdx.x] = sums[from][threadIdx.x] - value;
}
__global__ void scatter(const unsigned* in, const unsigned* offsets, unsigned* out, int shift) {
  __shared__ unsigned perWarp[8][16];
  const unsigned value = in[blockIdx.x * 256 + threadIdx.x], digit = value >> shift & 15;
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (lane < 16) perWarp[warp][lane] = 0;
  __syncwarp();
  const unsigned peers = __match_any_sync(0xFFFFFFFF, digit), below = __popc(peers & ((1u << lane) - 1));
  if (below == 0) perWarp[warp][digit] = __popc(peers);
  __syncthreads();
  unsigned at = offsets[digit * gridDim.x + blockIdx.x] + below;
  for (unsigned w = 0; w < warp; ++w) at += perWarp[w][digit];
  out[at] = value;
}

int main() {
  Random random;
  std::vector<unsigned> in(32 * 256);
  for (auto& value : in) value = random.next();
  DeviceArray<unsigned> a(in), b(in.size()), counts(512);
  unsigned *from = a.get(), *to = b.get();
  for (int shift = 0; shift < 32; shift += 4) {
    histogram<<<32, 256>>>(from, counts.get(), shift);
    scan<<<1, 512>>>(counts.get(), 512);
    scatter<<<32, 256>>>(from, counts.get(), to, shift);
    std::swap(from, to);
  }
  finish();
  const std::vector<unsigned> sorted = a.host();
  bool ordered = true;
  for (size_t i = 1; i < sorted.size(); ++i) ordered = ordered && sorted[i - 1] <= sorted[i];
  std::printf("ordered: %d\n", ordered);
  show("sorted", sorted, 8);
}
