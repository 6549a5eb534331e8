// Warp functions where warps are torn apart. Lanes that a mask names must find one another wherever they come from;
// which lanes happen to run together where nobody asked is only watched, and goes to standard error.
#include <map>

#include "program.h"

constexpr unsigned kAll = 0xFFFFFFFFu;

__device__ unsigned scramble(unsigned x) {
  x = (x ^ x >> 16) * 0x7FEB352Du;
  return x ^ x >> 15;
}

// Both sides of a branch, and of a branch in it, talk among themselves.
__global__ void branches(const unsigned* in, unsigned* out) {
  const unsigned lane = threadIdx.x & 31, value = in[threadIdx.x];
  unsigned result;
  if (lane & 1) {
    constexpr unsigned odd = 0xAAAAAAAAu;
    result = __shfl_sync(odd, value, lane ^ 2);
    if (lane & 2) result += __reduce_add_sync(0x88888888u, value & 0xFFFF);
    else result ^= __ballot_sync(0x22222222u, value & 1);
    __syncwarp(odd);
    result += __shfl_up_sync(odd, result, 2);
  } else {
    constexpr unsigned even = 0x55555555u;
    for (unsigned i = 0; i < (lane >> 1 & 3); ++i) result = scramble(value + i);
    result = __match_any_sync(even, value & 3);
    result += __shfl_down_sync(even, value, 4, 16);
  }
  __syncwarp();
  out[threadIdx.x] = result + __shfl_xor_sync(kAll, result, 5);
}

// Lanes leave a loop one after the other; those that stay still find each other.
__global__ void loops(const unsigned* in, unsigned* out) {
  const unsigned lane = threadIdx.x & 31;
  unsigned value = in[threadIdx.x], result = 0;
  const unsigned rounds = lane % 7 + 1;
  for (unsigned i = 0; i < 8; ++i) {
    const unsigned staying = __ballot_sync(kAll, i < rounds);  // all are still here
    if (i < rounds) {
      value = scramble(value + __shfl_sync(staying, value, __ffs(staying) - 1));
      result += __popc(__ballot_sync(staying, value & 1)) << i;
    }
  }
  out[threadIdx.x] = result ^ value;
}
__global__ void breaks(const unsigned* in, unsigned* out) {
  const unsigned lane = threadIdx.x & 31;
  unsigned value = in[threadIdx.x], mask = kAll, result = 0;
  for (unsigned i = 0;; ++i) {
    const bool isLast = lane * 2654435761u >> 28 <= i;
    const unsigned staying = __ballot_sync(mask, !isLast);
    if (isLast) break;  // for good: the others name one another only
    mask = staying;
    value = scramble(value ^ __reduce_xor_sync(mask, value));
    result += __shfl_sync(mask, value, 31 - __clz(mask)) + i;
  }
  __syncwarp();
  out[threadIdx.x] = result + __shfl_sync(kAll, result, (lane + 1) & 31);
}

// The cases of a switch meet in parts, a function called from several places meets within each.
__device__ __noinline__ unsigned exchange(unsigned mask, unsigned value) {
  const unsigned lane = threadIdx.x & 31, above = mask & ~((2u << lane) - 1);
  return __shfl_sync(mask, value, __ffs(lane < 31 && above ? above : mask) - 1);
}
__global__ void calls(const unsigned* in, unsigned* out) {
  const unsigned lane = threadIdx.x & 31, value = in[threadIdx.x];
  unsigned result = 0;
  switch (lane % 5) {
    case 0: result = exchange(0x42108421u, value); break;
    case 1: result = exchange(0x84210842u, value + 1);  // falls through, alone
    case 2:
      result += lane % 5 == 1 ? __popc(__ballot_sync(0x84210842u, result & 1))
                              : __popc(__ballot_sync(0x08421084u, value & 1));
      break;
    case 3: {
      const unsigned once = exchange(0x10842108u, value * 3);
      result = exchange(0x10842108u, once);
      break;
    }
    default: result = __reduce_max_sync(0x21084210u, value);
  }
  out[threadIdx.x] = result + __reduce_min_sync(kAll, result);
}

