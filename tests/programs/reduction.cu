#include "program.h"

__inline__ __device__ unsigned long long warpSum(unsigned long long value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xFFFFFFFFu, value, offset);
  return value;
}

__global__ void sum(const unsigned* in, int n, unsigned long long* out) {
  __shared__ unsigned long long partial[32];
  unsigned long long value = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value += in[i];
  value = warpSum(value);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x < 32) {
    value = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
    value = warpSum(value);
    if (threadIdx.x == 0) atomicAdd(out, value);
  }
}

// The textbook form, with a barrier in every step.
__global__ void maximum(const unsigned* in, int n, unsigned* out) {
  extern __shared__ unsigned shared[];
  unsigned best = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) best = max(best, in[i]);
  shared[threadIdx.x] = best;
  __syncthreads();
  for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) shared[threadIdx.x] = max(shared[threadIdx.x], shared[threadIdx.x + step]);
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicMax(out, shared[0]);
}

int main() {
  const int n = 1 << 18;
  Random random;
  std::vector<unsigned> in(n);
  for (auto& value : in) value = random.next();
  DeviceArray<unsigned> device(in);
  DeviceArray<unsigned long long> total(std::vector<unsigned long long>{0});
  DeviceArray<unsigned> largest(std::vector<unsigned>{0});
  sum<<<64, 256>>>(device.get(), n, total.get());
  maximum<<<64, 256, 256 * sizeof(unsigned)>>>(device.get(), n, largest.get());
  finish();
  show("sum", total.host());
  show("max", largest.host());
}
