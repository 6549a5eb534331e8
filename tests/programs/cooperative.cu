#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "program.h"

namespace cg = cooperative_groups;

__global__ void groups(const int* in, int* out) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  int value = in[block.thread_rank()];
  int sum = cg::reduce(tile, value, cg::plus<int>());
  auto active = cg::coalesced_threads();
  if (value % 2) {
    auto odd = cg::coalesced_threads();
    sum += odd.size() * 1000 + odd.thread_rank();
  }
  block.sync();
  out[block.thread_rank()] = sum + tile.shfl(value, 3) + active.size();
}

__global__ void gridSync(int* data, int n) {
  cg::grid_group grid = cg::this_grid();
  for (int round = 0; round < 5; ++round) {
    int rank = grid.thread_rank();
    int next = rank < n ? data[(rank + 1) % n] : 0;
    grid.sync();
    if (rank < n) data[rank] += next;
    grid.sync();
  }
}

int main() {
  Random random;
  std::vector<int> in(128), ring(256);
  for (auto& value : in) value = random.next() % 100;
  for (auto& value : ring) value = random.next() % 100;
  DeviceArray<int> device(in), out(128), data(ring);
  groups<<<1, 128>>>(device.get(), out.get());
  int n = 256, *pointer = data.get();
  void* arguments[] = {&pointer, &n};
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(gridSync), dim3(4), dim3(64), arguments, 0, nullptr));
  finish();
  show("groups", out.host(), 8);
  show("grid", data.host(), 8);
}
