#include "program.h"

template <class T>
__global__ void transpose(const T* in, T* out, int width, int height) {
  __shared__ T block[32][33];
  int x = blockIdx.x * 32 + threadIdx.x;
  for (int j = threadIdx.y; j < 32; j += blockDim.y) {
    int y = blockIdx.y * 32 + j;
    if (x < width && y < height) block[j][threadIdx.x] = in[y * width + x];
  }
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  for (int j = threadIdx.y; j < 32; j += blockDim.y) {
    int y = blockIdx.x * 32 + j;
    if (x < height && y < width) out[y * height + x] = block[threadIdx.x][j];
  }
}

template <class T>
void run(const char* name) {
  const int width = 100, height = 77;
  std::vector<T> in(width * height);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<T>(i * 7919);
  DeviceArray<T> device(in), out(in.size());
  transpose<T><<<dim3((width + 31) / 32, (height + 31) / 32), dim3(32, 8)>>>(device.get(), out.get(), width, height);
  finish();
  show(name, out.host());
}

int main() {
  run<unsigned char>("bytes");
  run<short>("shorts");
  run<int>("ints");
  run<double>("doubles");
}
