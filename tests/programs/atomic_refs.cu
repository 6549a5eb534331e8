// cuda::atomic and cuda::atomic_ref of every width, order and scope, in global and shared memory (ATOM-10, ATOM-11,
// ATOM-16 to ATOM-18, SYNC-12), and the atomic operations of half and bfloat16.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda/atomic>

#include "program.h"

constexpr int kThreads = 128, kBlocks = 3;

template <class T>
struct Cells {
  T add, subtract, least, greatest, all, any, odd, exchanged, swapped;
};

// Results that do not depend on who comes first.
template <class T, cuda::thread_scope Scope>
__device__ void integers(Cells<T>& cells, unsigned x) {
  using Ref = cuda::atomic_ref<T, Scope>;
  const T value = static_cast<T>(x * 2654435761u >> 3);
  Ref(cells.add).fetch_add(value, cuda::memory_order_relaxed);
  Ref(cells.subtract).fetch_sub(static_cast<T>(x), cuda::memory_order_acq_rel);
  Ref(cells.least).fetch_min(value, cuda::memory_order_release);
  Ref(cells.greatest).fetch_max(value);
  Ref(cells.all).fetch_and(static_cast<T>(~(T(1) << x % (sizeof(T) * 8))), cuda::memory_order_acquire);
  Ref(cells.any).fetch_or(static_cast<T>(T(1) << x % (sizeof(T) * 8 - 1)), cuda::memory_order_relaxed);
  Ref(cells.odd).fetch_xor(value);
  if (x % 64 == 5) Ref(cells.exchanged).exchange(static_cast<T>(77), cuda::memory_order_acq_rel);
  Ref swapped(cells.swapped);
  T seen = swapped.load(cuda::memory_order_relaxed);
  while (!swapped.compare_exchange_weak(seen, static_cast<T>(seen * 3 + 1), cuda::memory_order_acq_rel,
                                        cuda::memory_order_relaxed)) {
  }
}

struct All {
  Cells<int> i;
  Cells<unsigned> u;
  Cells<long long> l;
  Cells<unsigned long long> w;
  Cells<short> s;
  Cells<unsigned char> c;
};
template <cuda::thread_scope Scope>
__device__ void everything(All& all, unsigned x) {
  integers<int, Scope>(all.i, x), integers<unsigned, Scope>(all.u, x), integers<long long, Scope>(all.l, x);
  integers<unsigned long long, Scope>(all.w, x);
}
template <cuda::thread_scope Scope>
__device__ void narrow(All& all, unsigned x) {
  integers<short, Scope>(all.s, x), integers<unsigned char, Scope>(all.c, x);
}
__global__ void inGlobal(All* all) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  everything<cuda::thread_scope_device>(*all, x);
}
__global__ void inGlobalNarrow(All* all) {
  narrow<cuda::thread_scope_system>(*all, blockIdx.x * blockDim.x + threadIdx.x);
}
__global__ void inShared(const All* start, All* out) {
  __shared__ All all;
  if (threadIdx.x == 0) all = *start;
  __syncthreads();
  everything<cuda::thread_scope_block>(all, threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = all;
}
__global__ void inSharedNarrow(const All* start, All* out) {
  __shared__ All all;
  if (threadIdx.x == 0) all = *start;
  __syncthreads();
  narrow<cuda::thread_scope_block>(all, threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = all;
}

// Numbers; sums are exact, whatever their order. Pointers move by elements.
struct Reals {
  float sum, least, greatest;
  double wideSum, wideLeast, wideGreatest;
  __half2 pair;
  __nv_bfloat162 brainPair;
  __half half;
  __nv_bfloat16 brain;
  int* pointer;
  bool flag;
};
__global__ void reals(Reals* r) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  cuda::atomic_ref<float, cuda::thread_scope_device>(r->sum).fetch_add(x * 0.5f);
  cuda::atomic_ref<float>(r->least).fetch_min(100.0f - x), cuda::atomic_ref<float>(r->greatest).fetch_max(x - 100.5f);
  cuda::atomic_ref<double, cuda::thread_scope_device>(r->wideSum).fetch_sub(x * 0.25);
  cuda::atomic_ref<double>(r->wideLeast).fetch_min(100.0 - x),
      cuda::atomic_ref<double>(r->wideGreatest).fetch_max(x - 100.5);
  atomicAdd(&r->pair, __floats2half2_rn(1.0f, -2.0f));
  atomicAdd(&r->brainPair, __floats2bfloat162_rn(0.5f, x % 2 ? 1.0f : -1.0f));
  atomicAdd(&r->half, __float2half(0.25f));
  if (x < 200) atomicAdd(&r->brain, __float2bfloat16(1.0f));
  cuda::atomic_ref<int*, cuda::thread_scope_device>(r->pointer).fetch_add(3);
  if (x == 7) cuda::atomic_ref<bool, cuda::thread_scope_device>(r->flag).store(true);
}

// Messages between threads of a block, by fences and by orders.
__global__ void messages(int* out) {
  __shared__ cuda::atomic<int, cuda::thread_scope_block> turn;
  __shared__ int message;
  if (threadIdx.x == 0) turn.store(0, cuda::memory_order_relaxed), message = 1;
  __syncthreads();
  for (int round = 0; round < 4; ++round) {
    if (threadIdx.x % 32 == 0) {
      const int mine = round * 2 + static_cast<int>(threadIdx.x / 32);
      if (round % 2) {
        while (turn.load(cuda::memory_order_acquire) != mine) {
        }
        message = message * 3 + mine;
        turn.store(mine + 1, cuda::memory_order_release);
      } else {
        while (turn.load(cuda::memory_order_relaxed) != mine) {
        }
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_block);
        message = message * 5 + mine;
        cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_block);
        turn.fetch_add(1, cuda::memory_order_relaxed);
      }
    }
    __syncwarp();
  }
  __syncthreads();
  out[threadIdx.x] = message;
}

