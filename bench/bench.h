// What the CUDA benchmarks share. The same program runs natively and under `mulciber run`; compare.py alternates the
// two. A benchmark prints one line for each number: name, value, unit, group and check, with tabs between. The check is
// what the timed work computed: two runs whose checks differ have not done the same work.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                                   \
  do {                                                                                                \
    cudaError_t status = (call);                                                                      \
    if (status != cudaSuccess) {                                                                      \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status)); \
      std::exit(1);                                                                                   \
    }                                                                                                 \
  } while (0)

inline double microseconds() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class T>
T* deviceArray(size_t count) {
  T* data;
  CHECK(cudaMalloc(&data, count * sizeof(T)));
  return data;
}

template <class T>
T* deviceCopy(const std::vector<T>& values) {
  T* data = deviceArray<T>(values.size());
  CHECK(cudaMemcpy(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return data;
}

inline void report(const char* group, const char* name, double value, const char* unit,
                   const std::string& check = "-") {
  std::printf("%s\t%.3f\t%s\t%s\t%s\n", name, value, unit, group, check.c_str());
  std::fflush(stdout);
}

// Random numbers, the same on every machine.
inline unsigned next() {
  static uint64_t state = 88172645463325252ull;
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return unsigned(state >> 16);
}

namespace bench {

__device__ __forceinline__ uint64_t mix(uint64_t x) {
  x = (x ^ x >> 33) * 0xff51afd7ed558ccdull;
  x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53ull;
  return x ^ x >> 33;
}
__global__ void hashWords(const uint32_t* words, size_t count, bool ordered, unsigned long long* hash) {
  uint64_t sum = 0;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x)
    sum += mix(words[i] + (ordered ? i << 32 : 0) + 1);
  atomicAdd(hash, sum);
}
template <class T>
__global__ void sumMagnitudes(const T* values, size_t count, double* sums) {
  double sum = 0;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x)
    sum += fabs(double(values[i])) * (1 + i % 1021);  // weighted: places matter
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
template <class T>
__global__ void fillRandom(T* out, size_t count, T scale, T offset) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x)
    out[i] = T(mix(i + 1) >> 40) * scale + offset;
}

}  // namespace bench

// Values offset + scale * (0 to 2^24).
template <class T>
T* randomArray(size_t count, T scale, T offset) {
  T* data = deviceArray<T>(count);
  bench::fillRandom<<<528, 256>>>(data, count, scale, offset);
  CHECK(cudaGetLastError());
  return data;
}
inline float* randomFloats(size_t count) { return randomArray<float>(count, 1 / 16777216.0f, 0.1f); }

// The check of results that must be the same bit for bit; of Unordered ones, in any order.
enum Order { Ordered, Unordered };
template <class T>
std::function<std::string()> exactly(const T* data, size_t count, Order order = Ordered) {
  static_assert(sizeof(T) % 4 == 0 || sizeof(T) < 4);
  return [=] {
    auto* hash = deviceArray<unsigned long long>(1);
    CHECK(cudaMemset(hash, 0, sizeof *hash));
    bench::hashWords<<<528, 256>>>((const uint32_t*)data, count * sizeof(T) / 4, order == Ordered, hash);
    unsigned long long value;
    CHECK(cudaMemcpy(&value, hash, sizeof value, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(hash));
    char text[20];
    std::snprintf(text, sizeof text, "%016llx", value);
    return std::string(text);
  };
}

// The check of results that go through approximate instructions: a mean of magnitudes, which compare.py lets differ a
// little.
template <class T>
std::function<std::string()> about(const T* data, size_t count) {
  return [=] {
    std::vector<double> sums(132 * 256);
    double* device = deviceArray<double>(sums.size());
    bench::sumMagnitudes<<<132, 256>>>(data, count, device);
    CHECK(cudaMemcpy(sums.data(), device, sums.size() * 8, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device));
    double sum = 0;
    for (double value : sums) sum += value;
    char text[40];
    std::snprintf(text, sizeof text, "~%.9g", sum / double(count));
    return std::string(text);
  };
}

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

// Median device time of one call of `work`, by events; warm after the first calls.
inline double deviceTime(const std::function<void()>& work, int repeats = 15) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  for (int i = 0; i < 3; ++i) work();
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  std::vector<double> times(repeats);
  for (double& time : times) {
    float milliseconds;
    CHECK(cudaEventRecord(begin));
    work();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    time = milliseconds * 1000.0;
  }
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  return median(times);
}

// Median host time of one call.
inline double hostTime(const std::function<void()>& work, int repeats = 50) {
  for (int i = 0; i < 5; ++i) work();
  std::vector<double> times(repeats);
  for (double& time : times) {
    double start = microseconds();
    work();
    time = microseconds() - start;
  }
  return median(times);
}

// The benchmarks of one program: every kernel is one line. With --small, work is cut to what a CPU does in a moment: to
// try the kernels, not to time them.
class Suite {
 public:
  Suite(const char* group, int argc, char** argv)
      : group_(group), small_(argc > 1 && !std::strcmp(argv[1], "--small")) {}
  int size(int full, int small) const { return small_ ? small : full; }
  void run(const char* name, const std::function<void()>& work, const std::function<std::string()>& check) const {
    double time = deviceTime(work, small_ ? 1 : 15);
    report(group_, name, time, "us", check());
  }

 private:
  const char* group_;
  bool small_;
};
