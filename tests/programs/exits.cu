// Barriers and warp functions after some of the threads have left.
#include "program.h"

constexpr int kThreads = 192;

// At each barrier some more are gone: whole warps, parts of warps, one thread of each.
__global__ void oneByOne(unsigned* out, int kind) {
  __shared__ unsigned sum[8];
  if (threadIdx.x < 8) sum[threadIdx.x] = 0;
  __syncthreads();
  for (int round = 0; round < 5; ++round) {
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const bool leaves = kind == 0   ? warp == 5 - round
                        : kind == 1 ? lane / 6 == 4 - round
                        : kind == 2 ? threadIdx.x % 6 == 5 - round
                                    : lane == 7 * warp % 32 - round || warp + round == 6;
    if (leaves) return;
    atomicAdd(&sum[round], threadIdx.x + 1);
    __syncthreads();
    out[round * kThreads + threadIdx.x] = sum[round];
    __syncthreads();
  }
}

// Predicates are counted over those who are left.
__global__ void counted(unsigned* out) {
  const unsigned me = threadIdx.x;
  unsigned result = __syncthreads_count(true);
  if (me % 5 == 2) return;
  result = result * 1000 + __syncthreads_count(true);
  if (me >= 100 && me < 140) return;
  result = result * 1000 + __syncthreads_count(me & 1);
  if (me % 2 == 0 && me < 64) {
    out[me] = result;
    return;
  }
  result += __syncthreads_and(me & 1 || me >= 64) ? 500000000u : 0;
  result += __syncthreads_or(me == 0) ? 250000000u : 0;
  out[me] = result;
}

// From inside a function and a loop that others stay in.
__device__ __noinline__ bool isDone(unsigned me, unsigned round) { return me * 2654435761u >> 29 == round; }
__global__ void fromALoop(unsigned* out) {
  __shared__ unsigned cells[kThreads];
  unsigned value = threadIdx.x;
  for (unsigned round = 0; round < 8; ++round) {
    cells[threadIdx.x] = 0;
    __syncthreads();
    cells[threadIdx.x] = value;
    if (isDone(threadIdx.x, round)) {
      out[threadIdx.x] = value;
      return;
    }
    __syncthreads();
    value = value * 3 + cells[(threadIdx.x + 1) % kThreads];  // also of those who have left
    __syncthreads();
  }
  out[threadIdx.x] = value;
}

// Those who are left name one another, and meet at a barrier of their own number.
__global__ void inWarps(unsigned* out) {
  const unsigned lane = threadIdx.x % 32;
  if (lane % 4 == 3) return;
  constexpr unsigned left = 0x77777777u;
  unsigned value = __ballot_sync(left, lane & 1) + __shfl_sync(left, threadIdx.x * 7, lane % 4 == 2 ? lane - 1 : lane);
  if (threadIdx.x >= 128) {
    out[threadIdx.x] = value;
    return;
  }
  __shared__ unsigned cells[128];
  cells[threadIdx.x] = value;
  asm volatile("bar.sync 3, 128;" ::: "memory");  // 128 counts whole warps
  value += cells[(threadIdx.x + 32) % 128];
  if (lane >= 16) return;
  __syncwarp(0x7777);
  out[threadIdx.x] = value + __reduce_add_sync(0x7777, value & 0xFF);
}

// Nobody of some blocks gets far; the last block to finish counts them all.
__global__ void blocks(unsigned* arrived, unsigned* out) {
  __shared__ bool isLast;
  if (blockIdx.x % 3 == 1 && threadIdx.x >= blockIdx.x) return;
  if (threadIdx.x == 0) {
    __threadfence();
    isLast = atomicAdd(arrived, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!isLast) return;
  if (threadIdx.x == 0) out[0] = *arrived;
}

int main() {
  for (int kind = 0; kind < 4; ++kind) {
    DeviceArray<unsigned> out(5 * kThreads);
    oneByOne<<<1, kThreads>>>(out.get(), kind);
    finish();
    show("one by one", out.host());
  }
  DeviceArray<unsigned> a(kThreads), b(kThreads), c(kThreads), arrived(std::vector<unsigned>{0}), last(1);
  counted<<<1, kThreads>>>(a.get());
  fromALoop<<<1, kThreads>>>(b.get());
  inWarps<<<1, kThreads>>>(c.get());
  blocks<<<20, 64>>>(arrived.get(), last.get());
  finish();
  show("counted", a.host());
  show("from a loop", b.host());
  show("in warps", c.host());
  show("blocks", last.host());
}
