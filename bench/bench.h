// What the CUDA benchmarks share. A benchmark prints one line for each number: name, value, unit. The same program runs
// natively and under `mulciber run`; compare.py alternates the two and prints ratios.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
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

inline void report(const char* name, double value, const char* unit) {
  std::printf("%-28s %12.3f %s\n", name, value, unit);
  std::fflush(stdout);
}

// Median device time of one call of `work`, by events; warm after the first calls.
inline double deviceTime(const std::function<void()>& work, int repeats = 15) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  for (int i = 0; i < 3; ++i) work();
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  std::vector<float> times(repeats);
  for (float& time : times) {
    CHECK(cudaEventRecord(begin));
    work();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&time, begin, end));
  }
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
  return times[repeats / 2] * 1000.0;
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
  std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
  return times[repeats / 2];
}
