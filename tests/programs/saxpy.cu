#include "program.h"

__global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

int main() {
  const int n = 100003;
  Random random;
  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; ++i) x[i] = random.unit(), y[i] = random.unit();
  DeviceArray<float> dx(x), dy(y);
  saxpy<<<(n + 255) / 256, 256>>>(n, 2.5f, dx.get(), dy.get());
  finish();
  show("y", dy.host());
}
