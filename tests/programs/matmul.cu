#include "program.h"

constexpr int tile = 16;

template <class T>
__global__ void matmul(const T* a, const T* b, T* c, int n) {
  __shared__ T as[tile][tile], bs[tile][tile];
  int row = blockIdx.y * tile + threadIdx.y, column = blockIdx.x * tile + threadIdx.x;
  T sum = 0;
  for (int k = 0; k < n; k += tile) {
    as[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < tile; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

template <class T>
void run(const char* name, int scale) {
  const int n = 128;
  Random random;
  std::vector<T> a(n * n), b(n * n);
  for (auto& value : a) value = static_cast<T>(random.unit() * scale);
  for (auto& value : b) value = static_cast<T>(random.unit() * scale);
  DeviceArray<T> da(a), db(b), dc(n * n);
  matmul<T><<<dim3(n / tile, n / tile), dim3(tile, tile)>>>(da.get(), db.get(), dc.get(), n);
  finish();
  show(name, dc.host());
}

int main() {
  run<float>("float", 1);
  run<double>("double", 1);
  run<int>("int", 1000);
  run<long long>("long long", 1000000);
}
