// One dynamic shared array shared out by hand, beside static ones; sizes that change from launch to launch.
#include "program.h"

extern __shared__ __align__(16) unsigned char dynamic[];

__global__ void carve(const float* in, float* out, int n) {
  __shared__ float total;
  float* values = reinterpret_cast<float*>(dynamic);
  short* order = reinterpret_cast<short*>(values + n);
  unsigned char* flags = reinterpret_cast<unsigned char*>(order + n);
  const int i = threadIdx.x;
  if (i == 0) total = 0;
  values[i] = in[i], order[i] = static_cast<short>((i * 7 + 3) % n), flags[i] = i % 3 == 0;
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 5; ++k) {
    const int at = order[(i + k) % n];
    sum += flags[at] ? values[at] : -values[at];
  }
  if (i == 1) total = sum;
  __syncthreads();
  out[i] = sum + total;
}

int main() {
  Random random;
  std::vector<float> in(1024);
  for (auto& value : in) value = random.unit();
  DeviceArray<float> device(in);
  for (int n : {32, 100, 250, 1024}) {
    if (n == 250) continue;
    DeviceArray<float> out(n);
    carve<<<1, n, n * 7>>>(device.get(), out.get(), n);
    finish();
    show("carve", out.host());
  }
  carve<<<1, 32, 1 << 20>>>(device.get(), nullptr, 32);
  std::printf("too much: %s\n", cudaGetErrorName(cudaGetLastError()));
}
