// Copies to shared memory in the background: cuda::memcpy_async with barriers, pipelines of several stages.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include "program.h"

namespace cg = cooperative_groups;

__global__ void group(const int* in, int* out, int tiles) {
  __shared__ int tile[128];
  auto block = cg::this_thread_block();
  int sum = 0;
  for (int t = 0; t < tiles; ++t) {
    cg::memcpy_async(block, tile, in + t * 128, sizeof(int) * 128);
    cg::wait(block);
    sum = sum * 3 + tile[(threadIdx.x * 5 + t) % 128];
    block.sync();
  }
  out[threadIdx.x] = sum;
}

__global__ void stages(const int4* in, int4* out, int tiles) {
  constexpr int kStages = 3;
  __shared__ int4 tile[kStages][64];
  int4 sum{0, 0, 0, 0};
  for (int t = 0; t < kStages - 1; ++t) {
    if (t < tiles) __pipeline_memcpy_async(&tile[t][threadIdx.x], in + t * 64 + threadIdx.x, 16);
    __pipeline_commit();
  }
  for (int t = 0; t < tiles; ++t) {
    const int ahead = t + kStages - 1;
    if (ahead < tiles) __pipeline_memcpy_async(&tile[ahead % kStages][threadIdx.x], in + ahead * 64 + threadIdx.x, 16);
    __pipeline_commit();
    __pipeline_wait_prior(kStages - 1);
    __syncthreads();
    const int4 v = tile[t % kStages][(threadIdx.x + t) % 64];
    sum.x += v.x, sum.y ^= v.y, sum.z = sum.z * 7 + v.z, sum.w -= v.w;
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

__global__ void padded(const char* in, char* out) {
  __shared__ __align__(16) char tile[16 * 32];
  __pipeline_memcpy_async(&tile[threadIdx.x * 16], in + threadIdx.x * 16, 16, threadIdx.x % 16);  // the end is zeros
  __pipeline_commit();
  __pipeline_wait_prior(0);
  for (int i = 0; i < 16; ++i) out[threadIdx.x * 16 + i] = tile[threadIdx.x * 16 + i];
}

int main() {
  Random random;
  std::vector<int> in(128 * 9);
  for (auto& value : in) value = static_cast<int>(random.next());
  DeviceArray<int> device(in), a(128), b(256), c(128);
  group<<<1, 128>>>(device.get(), a.get(), 9);
  stages<<<1, 64>>>(reinterpret_cast<const int4*>(device.get()), reinterpret_cast<int4*>(b.get()), 4);
  padded<<<1, 32>>>(reinterpret_cast<const char*>(device.get()), reinterpret_cast<char*>(c.get()));
  finish();
  show("group", a.host());
  show("stages", b.host());
  show("padded", c.host());
}
