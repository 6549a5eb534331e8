// What the differential programs share: checked calls, reproducible input, output that shows every bit.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    cudaError_t status = (call);                                                             \
    if (status != cudaSuccess) {                                                             \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status)); \
      std::exit(1);                                                                          \
    }                                                                                        \
  } while (0)

struct Random {
  uint64_t state = 88172645463325252ull;
  uint32_t next() {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return static_cast<uint32_t>(state >> 16);
  }
  float unit() { return static_cast<float>(next() >> 8) * (1.0f / 16777216.0f); }
};

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count) : count_(count) {
    CHECK(cudaMalloc(&data_, count * sizeof(T)));
    CHECK(cudaMemset(data_, 0xCD, count * sizeof(T)));  // what nobody writes must show
  }
  explicit DeviceArray(const std::vector<T>& from) : DeviceArray(from.size()) {
    CHECK(cudaMemcpy(data_, from.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* get() const { return data_; }
  std::vector<T> host() const {
    std::vector<T> copy(count_);
    CHECK(cudaMemcpy(copy.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return copy;
  }

 private:
  T* data_ = nullptr;
  size_t count_;
};

// PTX leaves open which NaN an operation gives, so all are shown as one.
template <class T>
void oneNan(std::vector<T>& values) {
  for (T& value : values)
    if (value != value) value = std::numeric_limits<T>::quiet_NaN();
}

// A hash over all elements, and the first ones bit by bit.
template <class T>
void show(const char* name, const std::vector<T>& values, size_t first = 4) {
  uint64_t hash = 1469598103934665603ull;
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
  for (size_t i = 0; i < values.size() * sizeof(T); ++i) hash = (hash ^ bytes[i]) * 1099511628211ull;
  std::printf("%s: %zu values, hash %016llx:", name, values.size(), static_cast<unsigned long long>(hash));
  for (size_t i = 0; i < first && i < values.size(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, &values[i], sizeof(T) < 8 ? sizeof(T) : 8);
    std::printf(" %0*llx", static_cast<int>(sizeof(T) < 8 ? sizeof(T) * 2 : 16), static_cast<unsigned long long>(bits));
  }
  std::printf("\n");
}

inline void finish() {
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
}
