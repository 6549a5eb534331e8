// Kernels bound by arithmetic: products, transforms, simulations.
#include <cuda_fp16.h>

#include "bench.h"

template <class T, int tile>
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
// 64x64 tile of C for each block, 4x4 for each thread.
__global__ void matmulBlocked(const float* a, const float* b, float* c, int n) {
  __shared__ float as[16][64], bs[16][64];
  int tx = threadIdx.x, ty = threadIdx.y, thread = ty * 16 + tx;
  int rowBase = blockIdx.y * 64, columnBase = blockIdx.x * 64;
  float sum[4][4] = {};
  for (int k = 0; k < n; k += 16) {
    for (int i = thread; i < 1024; i += 256) {
      as[i % 16][i / 16] = a[(rowBase + i / 16) * n + k + i % 16];
      bs[i / 64][i % 64] = b[(k + i / 64) * n + columnBase + i % 64];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      float x[4], y[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) x[j] = as[i][ty * 4 + j], y[j] = bs[i][tx * 4 + j];
#pragma unroll
      for (int j = 0; j < 4; ++j)
#pragma unroll
        for (int l = 0; l < 4; ++l) sum[j][l] += x[j] * y[l];
    }
    __syncthreads();
  }
  for (int j = 0; j < 4; ++j)
    for (int l = 0; l < 4; ++l) c[(rowBase + ty * 4 + j) * n + columnBase + tx * 4 + l] = sum[j][l];
}
// As matmulBlocked, in pairs of halfs: 64x128 of C for each block, 4x8 for each thread.
__global__ void matmulHalf(const __half2* a, const __half2* b, __half2* c, int n) {
  __shared__ __half as[16][64];
  __shared__ __half2 bs[16][64];
  int tx = threadIdx.x, ty = threadIdx.y, thread = ty * 16 + tx, pairs = n / 2;
  int rowBase = blockIdx.y * 64, columnBase = blockIdx.x * 64;
  __half2 sum[4][4] = {};
  for (int k = 0; k < n; k += 16) {
    for (int i = thread; i < 512; i += 256) {
      __half2 pair = a[(rowBase + i / 8) * pairs + k / 2 + i % 8];
      as[i % 8 * 2][i / 8] = pair.x, as[i % 8 * 2 + 1][i / 8] = pair.y;
    }
    for (int i = thread; i < 1024; i += 256) bs[i / 64][i % 64] = b[(k + i / 64) * pairs + columnBase + i % 64];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      __half2 x[4], y[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) x[j] = __half2half2(as[i][ty * 4 + j]), y[j] = bs[i][tx * 4 + j];
#pragma unroll
      for (int j = 0; j < 4; ++j)
#pragma unroll
        for (int l = 0; l < 4; ++l) sum[j][l] = __hfma2(x[j], y[l], sum[j][l]);
    }
    __syncthreads();
  }
  for (int j = 0; j < 4; ++j)
    for (int l = 0; l < 4; ++l) c[(rowBase + ty * 4 + j) * pairs + columnBase + tx * 4 + l] = sum[j][l];
}
__global__ void fillHalf(__half* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __float2half((i * 2654435761u >> 24) / 4096.0f);
}

