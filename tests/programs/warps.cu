// Votes, shuffles, matches and reductions, in full and in diverged warps.
#include "program.h"

__global__ void full(const unsigned* in, unsigned* out) {
  unsigned lane = threadIdx.x & 31, value = in[threadIdx.x];
  unsigned* row = out + threadIdx.x * 12;
  row[0] = __ballot_sync(0xFFFFFFFFu, value & 1);
  row[1] = __any_sync(0xFFFFFFFFu, value == 7);
  row[2] = __all_sync(0xFFFFFFFFu, value < 0xFFFFFFF0u);
  row[3] = __shfl_sync(0xFFFFFFFFu, value, lane * 7);
  row[4] = __shfl_up_sync(0xFFFFFFFFu, value, 3);
  row[5] = __shfl_down_sync(0xFFFFFFFFu, value, 5, 16);
  row[6] = __shfl_xor_sync(0xFFFFFFFFu, value, 9, 8);
  row[7] = __match_any_sync(0xFFFFFFFFu, value % 5);
  int same;
  row[8] = __match_all_sync(0xFFFFFFFFu, lane >> 5, &same);
  row[9] = same;
  row[10] = __activemask();
  row[11] = __popc(__ballot_sync(0xFFFFFFFFu, value > in[threadIdx.x ^ 1]));
}

__global__ void diverged(const unsigned* in, unsigned* out) {
  unsigned lane = threadIdx.x & 31, value = in[threadIdx.x];
  unsigned result = 0;
  if (lane < 10) {
    result = __shfl_sync(0x3FFu, value, 9 - lane);
  } else if (lane % 2) {
    result = __ballot_sync(0xAAAAA800u, value & 2);
  } else {
    for (unsigned i = 0; i < (lane & 7); ++i) result += value >> i;
    __syncwarp(0x55555400u);
    result ^= __shfl_xor_sync(0x55555400u, result, 2);
  }
  __syncwarp();
  out[threadIdx.x] = result + __shfl_sync(0xFFFFFFFFu, result, 31 - lane);
}

__global__ void wide(const double* in, double* out) {
  double value = in[threadIdx.x];
  for (int offset = 16; offset; offset >>= 1) value = __dadd_rn(value, __shfl_xor_sync(0xFFFFFFFFu, value, offset));
  out[threadIdx.x] = value;
}

int main() {
  Random random;
  std::vector<unsigned> in(64);
  std::vector<double> doubles(64);
  for (auto& value : in) value = random.next();
  for (auto& value : doubles) value = random.unit();
  DeviceArray<unsigned> device(in), a(64 * 12), b(64);
  DeviceArray<double> dd(doubles), c(64);
  full<<<1, 64>>>(device.get(), a.get());
  diverged<<<1, 64>>>(device.get(), b.get());
  wide<<<1, 64>>>(dd.get(), c.get());
  finish();
  show("full", a.host(), 12);
  show("diverged", b.host(), 16);
  show("wide", c.host(), 2);
}
