// Copies in the background by libcu++: pipelines of a thread, of a block and of producers and consumers, copies that a
// barrier waits for, and groups that wait for all but the newest (CS-054, CS-067, ASYNC-11 to ASYNC-18).
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#include "program.h"

#pragma nv_diag_suppress 20054

namespace cg = cooperative_groups;
constexpr int kThreads = 128, kTiles = 9;

// Each thread by itself, two copies ahead.
__global__ void ofThread(const int4* in, int4* out) {
  constexpr int kStages = 3;
  __shared__ int4 tile[kStages][kThreads];
  auto pipeline = cuda::make_pipeline();
  const int i = threadIdx.x;
  int4 sum{0, 0, 0, 0};
  for (int compute = 0, fetch = 0; compute < kTiles; ++compute) {
    for (; fetch < kTiles && fetch < compute + kStages; ++fetch) {
      pipeline.producer_acquire();
      cuda::memcpy_async(&tile[fetch % kStages][i], in + fetch * kThreads + i, cuda::aligned_size_t<16>(16), pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    const int4 v = tile[compute % kStages][i];
    sum.x += v.x, sum.y ^= v.y, sum.z = sum.z * 7 + v.z, sum.w -= v.w;
    pipeline.consumer_release();
  }
  out[i] = sum;
}

// The block together, double buffered.
__global__ void ofBlock(const int* in, int* out) {
  constexpr int kStages = 2;
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  __shared__ int tile[kStages][kThreads];
  auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  const int i = threadIdx.x;
  const auto fetch = [&](int t) {
    pipeline.producer_acquire();
    cuda::memcpy_async(block, tile[t % kStages], in + t * kThreads, sizeof(int) * kThreads, pipeline);
    pipeline.producer_commit();
  };
  int sum = 0;
  fetch(0);
  for (int t = 0; t < kTiles; ++t) {
    if (t + 1 < kTiles) fetch(t + 1);
    pipeline.consumer_wait();
    sum = sum * 3 + tile[t % kStages][(i * 5 + t) % kThreads];
    pipeline.consumer_release();
  }
  out[i] = sum;
}

// The first warp fetches, the others compute.
__global__ void ofWarps(const int* in, int* out) {
  constexpr int kStages = 2;
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  __shared__ int tile[kStages][kThreads];
  auto block = cg::this_thread_block();
  const auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipeline = cuda::make_pipeline(block, &state, role);
  int sum = 0;
  if (role == cuda::pipeline_role::producer) {
    auto warp = cg::tiled_partition<32>(block);
    for (int t = 0; t < kTiles; ++t) {
      pipeline.producer_acquire();
      cuda::memcpy_async(warp, tile[t % kStages], in + t * kThreads, sizeof(int) * kThreads, pipeline);
      pipeline.producer_commit();
    }
  } else {
    const int i = threadIdx.x - 32;
    for (int t = 0; t < kTiles; ++t) {
      pipeline.consumer_wait();
      sum = sum * 3 + tile[t % kStages][(i * 5 + t) % kThreads];
      pipeline.consumer_release();
    }
    out[i] = sum;
  }
}

// A barrier that waits for copies too: of all threads, each one's own.
__global__ void withBarrier(const int* in, int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ alignas(16) int tile[kThreads * 2];
  auto block = cg::this_thread_block();
  const int i = threadIdx.x;
  if (i == 0) init(&barrier, kThreads);
  block.sync();
  int sum = 0;
  for (int t = 0; t + 1 < kTiles; ++t) {
    cuda::memcpy_async(block, tile, in + t * kThreads, cuda::aligned_size_t<16>(sizeof(int) * kThreads), barrier);
    cuda::memcpy_async(tile + kThreads + i, in + (t + 1) * kThreads + i, sizeof(int), barrier);
    barrier.arrive_and_wait();
    sum = sum * 5 + tile[(i * 3 + t) % kThreads] - tile[kThreads + (i + t) % kThreads];
    block.sync();
  }
  out[i] = sum;
}

// The group waits for all but the newest copy; a copy between layouts, the shorter of both counts.
__global__ void ofGroup(const int* in, int* out) {
  __shared__ int tile[2][kThreads];
  auto block = cg::this_thread_block();
  const int i = threadIdx.x;
  int sum = 0;
  cg::memcpy_async(block, tile[0], in, sizeof(int) * kThreads);
  for (int t = 0; t < kTiles; ++t) {
    if (t + 1 < kTiles) {
      cg::memcpy_async(block, tile[(t + 1) % 2], in + (t + 1) * kThreads, sizeof(int) * kThreads);
      cg::wait_prior<1>(block);
    } else {
      cg::wait(block);
    }
    sum = sum * 3 + tile[t % 2][(i * 7 + t) % kThreads];
    block.sync();
  }
  tile[0][i] = -1;
  block.sync();
  cg::memcpy_async(block, tile[0], 100, in, 90);
  cg::wait(block);
  out[i] = sum + tile[0][i];
}

int main() {
  Random random;
  std::vector<int> in(kThreads * kTiles * 4);
  for (auto& value : in) value = static_cast<int>(random.next());
  DeviceArray<int> device(in), out(kThreads);
  DeviceArray<int4> quads(kThreads);
  ofThread<<<1, kThreads>>>(reinterpret_cast<const int4*>(device.get()), quads.get());
  finish();
  show("of a thread", quads.host());
  const auto run = [&](const char* name, auto kernel) {
    kernel<<<1, kThreads>>>(device.get(), out.get());
    finish();
    show(name, out.host());
  };
  run("of a block", ofBlock);
  run("of warps", ofWarps);
  run("with a barrier", withBarrier);
  run("of a group", ofGroup);
}
