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

// The ring is added up in rounds; the result does not depend on how many blocks share the work.
__global__ void gridSync(const int* in, int* a, int* b, int n) {
  cg::grid_group grid = cg::this_grid();
  for (int i = grid.thread_rank(); i < n; i += grid.size()) a[i] = in[i];
  for (int round = 0; round < 6; ++round) {
    grid.sync();
    for (int i = grid.thread_rank(); i < n; i += grid.size()) b[i] = a[i] + a[(i + 1) % n];
    grid.sync();
    for (int i = grid.thread_rank(); i < n; i += grid.size()) a[i] = b[i];
  }
}

int main() {
  Random random;
  std::vector<int> in(128), ring(256);
  for (auto& value : in) value = random.next() % 100;
  for (auto& value : ring) value = random.next() % 100;
  DeviceArray<int> device(in), out(128), data(ring), a(256), b(256);
  groups<<<1, 128>>>(device.get(), out.get());
  int n = 256, *pointers[] = {data.get(), a.get(), b.get()};
  void* arguments[] = {&pointers[0], &pointers[1], &pointers[2], &n};
  // As many blocks as run at the same time, four at most.
  int device0 = 0, multiprocessors, blocks;
  CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device0));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, gridSync, 64, 0));
  dim3 grid(blocks * multiprocessors < 4 ? blocks * multiprocessors : 4);
  CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(gridSync), grid, dim3(64), arguments, 0, nullptr));
  finish();
  show("groups", out.host(), 8);
  show("grid", a.host(), 8);
}
