// Tiles of more than a warp: 64 to 512 threads of a block that meet, vote, exchange, sum up and scan (CS-063, CG-08,
// CG-09).
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "program.h"

namespace cg = cooperative_groups;
constexpr int kThreads = 512, kFields = 4;

template <int Size, class Tile>
__device__ void votes(const Tile& tile, int value, int*, int* row) {
  row[0] = tile.meta_group_rank() * 10000 + tile.meta_group_size() * 1000 + tile.thread_rank();
  row[1] = tile.any(value == 7) | tile.all(value > 1) << 1;
  row[2] = tile.shfl(value, Size - 3);
  row[3] =
      cg::tiled_partition<Size / 2>(tile).meta_group_rank() * 1000 + cg::tiled_partition<32>(tile).shfl_xor(value, 5);
}
template <int Size, class Tile>
__device__ void sums(const Tile& tile, int value, int*, int* row) {
  row[0] = cg::reduce(tile, value, cg::plus<int>()), row[1] = cg::reduce(tile, value, cg::less<int>());
  row[2] = row[3] = 0;
}
template <int Size, class Tile>
__device__ void scans(const Tile& tile, int value, int*, int* row) {
  row[0] = cg::inclusive_scan(tile, value), row[1] = cg::exclusive_scan(tile, value, cg::plus<int>());
  row[2] = cg::tiled_partition<Size / 2>(tile).thread_rank(), row[3] = 0;
}
// Each tile by itself, as often as it likes.
template <int Size, class Tile>
__device__ void rounds(const Tile& tile, int value, int* shared, int* row) {
  for (unsigned turn = 0; turn <= 2 * tile.meta_group_rank(); ++turn) {
    shared[threadIdx.x] = value + turn;
    tile.sync();
    value += shared[tile.meta_group_rank() * Size + (tile.thread_rank() * 7 + turn) % Size];
    tile.sync();
  }
  row[0] = value, row[1] = row[2] = row[3] = 0;
}

#define TILES(what)                                                         \
  template <int Size>                                                       \
  __global__ void what##OfTiles(const int* in, int* out) {                  \
    __shared__ cg::block_tile_memory<kThreads> scratch;                     \
    __shared__ int shared[kThreads];                                        \
    auto tile = cg::tiled_partition<Size>(cg::this_thread_block(scratch));  \
    shared[threadIdx.x] = 0;                                                \
    what<Size>(tile, in[threadIdx.x], shared, out + threadIdx.x * kFields); \
  }
TILES(votes)
TILES(sums)
TILES(scans)
TILES(rounds)

// Only one of two tiles continues; the other is done.
__global__ void someTiles(const int* in, int* out) {
  __shared__ cg::block_tile_memory<kThreads> scratch;
  auto tile = cg::tiled_partition<128>(cg::this_thread_block(scratch));
  const int i = threadIdx.x;
  out[i] = -1;
  if (tile.meta_group_rank() % 2) return;
  int value = in[i];
  for (int round = 0; round < 5; ++round) value = cg::reduce(tile, value % 1000 + i % (round + 2), cg::plus<int>()) + i;
  out[i] = value;
}

// What is summed up need not be an integer of 32 bits; the sums are exact, whatever their order.
__global__ void types(const int* in, double* doubles, short4* quads) {
  __shared__ cg::block_tile_memory<kThreads> scratch;
  auto tile = cg::tiled_partition<256>(cg::this_thread_block(scratch));
  const int i = threadIdx.x;
  doubles[i] = cg::reduce(tile, in[i] * 0.25, cg::plus<double>());
  const short4 quad = make_short4(in[i], -in[i], in[i] ^ 5, i);
  quads[i] = cg::reduce(tile, quad, [](const short4& a, const short4& b) {
    return make_short4(a.x + b.x, max(a.y, b.y), a.z ^ b.z, min(a.w, b.w));
  });
}

int main() {
  Random random;
  std::vector<int> in(kThreads);
  for (auto& value : in) value = random.next() % 1000;
  DeviceArray<int> device(in), some(kThreads);
  const auto run = [&](const char* name, auto kernel, auto isRight) {
    DeviceArray<int> out(kThreads * kFields);
    kernel<<<1, kThreads>>>(device.get(), out.get());
    finish();
    const std::vector<int> got = out.host();
    int wrong = 0;
    for (int i = 0; i < kThreads; ++i) wrong += !isRight(i, got.data() + i * kFields);
    std::printf("%d wrong ", wrong);
    show(name, got, kFields);
  };
  const auto sumOf = [&](int begin, int end) {
    int sum = 0;
    for (int i = begin; i < end; ++i) sum += in[i];
    return sum;
  };
  const auto votesOf = [&](int size) {
    return [&, size](int i, const int* row) { return row[2] == in[i / size * size + size - 3]; };
  };
  const auto sumsOf = [&](int size) {
    return [&, size](int i, const int* row) { return row[0] == sumOf(i / size * size, i / size * size + size); };
  };
  const auto scansOf = [&](int size) {
    return [&, size](int i, const int* row) {
      return row[0] == sumOf(i / size * size, i + 1) && row[1] == sumOf(i / size * size, i);
    };
  };
  const auto any = [](int, const int*) { return true; };
  run("votes of 64", votesOfTiles<64>, votesOf(64));
  run("votes of 512", votesOfTiles<512>, votesOf(512));
  run("sums of 128", sumsOfTiles<128>, sumsOf(128));
  run("scans of 256", scansOfTiles<256>, scansOf(256));
  run("rounds of 64", roundsOfTiles<64>, any);
  run("rounds of 128", roundsOfTiles<128>, any);
  someTiles<<<1, kThreads>>>(device.get(), some.get());
  DeviceArray<double> doubles(kThreads);
  DeviceArray<short4> quads(kThreads);
  types<<<1, kThreads>>>(device.get(), doubles.get(), quads.get());
  finish();
  show("some tiles", some.host());
  show("doubles", doubles.host());
  show("quads", quads.host());
}
