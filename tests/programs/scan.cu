#include "program.h"

// Exclusive prefix sum of one block, Blelloch's way.
__global__ void scan(const int* in, int* out, int n) {
  extern __shared__ int temp[];
  int thread = threadIdx.x, offset = 1;
  temp[2 * thread] = in[2 * thread];
  temp[2 * thread + 1] = in[2 * thread + 1];
  for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (thread < d) {
      int a = offset * (2 * thread + 1) - 1, b = offset * (2 * thread + 2) - 1;
      temp[b] += temp[a];
    }
    offset *= 2;
  }
  if (thread == 0) temp[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (thread < d) {
      int a = offset * (2 * thread + 1) - 1, b = offset * (2 * thread + 2) - 1;
      int t = temp[a];
      temp[a] = temp[b];
      temp[b] += t;
    }
  }
  __syncthreads();
  out[2 * thread] = temp[2 * thread];
  out[2 * thread + 1] = temp[2 * thread + 1];
}

// Inclusive, by shuffles within warps.
__global__ void warpScan(const int* in, int* out) {
  int value = in[threadIdx.x], lane = threadIdx.x & 31;
  for (int delta = 1; delta < 32; delta *= 2) {
    int other = __shfl_up_sync(0xFFFFFFFFu, value, delta);
    if (lane >= delta) value += other;
  }
  out[threadIdx.x] = value;
}

int main() {
  const int n = 1024;
  Random random;
  std::vector<int> in(n);
  for (auto& value : in) value = static_cast<int>(random.next() % 2000) - 1000;
  DeviceArray<int> device(in), out(n), warps(n);
  scan<<<1, n / 2, n * sizeof(int)>>>(device.get(), out.get(), n);
  warpScan<<<1, n>>>(device.get(), warps.get());
  finish();
  show("exclusive", out.host());
  show("warps", warps.host());
}