// Compared with a tolerance: ptxas fuses products and sums that PTX leaves apart. A complex transform of 4096 points
// for each block, eight points for each thread (Stockham's order).
__device__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ float2 operator-(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
__device__ float2 operator*(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
__device__ float2 quarter(float2 a) { return make_float2(a.y, -a.x); }

template <int radix>
__device__ void butterfly(float2* v);
template <>
__device__ void butterfly<2>(float2* v) {
  float2 a = v[0];
  v[0] = a + v[1], v[1] = a - v[1];
}
template <>
__device__ void butterfly<4>(float2* v) {
  float2 a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3], d = quarter(v[1] - v[3]);
  v[0] = a + c, v[1] = b + d, v[2] = a - c, v[3] = b - d;
}
template <>
__device__ void butterfly<8>(float2* v) {
  const float root = 0.70710678f;
  float2 even[4] = {v[0], v[2], v[4], v[6]}, odd[4] = {v[1], v[3], v[5], v[7]};
  butterfly<4>(even), butterfly<4>(odd);
  odd[1] = odd[1] * make_float2(root, -root), odd[2] = quarter(odd[2]), odd[3] = odd[3] * make_float2(-root, -root);
#pragma unroll
  for (int i = 0; i < 4; ++i) v[i] = even[i] + odd[i], v[i + 4] = even[i] - odd[i];
}
template <int radix>
__global__ void fft(const float2* in, float2* out, const float2* roots) {
  constexpr int n = 4096, threads = 512, each = n / threads / radix;
  __shared__ float2 data[n];
  for (int i = threadIdx.x; i < n; i += threads) data[i] = in[blockIdx.x * n + i];
  __syncthreads();
  for (int span = 1; span < n; span *= radix) {
    float2 v[each][radix];
#pragma unroll
    for (int e = 0; e < each; ++e) {
      int j = threadIdx.x + e * threads, phase = j % span;
#pragma unroll
      for (int r = 0; r < radix; ++r) {
        float2 value = data[j + r * (n / radix)];
        v[e][r] = r ? value * roots[phase * r * (n / (span * radix))] : value;
      }
      butterfly<radix>(v[e]);
    }
    __syncthreads();
#pragma unroll
    for (int e = 0; e < each; ++e) {
      int j = threadIdx.x + e * threads, phase = j % span;
#pragma unroll
      for (int r = 0; r < radix; ++r) data[(j - phase) * radix + phase + r * span] = v[e][r];
    }
    __syncthreads();
  }
  for (int i = threadIdx.x; i < n; i += threads) out[blockIdx.x * n + i] = data[i];
}

__global__ void nbody(const float4* positions, float4* out, int n) {
  __shared__ float4 shared[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 self = positions[i];
  float x = 0, y = 0, z = 0;
  for (int start = 0; start < n; start += 256) {
    shared[threadIdx.x] = positions[start + threadIdx.x];
    __syncthreads();
#pragma unroll 16
    for (int j = 0; j < 256; ++j) {
      float4 p = shared[j];
      float dx = p.x - self.x, dy = p.y - self.y, dz = p.z - self.z;
      float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f), force = p.w * inverse * inverse * inverse;
      x += dx * force, y += dy * force, z += dz * force;
    }
    __syncthreads();
  }
  out[i] = make_float4(x, y, z, 0);
}
__global__ void blackScholes(const float* price, const float* strike, const float* years, float* call, float* put,
                             int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = price[i], x = strike[i], t = years[i], root = sqrtf(t);
  float d1 = (logf(s / x) + (0.02f + 0.5f * 0.3f * 0.3f) * t) / (0.3f * root), d2 = d1 - 0.3f * root;
  float n1 = normcdff(d1), n2 = normcdff(d2), discount = expf(-0.02f * t);
  call[i] = s * n1 - x * discount * n2;
  put[i] = x * discount * (1 - n2) - s * (1 - n1);
}
__global__ void monteCarlo(unsigned* hits, int samples) {
  unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, state = thread * 747796405u + 2891336453u, inside = 0;
  for (int i = 0; i < samples; ++i) {
    state = state * 747796405u + 2891336453u;
    float x = (state >> 8) * (1.0f / 16777216.0f);
    state = state * 747796405u + 2891336453u;
    float y = (state >> 8) * (1.0f / 16777216.0f);
    inside += x * x + y * y < 1.0f;
  }
  hits[thread] = inside;
}
__global__ void mandelbrot(unsigned char* image, int width, int height, int limit) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float cx = -2.0f + 3.0f * x / width, cy = -1.0f + 2.0f * y / height, zx = 0, zy = 0;
  int i = 0;
  for (; i < limit && zx * zx + zy * zy < 4.0f; ++i) {
    float t = zx * zx - zy * zy + cx;
    zy = 2 * zx * zy + cy, zx = t;
  }
  image[y * width + x] = i;
}

// Rays into 64 spheres, each ray reflected up to three times.
__constant__ float4 spheres[64];
__global__ void castRays(float* image, int width, int height) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  float ox = 0, oy = 0, oz = -4, dx = 2.0f * px / width - 1, dy = 2.0f * py / height - 1, dz = 1, light = 0, weight = 1;
  float scale = 1 / sqrtf(dx * dx + dy * dy + dz * dz);
  dx *= scale, dy *= scale, dz *= scale;
  for (int bounce = 0; bounce < 4; ++bounce) {
    float nearest = 1e30f;
    int hit = -1;
    for (int i = 0; i < 64; ++i) {
      float4 s = spheres[i];
      float x = s.x - ox, y = s.y - oy, z = s.z - oz, along = x * dx + y * dy + z * dz;
      float discriminant = along * along - (x * x + y * y + z * z) + s.w * s.w;
      if (discriminant <= 0) continue;
      float distance = along - sqrtf(discriminant);
      if (distance > 1e-3f && distance < nearest) nearest = distance, hit = i;
    }
    if (hit < 0) {
      light += weight * (0.5f + 0.5f * dy);
      break;
    }
    float4 s = spheres[hit];
    ox += dx * nearest, oy += dy * nearest, oz += dz * nearest;
    float nx = (ox - s.x) / s.w, ny = (oy - s.y) / s.w, nz = (oz - s.z) / s.w, facing = dx * nx + dy * ny + dz * nz;
    light += weight * 0.3f * fabsf(nx);
    weight *= 0.6f;
    dx -= 2 * facing * nx, dy -= 2 * facing * ny, dz -= 2 * facing * nz;
  }
  image[py * width + px] = light;
}

