#include "program.h"

__global__ void sort(unsigned* data) {
  __shared__ unsigned shared[512];
  unsigned thread = threadIdx.x;
  shared[thread] = data[blockIdx.x * 512 + thread];
  __syncthreads();
  for (unsigned size = 2; size <= 512; size <<= 1) {
    for (unsigned stride = size >> 1; stride > 0; stride >>= 1) {
      unsigned partner = thread ^ stride;
      if (partner > thread) {
        bool ascending = (thread & size) == 0;
        unsigned a = shared[thread], b = shared[partner];
        if ((a > b) == ascending) shared[thread] = b, shared[partner] = a;
      }
      __syncthreads();
    }
  }
  data[blockIdx.x * 512 + thread] = shared[thread];
}

int main() {
  Random random;
  std::vector<unsigned> data(2048);
  for (auto& value : data) value = random.next();
  DeviceArray<unsigned> device(data);
  sort<<<4, 512>>>(device.get());
  finish();
  auto sorted = device.host();
  show("sorted", sorted);
  for (int i = 1; i < 2048; ++i)
    if (i % 512 && sorted[i - 1] > sorted[i]) std::printf("out of order at %d\n", i);
}
