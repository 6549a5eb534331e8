// Sweeps of small kernels, each a loop over one operation: they show what is slower than native code where no whole
// program does. A kernel is a lambda inside one of four loops; its cost, about how many instructions it is, only makes
// all of them run for about 100 us.
#pragma once

#include <type_traits>

#include "bench.h"

// One step of a chain: x and y become others, z is the same in all threads.
#define STEP [=] __device__([[maybe_unused]] auto& x, [[maybe_unused]] auto& y, [[maybe_unused]] auto z)
// A function of one or two numbers.
#define OF_X [=] __device__(auto x)
#define OF_XY [=] __device__(auto x, auto y)
// Round i of a thread, of all or of its block; what is added to sum is checked.
#define ROUND [=] __device__([[maybe_unused]] unsigned thread, [[maybe_unused]] int i, [[maybe_unused]] unsigned& sum)
#define SHARED_ROUND                                                                                      \
  [=] __device__([[maybe_unused]] auto* shared, [[maybe_unused]] unsigned thread, [[maybe_unused]] int i, \
                 [[maybe_unused]] unsigned& sum)

namespace operations {

constexpr int blockSize = 256, chains = 4;

// All bits of a value, as a sum of words.
template <class T>
__device__ unsigned bits(const T& value) {
  unsigned words[(sizeof(T) + 3) / 4] = {}, sum = 0;
  memcpy(words, &value, sizeof(T));
  for (unsigned word : words) sum += word;
  return sum;
}

template <class T>
constexpr bool isInteger = std::is_integral_v<T> || std::is_same_v<T, unsigned __int128>;

// Integers of all sizes, other numbers from 1 to 2.
template <class T>
__device__ T seed(unsigned n) {
  if constexpr (isInteger<T> && sizeof(T) > 8) return T(bench::mix(n + 1)) << 64 | bench::mix(~n);
  else if constexpr (isInteger<T>) return T(bench::mix(n + 1));
  else return T(1 + float(bench::mix(n + 1) >> 40) / 16777216.0f);
}

template <int Chains, int Unroll, class T, class F>
__global__ void __launch_bounds__(blockSize) chain(unsigned* out, int rounds, T z, F f) {
  unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
  T x[Chains], y[Chains];
#pragma unroll
  for (int k = 0; k < Chains; ++k) x[k] = seed<T>(thread * 8 + k), y[k] = seed<T>(thread * 8 + 4 + k);
#pragma unroll(Unroll)
  for (int i = 0; i < rounds; ++i)
#pragma unroll
    for (int k = 0; k < Chains; ++k) f(x[k], y[k], z);
#pragma unroll
  for (int k = 0; k < Chains; ++k) sum += bits(x[k]) + 3 * bits(y[k]);
  out[thread] = sum;
}

// Sum is unsigned to add up all bits of the results, or T to add up the results.
template <class T, class Sum, class F>
__global__ void __launch_bounds__(blockSize) map(Sum* out, int rounds, T from, T step, F f) {
  unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  T x[chains];
  Sum sums[chains] = {};
#pragma unroll
  for (int k = 0; k < chains; ++k) x[k] = from + step * T(unsigned(bench::mix(thread * 4 + k + 1) >> 40) % rounds);
#pragma unroll 1
  for (int i = 0; i < rounds; ++i)
#pragma unroll
    for (int k = 0; k < chains; ++k) {
      auto value = [&] {
        if constexpr (std::is_invocable_v<F, T, T>) return f(x[k], x[(k + 1) % chains]);
        else return f(x[k]);
      }();
      if constexpr (std::is_same_v<Sum, T>) sums[k] += Sum(value);
      else sums[k] += bits(value);
      x[k] += step;
    }
  out[thread] = sums[0] + sums[1] + sums[2] + sums[3];
}

template <class F>
__global__ void __launch_bounds__(blockSize) repeat(unsigned* out, int rounds, F f) {
  unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
#pragma unroll 4
  for (int i = 0; i < rounds; ++i) f(thread, i, sum);
  out[thread] = sum;
}

constexpr int sharedBytes = 16384;
template <class T, class F>
__global__ void __launch_bounds__(blockSize) repeatShared(unsigned* out, int rounds, F f) {
  __shared__ __align__(16) T shared[sharedBytes / sizeof(T)];
  unsigned sum = 0;
  for (int i = threadIdx.x; i < sharedBytes / 4; i += blockSize)
    reinterpret_cast<unsigned*>(shared)[i] = bench::mix(i + 1) >> 32 & 0x3fffffff;
  __syncthreads();
#pragma unroll 4
  for (int i = 0; i < rounds; ++i) f(shared, threadIdx.x, i, sum);
  __syncthreads();
  for (int i = threadIdx.x; i < sharedBytes / 4; i += blockSize) sum += reinterpret_cast<unsigned*>(shared)[i];
  out[blockIdx.x * blockSize + threadIdx.x] = sum;
}

// The z of chains.
template <class T>
T usual() {
  if constexpr (isInteger<T>) return T(13);
  else return T(1.00001);
}

class Sweep {
 public:
  Sweep(const char* group, int argc, char** argv)
      : suite_(group, argc, argv), blocks_(suite_.size(132 * 8, 2)), out_(deviceArray<unsigned>(threads() * 2)) {}

