// Headers of the toolkit: Thrust, CUB, libcu++, matrix fragments, random numbers, cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <curand_kernel.h>
#include <mma.h>
#include <thrust/device_ptr.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/unique.h>
#include <cub/cub.cuh>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

void algorithms(int* p, float* q, int n) {
  thrust::device_ptr<int> ints(p);
  thrust::device_ptr<float> floats(q);
  thrust::sort(ints, ints + n);
  thrust::unique(ints, ints + n);
  thrust::inclusive_scan(ints, ints + n, ints);
  q[0] = thrust::reduce(floats, floats + n);
}

__global__ void fragments(half* a, float* c) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> A;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> B;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> C;
  wmma::fill_fragment(C, 0.f);
  wmma::load_matrix_sync(A, a, 16);
  wmma::load_matrix_sync(B, a, 16);
  wmma::mma_sync(C, A, B, C);
  wmma::store_matrix_sync(c, C, 16, wmma::mem_row_major);
}

__global__ void random(float* out) {
  curandState state;
  curand_init(1, threadIdx.x, 0, &state);
  out[threadIdx.x] = curand_normal(&state);
  cuda::atomic_ref<float, cuda::thread_scope_device> cell(out[3]);
  cell.fetch_add(1.f, cuda::memory_order_acq_rel);
}

__global__ void groups(int* data) {
  namespace cg = cooperative_groups;
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  data[0] = cg::reduce(warp, data[threadIdx.x], cg::plus<int>());
  data[threadIdx.x] = cg::inclusive_scan(warp, data[threadIdx.x]);
  cg::this_grid().sync();
}

__global__ void pipelined(int* data) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int stage[256];
  auto block = cooperative_groups::this_thread_block();
  if (block.thread_rank() == 0) init(&barrier, block.size());
  block.sync();
  cuda::memcpy_async(block, stage, data, sizeof(stage), barrier);
  barrier.arrive_and_wait();
  data[threadIdx.x] = stage[255 - threadIdx.x];
}
