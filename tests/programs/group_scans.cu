// Compaction and allocation by the scans of groups, results written by one of a group, elected threads (CS-069, CS-070,
// CG-16 to CG-19).
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>

#include <algorithm>

#include "program.h"

namespace cg = cooperative_groups;
using Counter = cuda::atomic_ref<int, cuda::thread_scope_device>;

// A group's threads keep what passes the test, in order; the number of what was kept is returned.
template <class Group, class T, class Test>
__device__ int compact(const Group& group, const T* in, int n, T* out, Test test) {
  const int perThread = (n + static_cast<int>(group.size()) - 1) / static_cast<int>(group.size());
  const int begin = min(static_cast<int>(group.thread_rank()) * perThread, n), end = min(begin + perThread, n);
  int count = 0;
  for (int i = begin; i < end; ++i) count += test(in[i]);
  const int offset = cg::exclusive_scan(group, count);
  int at = offset;
  for (int i = begin; i < end; ++i)
    if (test(in[i])) out[at++] = in[i];
  return group.shfl(offset + count, group.size() - 1);
}

__global__ void compaction(const int* in, int n, int* out, int* counts) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int which = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
  const int kept = compact(warp, in + which * n, n, out + which * n, [](int x) { return x % 3 == 1; });
  if (warp.thread_rank() == 0) counts[which] = kept;
}

// Every thread takes rank % 3 places of a buffer; the group adds what all take with one atomic operation.
__global__ void allocation(int* used, int* owner, int* offsets) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  auto active = cg::coalesced_threads();
  const int needs = static_cast<int>(active.thread_rank()) % 3;
  const int offset = cg::exclusive_scan_update(active, Counter(*used), needs, cg::plus<int>());
  for (int k = 0; k < needs; ++k) owner[offset + k] = needs;
  offsets[i] = needs;
}
__global__ void diverged(int* used, int* owner) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 5 < 2) return;
  auto active = cg::coalesced_threads();
  const int needs = 1 + i % 2;
  const int last = cg::inclusive_scan_update(active, Counter(*used), needs, cg::plus<int>());
  for (int k = 0; k < needs; ++k) owner[last - 1 - k] = i;
}

// Tiles of each size hand in their sums.
template <int Size>
__device__ void handIn(const int* in, int* cells) {
  auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
  const int value = in[blockIdx.x * blockDim.x + threadIdx.x];
  cg::reduce_update_async(tile, Counter(cells[0]), value, cg::plus<int>());
  cg::reduce_update_async(tile, Counter(cells[1]), value, cg::greater<int>());
  cg::reduce_update_async(tile, Counter(cells[2]), value, cg::less<int>());
  cg::reduce_update_async(tile, Counter(cells[3]), value, cg::bit_xor<int>());
  cg::reduce_store_async(tile, &cells[4 + blockIdx.x * tile.meta_group_size() + tile.meta_group_rank()], value,
                         cg::plus<int>());
}
__global__ void handIns(const int* in, int* cells) {
  handIn<4>(in, cells), handIn<8>(in, cells + 100), handIn<16>(in, cells + 200), handIn<32>(in, cells + 300);
}

// One thread of a group does something for all, and hands round what it found.
__global__ void elected(const int* in, int* cells, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  cg::invoke_one(tile, [&] { atomicAdd(&cells[0], 1); });
  if (in[i] % 4 == 0) {
    auto active = cg::coalesced_threads();
    cg::invoke_one(active, [&] { atomicAdd(&cells[1], static_cast<int>(active.size())); });
    out[i] = cg::invoke_one_broadcast(active, [&] { return static_cast<int>(active.size()) * 1000 + 7; });
  } else {
    auto others = cg::coalesced_threads();
    out[i] = cg::invoke_one_broadcast(others, [&] { return static_cast<int>(others.size()) * 1000 + 5; });
  }
  __shared__ int seen;
  cg::invoke_one(block, [&] { seen = in[blockIdx.x * blockDim.x]; });
  block.sync();
  out[i] = out[i] * 3 + seen;
}

// Groups made of those that have something in common, and what they reduce and scan.
__global__ void labelled(const int* in, int* out) {
  const int i = threadIdx.x, value = in[i];
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  auto same = cg::labeled_partition(warp, value % 7 * 1000000007ll);
  int* row = out + i * 8;
  row[0] = cg::reduce(same, value, cg::bit_or<int>()), row[1] = cg::reduce(same, value, cg::less<int>());
  row[2] = cg::inclusive_scan(same, value, cg::plus<int>()),
  row[3] = cg::exclusive_scan(same, value, cg::greater<int>());
  row[4] = cg::reduce(same, value * 0.5f, [](float a, float b) { return fmaxf(a, b); }) * 2;
  row[5] = same.meta_group_rank() * 100 + same.meta_group_size();
  auto half = cg::binary_partition(same, value & 1);
  row[6] = half.size() * 100 + cg::reduce(half, 1, cg::plus<int>());
  row[7] = static_cast<int>(same.match_any(value & 3)) ^ same.ballot(value & 2);
}

int main() {
  constexpr int kThreads = 128, kBlocks = 3, kAll = kThreads * kBlocks;
  Random random;
  std::vector<int> in(12 * 100);
  for (auto& value : in) value = random.next() % 1000;
  DeviceArray<int> device(in), kept(in.size()), counts(12);
  CHECK(cudaMemset(kept.get(), 0, in.size() * sizeof(int)));
  compaction<<<kBlocks, kThreads>>>(device.get(), 100, kept.get(), counts.get());
  finish();
  show("compaction", kept.host());
  show("counts", counts.host(), 12);

  DeviceArray<int> used(std::vector<int>(2)), owner(kAll * 2), offsets(kAll), others(kAll * 2);
  allocation<<<kBlocks, kThreads>>>(used.get(), owner.get(), offsets.get());
  diverged<<<kBlocks, kThreads>>>(used.get() + 1, others.get());
  finish();
  std::vector<int> places = owner.host(), who = others.host();
  places.resize(used.host()[0]), who.resize(used.host()[1]);
  std::printf("allocated %d and %d\n", used.host()[0], used.host()[1]);
  // In which order groups come is open, but each has places side by side, in the order of its threads.
  const size_t each = places.size() / (kAll / 32);
  bool areAlike = true;
  for (size_t k = 0; k < places.size(); ++k) areAlike &= places[k] == places[k % each];
  show("places", places, 6);
  std::printf("groups alike: %d\n", areAlike);
  std::sort(who.begin(), who.end());
  show("who", who);

  DeviceArray<int> cells(std::vector<int>(400));
  handIns<<<kBlocks, kThreads>>>(device.get(), cells.get());
  finish();
  show("hand-ins", cells.host(), 8);

  DeviceArray<int> few(std::vector<int>(2)), out(kAll), rows(kThreads * 8);
  elected<<<kBlocks, kThreads>>>(device.get(), few.get(), out.get());
  labelled<<<1, kThreads>>>(device.get(), rows.get());
  finish();
  show("elected", few.host(), 2);
  show("handed round", out.host());
  show("labelled", rows.host(), 8);
}
