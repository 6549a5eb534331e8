// Cooperative groups: tiles of every size, coalesced and labelled groups, reductions and scans of groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "program.h"

namespace cg = cooperative_groups;

template <int Size>
__device__ void tile(const int* in, int* out) {
  auto t = cg::tiled_partition<Size>(cg::this_thread_block());
  const int value = in[threadIdx.x];
  int* row = out + threadIdx.x * 8;
  row[0] = cg::reduce(t, value, cg::plus<int>()), row[1] = cg::reduce(t, value, cg::greater<int>());
  row[2] = cg::inclusive_scan(t, value), row[3] = cg::exclusive_scan(t, value, cg::bit_xor<int>());
  row[4] = t.shfl_xor(value, Size / 2), row[5] = t.any(value > 90) | t.all(value > 3) << 1 | t.ballot(value & 1) << 2;
  row[6] = t.meta_group_rank() * 100 + t.meta_group_size(), row[7] = t.thread_rank();
}

__global__ void tiles(const int* in, int* out) {
  tile<1>(in, out), tile<2>(in, out + 1024), tile<4>(in, out + 2048), tile<8>(in, out + 3072);
  tile<16>(in, out + 4096), tile<32>(in, out + 5120);
}

__global__ void labels(const int* in, int* out) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int value = in[threadIdx.x];
  auto same = cg::labeled_partition(warp, value % 4);
  auto half = cg::binary_partition(warp, value > 50);
  int* row = out + threadIdx.x * 5;
  row[0] = same.size(), row[1] = same.thread_rank(), row[2] = cg::reduce(same, value, cg::plus<int>());
  row[3] = half.size() * 100 + half.thread_rank(), row[4] = 0;
  if (value % 5 == 0) {
    auto active = cg::coalesced_threads();
    row[4] = active.shfl(value, 0) + active.size() * 1000;
  }
}

int main() {
  Random random;
  std::vector<int> in(128);
  for (auto& value : in) value = random.next() % 100;
  DeviceArray<int> device(in), a(6 * 1024), b(128 * 5);
  tiles<<<1, 128>>>(device.get(), a.get());
  labels<<<1, 128>>>(device.get(), b.get());
  finish();
  show("tiles", a.host(), 8);
  show("labels", b.host(), 8);
}