  int threads() const { return blocks_ * blockSize; }
  int size(int full, int small) const { return suite_.size(full, small); }
  // `cost` is about how many instructions one operation is.
  int rounds(int cost) const { return suite_.size(std::max(4, 2700 / cost), 4); }

  // Four chains in each thread, all threads of the device.
  template <class T, int Unroll = 4, class F>
  void chain(const char* name, int cost, F f, T z = usual<T>()) {
    run(name, out_, [=] { operations::chain<chains, Unroll><<<blocks_, blockSize>>>(out_, rounds(cost), z, f); });
  }
  // One chain in each of few threads: how long one step takes, in about `cycles`.
  template <class T, class F>
  void latency(const char* name, int cycles, F f, T z = usual<T>()) {
    int blocks = suite_.size(132, 2), steps = suite_.size(160000 / cycles, 4);
    suite_.run(
        name, [=] { operations::chain<1, 4><<<blocks, 128>>>(out_, steps, z, f); }, exactly(out_, blocks * 128));
  }
  // A function of numbers between two.
  template <class T, class F>
  void map(const char* name, int cost, T from, T to, F f) {
    int count = rounds(cost);
    run(name, out_,
        [=] { operations::map<<<blocks_, blockSize>>>(out_, count, from, T((to - from) / (2 * count)), f); });
  }
  // One that is approximate in hardware: its results may differ a little.
  template <class T, class F>
  void approximate(const char* name, int cost, T from, T to, F f) {
    int count = rounds(cost);
    T *out = reinterpret_cast<T*>(out_), step = (to - from) / (2 * count);
    suite_.run(
        name, [=] { operations::map<<<blocks_, blockSize>>>(out, count, from, step, f); }, about(out, threads()));
  }
  template <class F>
  void repeat(const char* name, int cost, F f) {
    run(name, out_, [=] { operations::repeat<<<blocks_, blockSize>>>(out_, rounds(cost), f); });
  }
  // As above, where the results are the `count` values at `results`.
  template <class T, class F>
  void repeat(const char* name, int cost, F f, const T* results, size_t count) {
    suite_.run(
        name, [=] { operations::repeat<<<blocks_, blockSize>>>(out_, rounds(cost), f); }, exactly(results, count));
  }
  template <class T, class F>
  void shared(const char* name, int cost, F f) {
    run(name, out_, [=] { operations::repeatShared<T><<<blocks_, blockSize>>>(out_, rounds(cost), f); });
  }
  // Any kernel that writes one word for each thread.
  void run(const char* name, const unsigned* out, const std::function<void()>& work) const {
    suite_.run(name, work, exactly(out, threads()));
  }
  int blocks() const { return blocks_; }
  unsigned* out() const { return out_; }

 private:
  Suite suite_;
  int blocks_;
  unsigned* out_;
};

}  // namespace operations
