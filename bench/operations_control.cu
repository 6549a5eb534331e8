// Each kernel repeats one kind of branch, call, barrier or exchange between lanes.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "operations.h"

using operations::bits;
using operations::Sweep;
namespace cg = cooperative_groups;

constexpr unsigned everyLane = ~0u;

__noinline__ __device__ unsigned mixed(unsigned x, unsigned y) { return (x ^ x >> 15) * (y | 1) + 77; }
__noinline__ __device__ unsigned added(unsigned x, unsigned y) { return x + y * 3; }
__noinline__ __device__ unsigned rotated(unsigned x, unsigned y) { return (x << 9 | x >> 23) ^ y; }
__noinline__ __device__ float2 turned(float2 p, float angle) {
  return make_float2(p.x - p.y * angle, p.y + p.x * angle);
}
struct Large {
  unsigned values[12];
};
__noinline__ __device__ Large shuffled(Large from, unsigned by) {
#pragma unroll
  for (int i = 0; i < 12; ++i) from.values[i] += from.values[(i + 5) % 12] ^ by;
  return from;
}
__noinline__ __device__ void swapped(unsigned* a, unsigned* b) {
  unsigned old = *a;
  *a = *b * 5 + 1, *b = old;
}
using Function = unsigned (*)(unsigned, unsigned);
__device__ Function functions[4] = {mixed, added, rotated, mixed};

struct Shape {
  __device__ virtual unsigned area(unsigned x) const = 0;
};
struct Square : Shape {
  __device__ unsigned area(unsigned x) const override { return x * x + 1; }
};
struct Circle : Shape {
  __device__ unsigned area(unsigned x) const override { return x * 22 ^ x >> 7; }
};