template <class T>
Cells<T> startOf() {
  Cells<T> cells{};
  cells.least = std::numeric_limits<T>::max(), cells.greatest = std::numeric_limits<T>::lowest(),
  cells.all = static_cast<T>(~T(0));
  return cells;
}
template <class T>
void showCells(const char* name, const std::vector<All>& all, Cells<T> All::*member) {
  std::vector<Cells<T>> cells;
  for (const All& one : all) cells.push_back(one.*member);
  show(name, cells, 1);
}
void showWide(const std::vector<All>& all) {
  showCells("int", all, &All::i), showCells("unsigned", all, &All::u);
  showCells("long long", all, &All::l), showCells("unsigned long long", all, &All::w);
}
void showNarrow(const std::vector<All>& all) {
  showCells("short", all, &All::s), showCells("unsigned char", all, &All::c);
}

int main() {
  All start;
  std::memset(&start, 0, sizeof start);
  start.i = startOf<int>(), start.u = startOf<unsigned>(), start.l = startOf<long long>();
  start.w = startOf<unsigned long long>(), start.s = startOf<short>(), start.c = startOf<unsigned char>();
  DeviceArray<All> first(std::vector<All>{start}), all(std::vector<All>{start}), blocks(kBlocks), narrowBlocks(kBlocks);
  inGlobal<<<kBlocks, kThreads>>>(all.get());
  inGlobalNarrow<<<kBlocks, kThreads>>>(all.get());
  inShared<<<kBlocks, kThreads>>>(first.get(), blocks.get());
  inSharedNarrow<<<kBlocks, kThreads>>>(first.get(), narrowBlocks.get());
  finish();
  showWide(all.host()), showNarrow(all.host());
  showWide(blocks.host()), showNarrow(narrowBlocks.host());
  Reals zero{};
  zero.pointer = reinterpret_cast<int*>(4096);
  DeviceArray<Reals> numbers(std::vector<Reals>{zero});
  reals<<<kBlocks, kThreads>>>(numbers.get());
  finish();
  const Reals r = numbers.host()[0];
  std::printf("reals: %g %g %g, %g %g %g, %g %g, %g %g, %g %g, %zu, %d\n", r.sum, r.least, r.greatest, r.wideSum,
              r.wideLeast, r.wideGreatest, __low2float(r.pair), __high2float(r.pair), __low2float(r.brainPair),
              __high2float(r.brainPair), __half2float(r.half), __bfloat162float(r.brain),
              reinterpret_cast<size_t>(r.pointer), r.flag);
  DeviceArray<int> out(64);
  messages<<<1, 64>>>(out.get());
  finish();
  show("messages", out.host(), 1);
}
