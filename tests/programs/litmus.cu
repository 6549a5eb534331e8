// Litmus tests of the memory model. Outcomes that it forbids are counted and must be none; which of the allowed ones
// were seen depends on the device and goes to standard error.
#include <cuda/atomic>

#include "program.h"

using Word = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
using BlockWord = cuda::atomic_ref<unsigned, cuda::thread_scope_block>;
constexpr auto relaxed = cuda::std::memory_order_relaxed;
constexpr auto acquire = cuda::std::memory_order_acquire;
constexpr auto release = cuda::std::memory_order_release;

enum Test {
  MessagePassing,
  MessageByFences,
  StoreBuffering,
  StoreBufferingSc,
  LoadBuffering,
  Coherence,
  Cumulativity,
  Tests
};

struct Cell {
  unsigned x, pad1[31], y, pad2[31], z, pad3[31];
};

// What one of the threads of a test does with its cell; what it read, two bits for each read.
template <class Ref>
__device__ unsigned act(int test, int role, Cell& c) {
  Ref x(c.x), y(c.y), z(c.z);
  unsigned a = 0, b = 0;
  switch (test) {
    case MessagePassing:
      if (role == 0) x.store(1, relaxed), y.store(1, release);
      else if (role == 1) a = y.load(acquire), b = x.load(relaxed);
      break;
    case MessageByFences:
      if (role == 0) x.store(1, relaxed), __threadfence(), y.store(1, relaxed);
      else if (role == 1) a = y.load(relaxed), __threadfence(), b = x.load(relaxed);
      break;
    case StoreBuffering:
    case StoreBufferingSc:
      if (role == 0) {
        x.store(1, relaxed);
        if (test == StoreBufferingSc) __threadfence();
        a = y.load(relaxed);
      } else if (role == 1) {
        y.store(1, relaxed);
        if (test == StoreBufferingSc) __threadfence();
        a = x.load(relaxed);
      }
      break;
    case LoadBuffering:
      if (role == 0) a = x.load(acquire), y.store(1, release);
      else if (role == 1) a = y.load(acquire), x.store(1, release);
      break;
    case Coherence:
      if (role == 0) x.store(1, relaxed), x.store(2, relaxed);
      else a = x.load(relaxed), b = x.load(relaxed);
      break;
    default:  // a write seen by the second thread must be seen by the third, who learns of it from the second
      if (role == 0) x.store(1, relaxed);
      else if (role == 1) {
        a = x.load(relaxed);
        __threadfence();
        y.store(a, relaxed);
      } else {
        a = y.load(acquire), b = x.load(relaxed);
      }
      break;
  }
  return a | b << 2;
}

template <class Ref>
__device__ void play(int test, int role, Cell* cells, unsigned* seen, int count, int start) {
  for (int i = 0; i < count; ++i) {
    const int at = (i + start) % count;  // the threads meet somewhere in the middle
    seen[at * 3 + role] = act<Ref>(test, role, cells[at]);
  }
}

__global__ void acrossBlocks(int test, Cell* cells, unsigned* seen, int count) {
  if (threadIdx.x == 0 && blockIdx.x < 3) play<Word>(test, blockIdx.x, cells, seen, count, 0);
}
__global__ void acrossWarps(int test, Cell* cells, unsigned* seen, int count) {
  if (threadIdx.x % 32 == 0) play<BlockWord>(test, threadIdx.x / 32, cells, seen, count, 0);
}
__global__ void inShared(int test, unsigned* seen, int rounds) {
  __shared__ Cell cells[16];
  for (int round = 0; round < rounds; ++round) {
    for (unsigned i = threadIdx.x; i < sizeof(cells) / 4; i += blockDim.x) reinterpret_cast<unsigned*>(cells)[i] = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) play<BlockWord>(test, threadIdx.x / 32, cells, seen + round * 48, 16, 0);
    __syncthreads();
  }
}

bool isForbidden(int test, const unsigned* seen) {
  const unsigned a0 = seen[0] & 3, a1 = seen[1] & 3, b1 = seen[1] >> 2, a2 = seen[2] & 3, b2 = seen[2] >> 2;
  switch (test) {
    case MessagePassing:
    case MessageByFences: return a1 == 1 && b1 == 0;
    case StoreBufferingSc: return a0 == 0 && a1 == 0;
    case LoadBuffering: return a0 == 1 && a1 == 1;
    case Coherence: return a1 > b1 || a2 > b2;
    case Cumulativity: return a2 == 1 && b2 == 0;
    default: return false;
  }
}

void judge(const char* where, int test, const std::vector<unsigned>& seen) {
  static const char* const names[] = {"message passing", "message passing by fences",
                                      "store buffering", "store buffering with fences",
                                      "load buffering",  "coherence",
                                      "cumulativity"};
  unsigned forbidden = 0, kinds[4096] = {};
  for (size_t i = 0; i + 2 < seen.size(); i += 3) {
    forbidden += isForbidden(test, &seen[i]);
    ++kinds[(seen[i] & 15) | (seen[i + 1] & 15) << 4 | (seen[i + 2] & 15) << 8];
  }
  std::printf("%s, %s: %u forbidden outcomes\n", names[test], where, forbidden);
  std::fprintf(stderr, "%s, %s:", names[test], where);
  for (int kind = 0; kind < 4096; ++kind)
    if (kinds[kind]) std::fprintf(stderr, " %03x:%u", kind, kinds[kind]);
  std::fprintf(stderr, "\n");
}

int main() {
  constexpr int kCells = 4096, kRounds = 256;
  for (int test = 0; test < Tests; ++test) {
    DeviceArray<Cell> cells(kCells);
    DeviceArray<unsigned> seen(kCells * 3);
    for (int where = 0; where < 3; ++where) {
      CHECK(cudaMemset(cells.get(), 0, kCells * sizeof(Cell)));
      CHECK(cudaMemset(seen.get(), 0, kCells * 12));
      if (where == 0) acrossBlocks<<<8, 32>>>(test, cells.get(), seen.get(), kCells);
      else if (where == 1) acrossWarps<<<1, 96>>>(test, cells.get(), seen.get(), kCells);
      else inShared<<<1, 96>>>(test, seen.get(), kRounds);
      finish();
      judge(where == 0 ? "between blocks" : where == 1 ? "in a block" : "in shared memory", test, seen.host());
    }
  }
}