void branches(Sweep& sweep) {
  sweep.chain<unsigned>(
      "branch, short", 6, STEP {
        if (x & 1) x = x * 3 + y;
        else x >>= 1;
        y += z;
      });
  sweep.chain<unsigned, 1>(
      "branch, longer", 30, STEP {
        if (x & 1) {
          for (int i = 0; i < 6; ++i) x = x * 5 + y, y ^= x >> 3;
        } else {
          for (int i = 0; i < 6; ++i) y = y * 7 + x, x ^= y << 5;
        }
      });
  sweep.chain<unsigned, 1>(
      "branch of whole warps", 20, STEP {
        if (threadIdx.x & 32) {
          for (int i = 0; i < 6; ++i) x = x * 5 + y, y ^= x >> 3;
        } else {
          for (int i = 0; i < 6; ++i) y = y * 7 + x, x ^= y << 5;
        }
      });
  sweep.chain<unsigned, 1>(
      "branches, nested", 30, STEP {
        if (x & 1) {
          if (x & 2) x = x * 3 + y;
          else if (y & 4) x ^= y << 3;
          else y = x * 9;
        } else if (y & 2) {
          y += x >> 3;
        } else {
          x += z;
        }
        y = y * 5 + 1;
      });
  sweep.chain<unsigned, 1>(
      "branch that many skip", 9, STEP {
        x = x * 1664525 + 1013904223;
        if (x >> 24 == 0) {
          for (int i = 0; i < 8; ++i) y = y * 7 + x, x ^= y << 5;
        }
      });
  sweep.chain<unsigned, 1>(
      "conditions joined", 16, STEP {
        x = x * 1664525 + y;
        if ((x & 16 && y & 32) || (x > y && x - y < 1u << 30) || z > x) y += x >> 3;
      });
  sweep.chain<unsigned, 1>(
      "switch of 4", 30, STEP {
        switch (x >> 3 & 3) {
          case 0: x = x * 3 + y; break;
          case 1: x ^= y << 3; break;
          case 2: x -= y >> 5; break;
          default: x += z;
        }
        y = y * 5 + 1;
      });
  sweep.chain<unsigned, 1>(
      "switch of 16", 80, STEP {
        switch (x >> 3 & 15) {
          case 0: x = x * 3 + y; break;
          case 1: x ^= y << 3; break;
          case 2: x -= y >> 5; break;
          case 3: x = __brev(x); break;
          case 4: y += __popc(x); break;
          case 5: y ^= x * 9; break;
          case 6: x = min(x, y); break;
          case 7: x = max(x, y) + 1; break;
          case 8: x &= y | 255; break;
          case 9: x = ~x; break;
          case 10: x = x / 7; break;
          case 11: x = x << 7 | x >> 25; break;
          case 12: y = x - y; break;
          case 13: x += y * y; break;
          case 14: x = __byte_perm(x, y, 0x2143); break;
          default: x += z;
        }
        y = y * 5 + 1, x += y;
      });
  sweep.chain<unsigned, 1>(
      "switch, uniform", 5, STEP {
        switch (z) {
          case 3: x = x * 3 + y; break;
          case 13: x ^= y << 3; break;
          case 17: x -= y >> 5; break;
          default: x += z;
        }
        y = y * 5 + 1;
      });
  sweep.chain<unsigned, 1>(
      "loop, length by data", 80, STEP {
        for (unsigned i = 0; i < (x & 15); ++i) y = y * 5 + i;
        x = x * 1664525 + y;
      });
  sweep.chain<unsigned, 1>(
      "loop with break and continue", 120, STEP {
        for (unsigned i = 0; i < 16; ++i) {
          x = x * 1664525 + 1013904223;
          if (x >> 30 == 0) continue;
          y += x >> 5;
          if (y >> 28 == 3) break;
        }
      });
  sweep.chain<unsigned, 1>(
      "loops, nested", 200, STEP {
        for (unsigned i = 0; i < (x & 3); ++i)
          for (unsigned j = 0; j < (y & 7); ++j) z = z * 5 + (i ^ j);
        x = x * 1664525 + z, y = y * 22695477 + 1;
      });
  sweep.chain<unsigned, 1>(
      "greatest common divisor", 400, STEP {
        unsigned a = x & 0xffff, b = y & 0xffff;
        while (b) {
          unsigned rest = a % b;
          a = b, b = rest;
        }
        x = x * 1664525 + a, y = y * 22695477 + 1;
      });
  sweep.chain<unsigned, 1>(
      "Collatz", 600, STEP {
        unsigned value = x & 1023 | 1, steps = 0;
        while (value != 1) value = value & 1 ? value * 3 + 1 : value / 2, ++steps;
        x = x * 1664525 + steps;
      });
  sweep.chain<unsigned>(
      "predicates counted", 12, STEP { x += (x > y) + (x & 1 && y & 2) + (y == z), y = y * 5 + 1; });
  sweep.chain<unsigned>(
      "trap that never is", 2, STEP {
        x = x * 5 + y;
        if (z == 14) __trap();
      });

  sweep.chain<unsigned>(
      "call", 24, STEP { x = mixed(x, y); });
  sweep.chain<unsigned>(
      "call of 3 functions", 60, STEP { x = mixed(x, y), y = added(y, x), x = rotated(x, y); });
  sweep.map<float>(
      "call with structs", 24, 0, 1, OF_XY {
        float2 p = turned(make_float2(x, y), y);
        return p.x + p.y;
      });
  sweep.chain<unsigned, 1>(
      "call with 48 bytes", 20, STEP {
        Large large = {x, y, z, x, y, z, x, y, z, x, y, z};
        large = shuffled(large, x);
        x = large.values[3], y ^= large.values[11];
      });
  sweep.chain<unsigned, 1>(
      "call with addresses", 110, STEP {
        unsigned a = x, b = y;
        swapped(&a, &b);
        x = a, y = b;
      });
  sweep.chain<unsigned, 1>(
      "call by pointer, uniform", 60, STEP { x = functions[z & 3](x, y), y += z; });
  sweep.chain<unsigned, 1>(
      "call by pointer, by data", 200, STEP { x = functions[x >> 9 & 3](x, y), y += z; });
  sweep.chain<unsigned, 1>(
      "virtual call", 100, STEP {
        Square square;
        Circle circle;
        const Shape* shape = y & 1 ? static_cast<const Shape*>(&square) : &circle;
        x = shape->area(x), y = y * 5 + x;
      });
}

