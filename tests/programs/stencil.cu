#include "program.h"

__global__ void step(const double* in, double* out, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
  if (x >= nx || y >= ny) return;
  size_t i = (static_cast<size_t>(z) * ny + y) * nx + x;
  if (x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1) {
    out[i] = in[i];
    return;
  }
  double sum = in[i - 1] + in[i + 1];
  sum = sum + (in[i - nx] + in[i + nx]);
  sum = sum + (in[i - static_cast<size_t>(nx) * ny] + in[i + static_cast<size_t>(nx) * ny]);
  out[i] = __dmul_rn(sum, 0.125) + __dmul_rn(in[i], 0.25);
}

int main() {
  const int nx = 37, ny = 29, nz = 17;
  Random random;
  std::vector<double> volume(nx * ny * nz);
  for (auto& value : volume) value = random.unit();
  DeviceArray<double> a(volume), b(volume.size());
  dim3 block(16, 8), grid((nx + 15) / 16, (ny + 7) / 8, nz);
  for (int i = 0; i < 10; ++i) {
    step<<<grid, block>>>(a.get(), b.get(), nx, ny, nz);
    step<<<grid, block>>>(b.get(), a.get(), nx, ny, nz);
  }
  finish();
  show("volume", a.host());
}
