// Kernels of NVIDIA's own libraries: Thrust and CUB.
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/sort.h>
#include <thrust/unique.h>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "bench.h"

// Thrust's temporary memory, taken once: this is about kernels, not about allocation.
struct Pool {
  using value_type = char;
  char* memory;
  size_t used = 0;
  char* allocate(std::ptrdiff_t bytes) {
    char* result = memory + used;
    used += (size_t(bytes) + 255) / 256 * 256;
    return result;
  }
  void deallocate(char*, size_t) {}
};

int main(int argc, char** argv) {
  Suite suite("libraries", argc, argv);
  const int n = suite.size(1 << 24, 1 << 14);
  unsigned *a = randomArray<unsigned>(n, 1, 0), *b = deviceArray<unsigned>(n);
  char* memory = deviceArray<char>(size_t(n) * 16 + (1 << 24));
  size_t bytes = size_t(n) * 16 + (1 << 24);

  suite.run(
      "CUB reduce", [&] { CHECK(cub::DeviceReduce::Sum(memory, bytes, a, b, n)); }, exactly(b, 1));
  suite.run(
      "CUB scan", [&] { CHECK(cub::DeviceScan::ExclusiveSum(memory, bytes, a, b, n)); }, exactly(b, n));
  thrust::device_ptr<unsigned> sorted(b);
  suite.run(
      "Thrust sort, with a copy",
      [&] {
        Pool pool{memory};
        CHECK(cudaMemcpyAsync(b, a, n * 4ull, cudaMemcpyDeviceToDevice));
        thrust::sort(thrust::cuda::par_nosync(pool), sorted, sorted + n);
      },
      exactly(b, n));
  unsigned* c = deviceArray<unsigned>(n);
  CHECK(cudaMemset(c, 0, n * 4ull));
  suite.run(
      "Thrust unique",
      [&] {
        Pool pool{memory};
        thrust::unique_copy(thrust::cuda::par_nosync(pool), sorted, sorted + n, thrust::device_ptr<unsigned>(c));
      },
      exactly(c, n));
}