// About 10,000 instructions without a branch.
__global__ void unrolled(float* out, float seed) {
  unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  float x = thread * 1e-6f + seed, y = x * 0.5f, z = 1 - x;
#pragma unroll
  for (int i = 0; i < 1700; ++i) {
    x = x * (0.4f + i * 1e-5f) + y;
    y = y * 0.25f - z * (0.3f + i * 2e-5f);
    z = z * 0.5f + fminf(x, 0.7f + i * 1e-4f);
  }
  out[thread] = x + y + z;
}

int main(int argc, char** argv) {
  Suite suite("numeric", argc, argv);
  const int n = suite.size(1 << 25, 1 << 18);
  float *a = randomFloats(n), *b = randomArray<float>(n, 1e-7f, 0.3f), *c = deviceArray<float>(n);
  CHECK(cudaMemset(c, 0, n * 4ull));
  int *ia = randomArray<int>(n, 1, -(1 << 23)), *ic = (int*)c;
  double *da = randomArray<double>(n / 2, 1e-7, 0.1), *dc = (double*)c;

  const int side = suite.size(2048, 128), half = side / 2;
  suite.run(
      "matmul 32x32 tiles", [&] { matmul<float, 32><<<dim3(side / 32, side / 32), dim3(32, 32)>>>(a, b, c, side); },
      exactly(c, side * side));
  suite.run(
      "matmul 4x4 per thread", [&] { matmulBlocked<<<dim3(side / 64, side / 64), dim3(16, 16)>>>(a, b, c, side); },
      exactly(c, side * side));
  suite.run(
      "matmul double", [&] { matmul<double, 16><<<dim3(half / 16, half / 16), dim3(16, 16)>>>(da, da, dc, half); },
      exactly(dc, half * half));
  suite.run(
      "matmul int", [&] { matmul<int, 32><<<dim3(half / 32, half / 32), dim3(32, 32)>>>(ia, ia, ic, half); },
      exactly(ic, half * half));
  __half* h = deviceArray<__half>(side * side);
  fillHalf<<<side * side / 256, 256>>>(h, side * side);
  suite.run(
      "matmul half, 4x8 per thread",
      [&] { matmulHalf<<<dim3(side / 128, side / 64), dim3(16, 16)>>>((__half2*)h, (__half2*)h, (__half2*)c, side); },
      exactly(c, side * side / 2));

  std::vector<float2> roots(4096);
  for (int i = 0; i < 4096; ++i) {
    double angle = -2 * 3.14159265358979323846 * i / 4096;
    roots[i] = make_float2(float(cos(angle)), float(sin(angle)));
  }
  float2* r = deviceCopy(roots);
  const int transforms = n / 2 / 4096;
  suite.run(
      "FFT radix 2", [&] { fft<2><<<transforms, 512>>>((float2*)a, (float2*)c, r); }, about(c, n));
  suite.run(
      "FFT radix 4", [&] { fft<4><<<transforms, 512>>>((float2*)a, (float2*)c, r); }, about(c, n));
  suite.run(
      "FFT radix 8", [&] { fft<8><<<transforms, 512>>>((float2*)a, (float2*)c, r); }, about(c, n));

  const int bodies = suite.size(32768, 1024), options = n / 2;
  suite.run(
      "n-body", [&] { nbody<<<bodies / 256, 256>>>((float4*)a, (float4*)c, bodies); }, about(c, bodies * 4));
  suite.run(
      "Black-Scholes", [&] { blackScholes<<<options / 256, 256>>>(a, b, a + options, c, c + options, options); },
      about(c, n));
  const int blocks = suite.size(132 * 8, 8);
  suite.run(
      "Monte Carlo", [&] { monteCarlo<<<blocks, 256>>>((unsigned*)c, 2000); }, exactly(c, blocks * 256));
  const int image = suite.size(2048, 64);
  suite.run(
      "Mandelbrot",
      [&] { mandelbrot<<<dim3(image / 16, image / 16), dim3(16, 16)>>>((unsigned char*)c, image, image, 500); },
      exactly(c, image * image / 4));
  std::vector<float4> scene(64);
  for (auto& s : scene)
    s = make_float4(next() % 400 / 100.0f - 2, next() % 400 / 100.0f - 2, next() % 400 / 100.0f,
                    0.2f + next() % 30 / 100.0f);
  CHECK(cudaMemcpyToSymbol(spheres, scene.data(), sizeof(float4) * scene.size()));
  suite.run(
      "ray casting", [&] { castRays<<<dim3(image / 16, image / 16), dim3(16, 16)>>>(c, image, image); },
      about(c, image * image));
  suite.run(
      "10,000 instructions", [&] { unrolled<<<blocks, 256>>>(c, 0.25f); }, about(c, blocks * 256));
}
