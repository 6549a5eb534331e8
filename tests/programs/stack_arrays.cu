// Arrays sized at run time, and their addresses passed to functions that are not inlined. The host computes the same.
#include <alloca.h>

#include "program.h"

#define BOTH __host__ __device__ __noinline__

template <class T>
BOTH T* reserve(void* memory) {
  return static_cast<T*>(memory);
}

BOTH void fill(unsigned* values, unsigned count, unsigned seed) {
  for (unsigned i = 0; i < count; ++i) values[i] = seed * (i + 3) ^ seed >> 3;
}

BOTH void insertionSort(unsigned* values, unsigned count) {
  for (unsigned i = 1; i < count; ++i) {
    unsigned value = values[i], j = i;
    for (; j > 0 && values[j - 1] > value; --j) values[j] = values[j - 1];
    values[j] = value;
  }
}

BOTH unsigned merge(const unsigned* a, unsigned countA, const unsigned* b, unsigned countB, unsigned* out) {
  unsigned i = 0, j = 0, hash = 0;
  while (i + j < countA + countB) {
    const bool takesA = j == countB || (i < countA && a[i] < b[j]);
    out[i + j] = takesA ? a[i] : b[j];
    hash = hash * 31 + out[i + j];
    ++(takesA ? i : j);
  }
  return hash;
}

BOTH unsigned long long sums(const unsigned* values, unsigned count, unsigned long long* out) {
  unsigned long long sum = 0;
  for (unsigned i = 0; i < count; ++i) out[i] = sum += values[i];
  return out[count / 2];
}

BOTH unsigned level(unsigned count, unsigned seed) {
  const unsigned both = 2 * count + 2;
  auto* a = reserve<unsigned>(alloca(count * sizeof(unsigned)));
  auto* b = reserve<unsigned>(alloca((count + 2) * sizeof(unsigned)));
  auto* merged = reserve<unsigned>(alloca(both * sizeof(unsigned)));
  auto* partial = reserve<unsigned long long>(alloca(both * sizeof(unsigned long long)));
  fill(a, count, seed);
  fill(b, count + 2, seed * 7);
  insertionSort(a, count);
  insertionSort(b, count + 2);
  const unsigned hash = merge(a, count, b, count + 2, merged);
  return hash ^ static_cast<unsigned>(sums(merged, both, partial));
}

BOTH unsigned levels(unsigned thread) {
  const unsigned count = 3 + thread % 9;
  auto* own = reserve<unsigned>(alloca(count * sizeof(unsigned)));
  fill(own, count, thread);
  unsigned sum = 0;
  for (unsigned i = 0; i < count; ++i) sum += level(count - i % 2, own[i]);
  return sum;
}

__global__ void eachLevels(unsigned* out) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  out[thread] = levels(thread);
}

int main() {
  DeviceArray<unsigned> out(4 * 128);
  eachLevels<<<4, 128>>>(out.get());
  finish();
  const std::vector<unsigned> values = out.host();
  unsigned wrong = 0;
  for (unsigned i = 0; i < values.size(); ++i) wrong += values[i] != levels(i);
  show("levels", values);
  std::printf("%u differ from the host's\n", wrong);
}