void barriers(Sweep& sweep) {
  sweep.shared<unsigned>(
      "syncthreads", 6, SHARED_ROUND {
        shared[thread] = sum;
        __syncthreads();
        sum += shared[255 - thread] + i;
        __syncthreads();
      });
  sweep.shared<unsigned>(
      "syncthreads_count", 7, SHARED_ROUND { sum += __syncthreads_count((sum + thread + i) & 1); });
  sweep.shared<unsigned>(
      "syncthreads_or", 7, SHARED_ROUND { sum += __syncthreads_or(sum & 64) + i; });
  sweep.shared<unsigned>(
      "syncwarp", 3, SHARED_ROUND {
        shared[thread] = sum;
        __syncwarp();
        sum += shared[thread ^ 5] + i;
        __syncwarp();
      });
  sweep.shared<unsigned>(
      "threadfence_block", 6, SHARED_ROUND {
        shared[thread] = sum;
        __threadfence_block();
        sum += shared[thread] + i;
      });
  unsigned* cells = deviceArray<unsigned>(sweep.threads());
  CHECK(cudaMemset(cells, 0, sweep.threads() * 4));
  sweep.repeat(
      "threadfence", 30, ROUND {
        cells[thread] = i;
        __threadfence();
        sum += cells[thread];
      });
  sweep.repeat(
      "threadfence_system", 90, ROUND {
        cells[thread] = i;
        __threadfence_system();
        sum += cells[thread];
      });
  CHECK(cudaFree(cells));
  sweep.shared<unsigned>(
      "named barrier of 64 threads", 8, SHARED_ROUND {
        shared[thread] = sum;
        asm volatile("bar.sync %0, 64;" ::"r"(thread / 64 + 1) : "memory");
        sum += shared[thread ^ 63] + i;
        asm volatile("bar.sync %0, 64;" ::"r"(thread / 64 + 1) : "memory");
      });
  sweep.shared<unsigned>(
      "sum over a block", 40, SHARED_ROUND {
        shared[thread] = thread + i;
        __syncthreads();
#pragma unroll
        for (unsigned half = 128; half; half /= 2) {
          if (thread < half) shared[thread] += shared[thread + half];
          __syncthreads();
        }
        sum += shared[0];
        __syncthreads();
      });
}

