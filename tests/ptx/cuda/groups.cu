// Cooperative groups: every group, its collectives, clusters where the target
// has them.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/barrier>

namespace cg = cooperative_groups;

__global__ void tiles(int* data, float* sums) {
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  auto four = cg::tiled_partition<4>(warp);
  data[block.thread_rank()] = cg::reduce(four, data[four.thread_rank()], cg::greater<int>());
  sums[warp.meta_group_rank()] = cg::reduce(warp, sums[warp.thread_rank()], cg::plus<float>());
  data[0] += cg::exclusive_scan(warp, data[1], cg::bit_xor<int>());
  data[2] = warp.shfl_xor(data[3], 5) + warp.match_any(data[4]) + warp.ballot(data[5] > 0) + warp.any(data[6]);
  auto active = cg::coalesced_threads();
  data[7] = cg::reduce(active, active.thread_rank(), cg::plus<unsigned>()) + active.shfl(data[8], 1);
  auto odd = cg::binary_partition(warp, threadIdx.x & 1);
  auto labels = cg::labeled_partition(warp, threadIdx.x % 3);
  data[9] = odd.size() + labels.size() + active.meta_group_size();
  cg::invoke_one(block, [&] { data[10] = 1; });
}

__global__ void wholeGrid(int* data) {
  auto grid = cg::this_grid();
  data[grid.thread_rank()] = grid.block_rank() + grid.dim_blocks().x;
  grid.sync();
  data[0] = data[grid.size() - 1];
  auto token = grid.barrier_arrive();
  grid.barrier_wait(std::move(token));
}

__global__ void copies(int* data) {
  __shared__ alignas(16) int stage[512];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, stage, data, sizeof stage);
  cg::wait(block);
  cg::memcpy_async(block, stage, cuda::aligned_size_t<16>(1024), data, cuda::aligned_size_t<16>(1024));
  cg::wait_prior<1>(block);
  data[block.thread_rank()] = stage[511 - block.thread_rank()];
}

#if __CUDA_ARCH__ >= 900
__global__ void __cluster_dims__(2, 1, 1) clusters(int* data) {
  __shared__ int shared[32];
  auto cluster = cg::this_cluster();
  shared[threadIdx.x] = data[cluster.thread_rank()];
  cluster.sync();
  int* other = cluster.map_shared_rank(shared, cluster.block_rank() ^ 1);
  data[cluster.thread_rank()] = other[threadIdx.x] + cluster.query_shared_rank(other) + cluster.num_blocks();
  cluster.barrier_wait(cluster.barrier_arrive());
}
#endif
