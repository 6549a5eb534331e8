// Atomics that many threads aim at few cells: what is left, and what the threads saw on the way. Each value must have
// been handed out once, whatever the order; which orders there were goes to standard error.
#include <algorithm>

#include <cuda/atomic>

#include "program.h"

constexpr int kBlocks = 12, kThreads = 160, kAll = kBlocks * kThreads;

// Where the cells are, and how far apart: one for all, one for four lanes, one for each lane of a warp.
template <int cells>
__device__ int cellOf() {
  return threadIdx.x % cells;
}

struct Kinds {
  unsigned add, inc, exchanged, leastSeen, greatest, bits, ring;
  unsigned long long wide, wideExchanged;
  float real;
  double wideReal;
  unsigned short half;  // by compare and swap
};

struct Seen {  // by one thread
  unsigned add, inc, exchanged, ring;
  unsigned long long wide, wideExchanged;
  unsigned real;
  unsigned short half;
};

__device__ Seen hit(Kinds& k, unsigned me) {
  Seen s;
  s.add = atomicAdd(&k.add, 1);
  s.inc = atomicInc(&k.inc, 9);  // runs round from 0 to 9
  s.exchanged = atomicExch(&k.exchanged, me + 1);
  s.ring = atomicDec(&k.ring, 6);
  s.wide = atomicAdd(&k.wide, 0x100000001ull);
  s.wideExchanged = atomicExch(&k.wideExchanged, (me + 1) * 0x100000001ull);
  s.real = static_cast<unsigned>(atomicAdd(&k.real, 0.25f) * 4);
  atomicAdd(&k.wideReal, 0.125);
  atomicMin(&k.leastSeen, ~me);
  atomicMax(&k.greatest, me * 7);
  atomicXor(&k.bits, 1u << me % 32);
  unsigned short old = k.half;
  do s.half = old;
  while ((old = atomicCAS(&k.half, s.half, static_cast<unsigned short>(s.half + 1))) != s.half);
  return s;
}

template <int cells>
__global__ void global(Kinds* kinds, Seen* seen) {
  const unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
  seen[me] = hit(kinds[cellOf<cells>()], me);
}
template <int cells>
__global__ void shared(Kinds* kinds, Seen* seen) {
  __shared__ Kinds own[cells];
  if (threadIdx.x < cells) own[threadIdx.x] = kinds[threadIdx.x];
  __syncthreads();
  seen[threadIdx.x] = hit(own[cellOf<cells>()], threadIdx.x);
  __syncthreads();
  if (threadIdx.x < cells) kinds[threadIdx.x] = own[threadIdx.x];
}

// Sorted, what everybody saw is the same on every device: of counters each value, of exchanges each but the last.
template <class Get>
void showSorted(const char* name, const std::vector<Seen>& seen, int cells, Get get) {
  std::vector<unsigned long long> values;
  for (int cell = 0; cell < cells; ++cell) {
    const size_t begin = values.size();
    for (size_t i = cell; i < seen.size(); i += cells) values.push_back(get(seen[i]));
    std::sort(values.begin() + begin, values.end());
  }
  show(name, values, 3);
}

template <int cells>
void play(bool isShared) {
  Kinds start{};
  start.leastSeen = ~0u;
  const int threads = isShared ? kThreads : kAll;
  DeviceArray<Kinds> kinds(std::vector<Kinds>(cells, start));
  DeviceArray<Seen> seen(threads);
  if (isShared) shared<cells><<<1, kThreads>>>(kinds.get(), seen.get());
  else global<cells><<<kBlocks, kThreads>>>(kinds.get(), seen.get());
  finish();
  const std::vector<Seen> all = seen.host();
  std::vector<Kinds> left = kinds.host();
  std::printf("%s, %d cells\n", isShared ? "shared" : "global", cells);
  showSorted("add", all, cells, [](const Seen& s) { return s.add; });
  showSorted("inc", all, cells, [](const Seen& s) { return s.inc; });
  showSorted("dec", all, cells, [](const Seen& s) { return s.ring; });
  showSorted("wide", all, cells, [](const Seen& s) { return s.wide; });
  showSorted("float", all, cells, [](const Seen& s) { return s.real; });
  showSorted("compare and swap", all, cells, [](const Seen& s) { return s.half; });
  // The last value is still there; with it, all that were put in were taken out once.
  unsigned long long lost = 0, wideLost = 0;
  for (int i = 0; i < threads; ++i)
    lost += i + 1ull - all[i].exchanged, wideLost += (i + 1) * 0x100000001ull - all[i].wideExchanged;
  for (Kinds& k : left) lost -= k.exchanged, wideLost -= k.wideExchanged, k.exchanged = 0, k.wideExchanged = 0;
  std::printf("exchanges lost: %llu %llu\n", lost, wideLost);
  for (int i : {0, cells - 1})
    std::printf("left: %u %u %u %u %u %08x %llx %a %a %u\n", left[i].add, left[i].inc, left[i].ring, left[i].leastSeen,
                left[i].greatest, left[i].bits, left[i].wide, left[i].real, left[i].wideReal, left[i].half);
  // How the first warp came in: whether its lanes were served in order, backwards or otherwise.
  unsigned rising = 0, falling = 0;
  for (int i = cells; i < 32; ++i) (all[i].add > all[i - cells].add ? rising : falling)++;
  std::fprintf(stderr, "%s, %d cells: of neighbours in the first warp %u rise, %u fall\n",
               isShared ? "shared" : "global", cells, rising, falling);
}

// Counters of every scope and order of <cuda/atomic>, one warp against another and block against block.
template <cuda::thread_scope scope>
__global__ void scoped(unsigned* cell, unsigned* seen) {
  cuda::atomic_ref<unsigned, scope> counter(*cell);
  const unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned* row = seen + me * 4;
  row[0] = counter.fetch_add(1, cuda::std::memory_order_relaxed);
  row[1] = counter.fetch_add(1, cuda::std::memory_order_acquire);
  row[2] = counter.fetch_add(1, cuda::std::memory_order_acq_rel);
  row[3] = counter.fetch_add(1, cuda::std::memory_order_seq_cst);
}

int main() {
  play<1>(false), play<4>(false), play<32>(false);
  play<1>(true), play<4>(true), play<32>(true);
  for (int scope = 0; scope < 3; ++scope) {
    const int blocks = scope == 0 ? 1 : 8;
    DeviceArray<unsigned> cell(std::vector<unsigned>{0}), seen(blocks * 128 * 4);
    if (scope == 0) scoped<cuda::thread_scope_block><<<blocks, 128>>>(cell.get(), seen.get());
    else if (scope == 1) scoped<cuda::thread_scope_device><<<blocks, 128>>>(cell.get(), seen.get());
    else scoped<cuda::thread_scope_system><<<blocks, 128>>>(cell.get(), seen.get());
    finish();
    std::vector<unsigned> values = seen.host();
    unsigned unordered = 0;  // a thread's own additions come one after the other
    for (size_t i = 0; i < values.size(); ++i) unordered += i % 4 != 0 && values[i] <= values[i - 1];
    std::sort(values.begin(), values.end());
    std::printf("scope %d: %u unordered, %u in the cell\n", scope, unordered, cell.host()[0]);
    show("scoped", values);
  }
}