// Lanes hand values on through shared memory with nothing but __syncwarp between them.
__global__ void passing(const unsigned* in, unsigned* out) {
  __shared__ unsigned cells[64];
  const unsigned lane = threadIdx.x & 31, base = threadIdx.x & 32;
  unsigned value = in[threadIdx.x];
  for (int round = 0; round < 6; ++round) {
    const unsigned low = (1u << (8 + round * 3)) - 1, mask = low >> lane & 1 ? low : ~low;
    if (low >> lane & 1) {  // two groups that change from round to round
      cells[threadIdx.x] = value;
      __syncwarp(mask);
      value = scramble(cells[base + (lane + 1) % __popc(low)]);
      __syncwarp(mask);
    } else {
      cells[threadIdx.x] = value * 5;
      __syncwarp(mask);
      value += cells[base + 31 - (lane - __popc(low))];
      __syncwarp(mask);
    }
  }
  out[threadIdx.x] = value;
}

// Which lanes run together is up to the device. A lane always sees itself, and nobody who cannot be there.
enum Place {
  AtTheStart,
  InABranch,
  InTheOther,
  AfterTheBranch,
  InALoop,
  AfterTheLoop,
  InACase,
  AfterTheSwitch,
  AfterAReturn,
  Places
};

__device__ __noinline__ unsigned sometimes(unsigned lane) {
  if (lane % 3 == 0) return lane;
  unsigned x = lane;
  for (unsigned i = 0; i < lane; ++i) x = scramble(x);
  return x;
}
__global__ void watch(unsigned* seen, unsigned* sink) {
  const unsigned lane = threadIdx.x & 31;
  unsigned* row = seen + threadIdx.x * Places;
  unsigned x = lane;
  row[AtTheStart] = __activemask();
  if (lane < 12) {
    x = scramble(x), row[InABranch] = __activemask();
  } else {
    x += 3, row[InTheOther] = __activemask();
  }
  row[AfterTheBranch] = __activemask();
  for (unsigned i = 0; i < lane % 4; ++i) x = scramble(x + i), row[InALoop] = __activemask();
  row[AfterTheLoop] = __activemask();
  switch (lane % 3) {
    case 0: x = scramble(x), row[InACase] = __activemask(); break;
    case 1: x += 1; break;
    default: x ^= 0x55;
  }
  row[AfterTheSwitch] = __activemask();
  x += sometimes(lane);
  row[AfterAReturn] = __activemask();
  sink[threadIdx.x] = x;
}

int main() {
  Random random;
  std::vector<unsigned> in(64);
  for (unsigned& value : in) value = random.next();
  DeviceArray<unsigned> device(in);
  void (*const kernels[])(const unsigned*, unsigned*) = {branches, loops, breaks, calls, passing};
  const char* const names[] = {"branches", "loops", "breaks", "calls", "passing"};
  for (int i = 0; i < 5; ++i) {
    DeviceArray<unsigned> out(64);
    kernels[i]<<<1, 64>>>(device.get(), out.get());
    finish();
    show(names[i], out.host(), 8);
  }
  DeviceArray<unsigned> seen(std::vector<unsigned>(64 * Places, 0)), sink(64);
  watch<<<1, 64>>>(seen.get(), sink.get());
  finish();
  show("watched", sink.host());
  static const char* const places[] = {"at the start",     "in a branch",      "in the other",
                                       "after the branch", "in a loop",        "after the loop",
                                       "in a case",        "after the switch", "after a return"};
  const std::vector<unsigned> masks = seen.host();
  for (int place = 0; place < Places; ++place) {
    std::map<unsigned, unsigned> found;
    unsigned impossible = 0;
    for (unsigned thread = 0; thread < 64; ++thread) {
      const unsigned lane = thread % 32, mask = masks[thread * Places + place];
      const bool isHere = place == InABranch    ? lane < 12
                          : place == InTheOther ? lane >= 12
                          : place == InALoop    ? lane % 4 != 0
                          : place == InACase    ? lane % 3 == 0
                                                : true;
      const unsigned possible = place == InABranch    ? 0xFFFu
                                : place == InTheOther ? ~0xFFFu
                                : place == InALoop    ? 0xEEEEEEEEu
                                : place == InACase    ? 0x49249249u
                                                      : kAll;
      if (!isHere) continue;
      ++found[mask];
      impossible += !(mask >> lane & 1) || (mask & ~possible);
    }
    std::printf("%s: %u impossible\n", places[place], impossible);
    std::fprintf(stderr, "%s:", places[place]);
    for (const auto& [mask, count] : found) std::fprintf(stderr, " %08x:%u", mask, count);
    std::fprintf(stderr, "\n");
  }
}
