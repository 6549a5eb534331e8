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

// Some threads add products of what lies in dynamic memory, while others store small numbers in static memory.
__global__ void products(const float* in, const float* factors, float* out) {
  __shared__ float last[8];
  float* values = reinterpret_cast<float*>(dynamic);
  const int i = threadIdx.x, n = blockDim.x;
  values[i] = in[i];
  __syncthreads();
  float sum = i < 9 ? 0 : -1e-20f;
  if (i < 9)
    for (int k = 0; k < n; ++k) sum += values[k] * factors[i * n + k];
  if (i % 32 == 0) last[i / 32] = sum;
  __syncthreads();
  float all = 0;
  for (int k = 1; k < 8; ++k) all += last[k];
  if (i < 9) out[i] = sum + last[0] + all;
}

// Whole numbers, so that the sums are exact in any order.
bool areProductsRight(Random& random) {
  const int n = 256;
  std::vector<float> in(n), factors(9 * n), want(9);
  for (auto& value : in) value = static_cast<float>(1 + random.next() % 15);
  for (auto& value : factors) value = static_cast<float>(1 + random.next() % 15);
  for (int i = 0; i < 9; ++i)
    for (int k = 0; k < n; ++k) want[i] += in[k] * factors[i * n + k];
  DeviceArray<float> deviceIn(in), deviceFactors(factors), out(9);
  bool right = true;
  for (int round = 0; round < 20; ++round) {
    products<<<1, n, n * sizeof(float)>>>(deviceIn.get(), deviceFactors.get(), out.get());
    finish();
    const std::vector<float> got = out.host();
    for (int i = 0; i < 9; ++i) right &= got[i] == want[i] + want[0];
  }
  return right;
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
  std::printf("products: %s\n", areProductsRight(random) ? "right" : "wrong");
  carve<<<1, 32, 1 << 20>>>(device.get(), nullptr, 32);
  std::printf("too much: %s\n", cudaGetErrorName(cudaGetLastError()));
}
