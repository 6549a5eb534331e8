// Kernels bound by memory: copies, sums, scans, stencils.
#include "bench.h"

template <class T>
__global__ void copy(const T* in, T* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
__global__ void vectorAdd(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
__global__ void triad(const double* a, const double* b, double* c, double s, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) c[i] = a[i] + s * b[i];
}
// One partial sum for each block, so that the order of the blocks does not matter.
__global__ void reduce(const float* in, float* out, int n) {
  __shared__ float partial[32];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  for (int offset = 16; offset; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
    for (int offset = 16; offset; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
  }
}

// Exclusive prefix sum of a block's values.
__device__ unsigned blockScan(unsigned value, unsigned* total) {
  __shared__ unsigned warps[32];
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = value;
  for (int offset = 1; offset < 32; offset *= 2) {
    unsigned below = __shfl_up_sync(~0u, sum, offset);
    if (lane >= offset) sum += below;
  }
  if (lane == 31) warps[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    unsigned w = lane < blockDim.x / 32 ? warps[lane] : 0;
    for (int offset = 1; offset < 32; offset *= 2) {
      unsigned below = __shfl_up_sync(~0u, w, offset);
      if (lane >= offset) w += below;
    }
    warps[lane] = w;
  }
  __syncthreads();
  *total = warps[blockDim.x / 32 - 1];
  unsigned before = warp ? warps[warp - 1] : 0;
  __syncthreads();
  return before + sum - value;
}
__global__ void scanBlocks(const unsigned* in, unsigned* out, unsigned* totals) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, total;
  uint4 v = ((const uint4*)in)[i];
  unsigned base = blockScan(v.x + v.y + v.z + v.w, &total);
  ((uint4*)out)[i] = make_uint4(base, base + v.x, base + v.x + v.y, base + v.x + v.y + v.z);
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
}
__global__ void scanTotals(unsigned* totals, int blocks) {
  unsigned base = 0;
  for (int start = 0; start < blocks; start += blockDim.x) {
    int i = start + threadIdx.x;
    unsigned value = i < blocks ? totals[i] : 0, total, before = blockScan(value, &total);
    if (i < blocks) totals[i] = base + before;
    base += total;
  }
}
__global__ void addTotals(unsigned* out, const unsigned* totals) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, total = totals[blockIdx.x];
  uint4 v = ((uint4*)out)[i];
  ((uint4*)out)[i] = make_uint4(v.x + total, v.y + total, v.z + total, v.w + total);
}

__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
__global__ void stencil2d(const float* in, float* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1) return;
  int i = y * n + x;
  out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
}
// Nine points of a tile in shared memory.
__global__ void stencil2dDouble(const double* in, double* out, int n) {
  __shared__ double tile[10][34];
  int left = blockIdx.x * 32, top = blockIdx.y * 8;
  for (int i = threadIdx.y * 32 + threadIdx.x; i < 340; i += 256) {
    int x = min(max(left + i % 34 - 1, 0), n - 1), y = min(max(top + i / 34 - 1, 0), n - 1);
    tile[i / 34][i % 34] = in[y * n + x];
  }
  __syncthreads();
  double sum = 0;
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 3; ++x) sum += (x == 1 && y == 1 ? 0.5 : 0.0625) * tile[threadIdx.y + y][threadIdx.x + x];
  out[(top + threadIdx.y) * n + left + threadIdx.x] = sum;
}
__global__ void stencil3d(const double* in, double* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
  if (x == 0 || y == 0 || z == 0 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
  size_t i = (size_t(z) * n + y) * n + x, plane = size_t(n) * n;
  out[i] = 0.25 * in[i] + 0.125 * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - plane] + in[i + plane]);
}

int main(int argc, char** argv) {
  Suite suite("streaming", argc, argv);
  const int n = suite.size(1 << 27, 1 << 18);
  float *a = randomFloats(n), *b = randomArray<float>(n, 1e-7f, 0.3f), *c = deviceArray<float>(n);
  CHECK(cudaMemset(c, 0, n * 4ull));
  double *da = randomArray<double>(n / 2, 1e-7, 0.1), *db = (double*)b, *dc = (double*)c;
  const unsigned* words = (unsigned*)a;
  unsigned* out = (unsigned*)c;

  suite.run(
      "copy 4 bytes", [&] { copy<<<n / 256, 256>>>(a, c, n); }, exactly(c, n));
  suite.run(
      "copy 8 bytes", [&] { copy<<<n / 2 / 256, 256>>>((float2*)b, (float2*)c, n / 2); }, exactly(c, n));
  suite.run(
      "copy 16 bytes", [&] { copy<<<n / 4 / 256, 256>>>((float4*)a, (float4*)c, n / 4); }, exactly(c, n));
  suite.run(
      "vector add", [&] { vectorAdd<<<n / 256, 256>>>(a, b, c, n); }, exactly(c, n));
  suite.run(
      "triad double", [&] { triad<<<132 * 16, 256>>>(da, da, dc, 3.0, n / 2); }, exactly(dc, n / 2));
  suite.run(
      "reduction", [&] { reduce<<<132 * 8, 256>>>(a, c, n); }, exactly(c, 132 * 8));
  unsigned* totals = deviceArray<unsigned>(n / 2048);
  suite.run(
      "scan",
      [&] {
        scanBlocks<<<n / 2 / 1024, 256>>>(words, out, totals);
        scanTotals<<<1, 1024>>>(totals, n / 2 / 1024);
        addTotals<<<n / 2 / 1024, 256>>>(out, totals);
      },
      exactly(out, n / 2));
  const int side = suite.size(8192, 512), cube = suite.size(256, 32);
  suite.run(
      "transpose", [&] { transpose<<<dim3(side / 32, side / 32), dim3(32, 8)>>>(a, c, side); },
      exactly(c, side * side));
  suite.run(
      "stencil 2-D", [&] { stencil2d<<<dim3(side / 32, side / 8), dim3(32, 8)>>>(a, c, side); },
      exactly(c, side * side));
  suite.run(
      "stencil 2-D double, tiles",
      [&] { stencil2dDouble<<<dim3(side / 64, side / 16), dim3(32, 8)>>>(da, dc, side / 2); },
      exactly(dc, side * side / 4));
  suite.run(
      "stencil 3-D double", [&] { stencil3d<<<dim3(cube / 32, cube / 4, cube), dim3(32, 4)>>>(da, db, cube); },
      exactly(db, cube * cube * cube));
}