void lanes(Sweep& sweep) {
  using u64 = unsigned long long;
  sweep.repeat(
      "shfl", 2, ROUND { sum += __shfl_sync(everyLane, sum + thread, i & 31); });
  sweep.repeat(
      "shfl by lane", 1, ROUND { sum += __shfl_sync(everyLane, sum + thread, sum + i); });
  sweep.repeat(
      "shfl_xor", 1, ROUND { sum += __shfl_xor_sync(everyLane, sum + thread, 5); });
  sweep.repeat(
      "shfl_up", 1, ROUND { sum += __shfl_up_sync(everyLane, sum + thread, 1); });
  sweep.repeat(
      "shfl_down of 8 lanes", 1, ROUND { sum += __shfl_down_sync(everyLane, sum + thread, 2, 8); });
  sweep.repeat(
      "shfl_xor of 64 bits", 3,
      ROUND { sum += unsigned(__shfl_xor_sync(everyLane, u64(sum + i) * thread << 9, 3) >> 7); });
  sweep.repeat(
      "shfl_xor of doubles", 2, ROUND { sum += bits(__shfl_xor_sync(everyLane, double(thread) + i, 3)); });
  sweep.repeat(
      "sum over a warp by shfl", 5, ROUND {
        unsigned value = thread + i;
#pragma unroll
        for (int step = 16; step; step /= 2) value += __shfl_xor_sync(everyLane, value, step);
        sum += value;
      });
  sweep.repeat(
      "prefix sum of a warp by shfl", 7, ROUND {
        unsigned value = thread + i;
#pragma unroll
        for (int step = 1; step < 32; step *= 2) {
          unsigned other = __shfl_up_sync(everyLane, value, step);
          if ((threadIdx.x & 31) >= step) value += other;
        }
        sum += value;
      });
  sweep.repeat(
      "ballot", 2, ROUND { sum += __ballot_sync(everyLane, (sum + thread) & 4) + i; });
  sweep.repeat(
      "any and all", 5,
      ROUND { sum += __any_sync(everyLane, sum + thread & 8) + __all_sync(everyLane, (sum + thread) & 1) * 3 + i; });
  sweep.repeat(
      "uni", 2, ROUND {
        int same;
        asm("{ .reg .pred p, q; setp.ne.u32 p, %1, 0; vote.sync.uni.pred q, p, 0xffffffff; selp.s32 %0, 1, 0, q; }"
            : "=r"(same)
            : "r"(sum & 16));
        sum += same + thread;
      });
  sweep.repeat(
      "activemask", 1, ROUND { sum += __activemask() + i; });
  sweep.repeat(
      "activemask in a branch", 2, ROUND {
        if ((thread + i) & 1) sum += __popc(__activemask());
      });
  sweep.repeat(
      "ballot in a branch", 4, ROUND {
        if (thread & 4) sum += __ballot_sync(0xf0f0f0f0, (sum + thread) & 2) + i;
      });
  sweep.repeat(
      "lane masks", 1, ROUND {
        unsigned below, lane;
        asm volatile("mov.u32 %0, %%lanemask_lt; mov.u32 %1, %%laneid;" : "=r"(below), "=r"(lane));
        sum += below * i + lane;
      });
  sweep.repeat(
      "match_any", 13, ROUND { sum += __match_any_sync(everyLane, (sum + thread) & 3) + i; });
  sweep.repeat(
      "match_any, all differ", 90, ROUND { sum += __match_any_sync(everyLane, thread + i); });
  sweep.repeat(
      "match_any of 64 bits", 30, ROUND { sum += __match_any_sync(everyLane, u64(thread & 7) << 31) + i; });
  sweep.repeat(
      "match_all", 4, ROUND {
        int same;
        sum += (__match_all_sync(everyLane, thread / 32 + i, &same) ^ i) + same;
      });
  sweep.repeat(
      "reduce_add", 3, ROUND { sum += __reduce_add_sync(everyLane, sum + thread); });
  sweep.repeat(
      "reduce_max", 3, ROUND { sum += __reduce_max_sync(everyLane, int(sum ^ thread)); });
  sweep.repeat(
      "reduce_min of unsigned", 3, ROUND { sum += __reduce_min_sync(everyLane, sum ^ thread) + i; });
  sweep.repeat(
      "reduce_or and reduce_xor", 5, ROUND {
        sum += __reduce_or_sync(everyLane, 1u << (thread + i & 15)) + __reduce_xor_sync(everyLane, sum + thread);
      });
  sweep.repeat(
      "reduce_add in a branch", 4, ROUND {
        if (thread & 1) sum += __reduce_add_sync(0xaaaaaaaa, sum + thread);
      });
  sweep.repeat(
      "one lane adds for those in a branch", 7, ROUND {
        if ((thread + i) % 3) {
          cg::coalesced_group active = cg::coalesced_threads();
          sum += active.shfl(sum, 0) + active.size();
        }
      });
  sweep.repeat(
      "reduce of a tile of 32", 3, ROUND {
        auto tile = cg::tiled_partition<32>(cg::this_thread_block());
        sum += cg::reduce(tile, sum + thread, cg::plus<unsigned>());
      });
  sweep.repeat(
      "reduce of a tile of 8", 5, ROUND {
        auto tile = cg::tiled_partition<8>(cg::this_thread_block());
        sum += cg::reduce(tile, sum + thread, cg::greater<unsigned>());
      });
  sweep.repeat(
      "reduce floats of a tile", 5, ROUND {
        auto tile = cg::tiled_partition<32>(cg::this_thread_block());
        sum += bits(cg::reduce(tile, float(thread & 15) + i, cg::plus<float>()));
      });
  sweep.repeat(
      "scan of a tile of 32", 6, ROUND {
        auto tile = cg::tiled_partition<32>(cg::this_thread_block());
        sum += cg::inclusive_scan(tile, sum + thread);
      });
  sweep.repeat(
      "exclusive scan of a tile of 16", 7, ROUND {
        auto tile = cg::tiled_partition<16>(cg::this_thread_block());
        sum += cg::exclusive_scan(tile, thread + i, cg::plus<unsigned>());
      });
  sweep.repeat(
      "labeled_partition", 12, ROUND {
        auto group = cg::labeled_partition(cg::coalesced_threads(), int(thread + i) & 3);
        sum += group.size() * 32 + group.thread_rank();
      });
  sweep.repeat(
      "clock64", 3, ROUND { sum += clock64() == i; });
  sweep.repeat(
      "clock", 2, ROUND { sum += clock() == i; });
  sweep.repeat(
      "globaltimer", 10, ROUND {
        u64 time;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
        sum += time == u64(i);
      });
  sweep.repeat(
      "indices of blocks and threads", 1,
      ROUND { sum += blockIdx.x * 3 + threadIdx.x * gridDim.x + blockDim.y * i + threadIdx.z; });
  sweep.latency<unsigned>(
      "latency, shfl", 30, STEP { x = __shfl_xor_sync(everyLane, x, 1) + y; });
  sweep.latency<unsigned>(
      "latency, ballot", 25, STEP { x ^= __ballot_sync(everyLane, x & 1); });
  sweep.latency<unsigned>(
      "latency, reduce_add", 30, STEP { x = __reduce_add_sync(everyLane, x) + y; });
  sweep.latency<unsigned>(
      "latency, syncthreads", 40, STEP {
        x += y;
        __syncthreads();
      });
}

int main(int argc, char** argv) {
  Sweep sweep("control operations", argc, argv);
  branches(sweep);
  barriers(sweep);
  lanes(sweep);
}
