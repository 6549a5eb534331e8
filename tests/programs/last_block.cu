// A sum in one launch: every block publishes its part behind a fence, and the last one adds them up.
#include "program.h"

__device__ unsigned finished = 0;

__global__ void sum(const float* in, int n, volatile float* parts, float* total) {
  __shared__ float shared[128];
  __shared__ bool isLast;
  float mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += in[i];
  shared[threadIdx.x] = mine;
  __syncthreads();
  for (int step = 64; step; step /= 2) {
    if (threadIdx.x < step) shared[threadIdx.x] += shared[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = shared[0];
    __threadfence();
    isLast = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!isLast) return;
  if (threadIdx.x == 0) {
    float all = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) all += parts[i];
    *total = all;
  }
}

int main() {
  Random random;
  std::vector<float> in(50000);
  for (auto& value : in) value = random.unit();
  DeviceArray<float> device(in), parts(64), total(1);
  for (int blocks : {1, 7, 64, 33}) {
    sum<<<blocks, 128>>>(device.get(), 50000, parts.get(), total.get());
    finish();
    show("sum", total.host());
  }
}
