// Occupancy questions and what is launched by their answers, launch bounds, cache settings, shared memory that must be
// asked for. CS-034, CS-035, CS-058, CS-085.
#include "program.h"

__global__ void square(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= data[i];
}

__global__ void __launch_bounds__(256) bounded(int* data) { data[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

__global__ void reverse(int* data, int n) {
  extern __shared__ int staged[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) staged[i] = data[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = staged[n - 1 - i];
}

int main() {
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  int blocks = 0, previous = 1 << 30;
  bool inRange = true, falls = true;
  for (int threads = 32; threads <= 1024; threads *= 2) {
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, square, threads, 0));
    const double share = double(blocks) * threads / properties.maxThreadsPerMultiProcessor;
    inRange = inRange && share > 0 && share <= 1;
    falls = falls && blocks <= previous;
    previous = blocks;
  }
  std::printf("occupancy in range: %d, never grows with the block: %d\n", inRange, falls);

  const int n = 100003;
  std::vector<int> numbers(n);
  for (int i = 0; i < n; ++i) numbers[i] = i % 4001 - 2000;
  DeviceArray<int> data(numbers);
  int least = 0, block = 0;
  CHECK(cudaOccupancyMaxPotentialBlockSize(&least, &block, square, 0, n));
  std::printf("a block of whole warps: %d, a grid: %d\n", block % 32 == 0 && block > 0 && block <= 1024, least > 0);
  square<<<(n + block - 1) / block, block>>>(data.get(), n);
  show("squares", data.host());
  CHECK(
      cudaOccupancyMaxPotentialBlockSizeVariableSMem(&least, &block, reverse, [](int threads) { return threads * 4; }));
  std::printf("with shared memory of the block's size: %d\n", block > 0 && block <= 1024);

  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, bounded));
  std::printf("bound: %d\n", attributes.maxThreadsPerBlock);
  bounded<<<2, 512>>>(data.get());
  std::printf("beyond the bound: %s\n", cudaGetErrorName(cudaGetLastError()));
  bounded<<<2, 256>>>(data.get());
  std::printf("within: %s\n", cudaGetErrorName(cudaGetLastError()));

  for (const cudaFuncCache cache :
       {cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual})
    CHECK(cudaFuncSetCacheConfig(reverse, cache));
  for (const int carveout : {-1, 0, 50, 100})
    CHECK(cudaFuncSetAttribute(reverse, cudaFuncAttributePreferredSharedMemoryCarveout, carveout));
  std::printf("carve-out 101: %s\n",
              cudaGetErrorName(cudaFuncSetAttribute(reverse, cudaFuncAttributePreferredSharedMemoryCarveout, 101)));
  cudaGetLastError();
  const int many = 16000, bytes = many * 4;
  reverse<<<1, 512, bytes>>>(data.get(), many);
  std::printf("more than 48 KiB, not asked for: %s\n", cudaGetErrorName(cudaGetLastError()));
  const cudaError_t asked = cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  std::printf("asked for: %s\n", cudaGetErrorName(asked));
  reverse<<<1, 512, bytes>>>(data.get(), many);
  std::printf("launched: %s\n", cudaGetErrorName(cudaGetLastError()));
  show("reversed", data.host());
  finish();
}
