#include "program.h"

__global__ void mandelbrot(unsigned char* image, int width, int height, int limit) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  double cx = -2.0 + 3.0 * x / width, cy = -1.0 + 2.0 * y / height, zx = 0, zy = 0;
  int i = 0;
  while (i < limit) {
    double xx = __dmul_rn(zx, zx), yy = __dmul_rn(zy, zy);
    if (xx + yy > 4.0) break;
    zy = __dadd_rn(__dmul_rn(2.0, __dmul_rn(zx, zy)), cy);
    zx = __dadd_rn(__dsub_rn(xx, yy), cx);
    ++i;
  }
  image[y * width + x] = static_cast<unsigned char>(i);
}

int main() {
  const int width = 150, height = 100;
  DeviceArray<unsigned char> image(width * height);
  mandelbrot<<<dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16)>>>(image.get(), width, height, 200);
  finish();
  auto host = image.host();
  show("image", host);
  for (int y = 0; y < height; y += 10) {
    for (int x = 0; x < width; x += 3) std::putchar(" .:-=+*#%@"[host[y * width + x] * 9 / 200]);
    std::putchar('\n');
  }
}
