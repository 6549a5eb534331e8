#include "program.h"

__global__ void histogram(const unsigned char* data, int n, unsigned* bins) {
  __shared__ unsigned local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[data[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], local[i]);
}

int main() {
  const int n = 200000;
  Random random;
  std::vector<unsigned char> data(n);
  for (auto& value : data) value = static_cast<unsigned char>(random.next() & random.next());
  DeviceArray<unsigned char> device(data);
  DeviceArray<unsigned> bins(std::vector<unsigned>(256, 0));
  histogram<<<40, 128>>>(device.get(), n, bins.get());
  finish();
  show("bins", bins.host(), 8);
}
