// Device times of kernels of many kinds.
#include "bench.h"

__global__ void copy4(const float4* in, float4* out, int n) {
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
    if (threadIdx.x == 0) atomicAdd(out, sum);
  }
}
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
__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
__global__ void histogram(const unsigned* in, unsigned* bins, int n) {
  __shared__ unsigned local[256];
  local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[in[i] & 255], 1);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}
__global__ void hash(unsigned* out, int rounds) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < rounds; ++i) x ^= x >> 16, x *= 0x7feb352d, x ^= x >> 15, x *= 0x846ca68b, x ^= x >> 16;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
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
  unsigned state = (blockIdx.x * blockDim.x + threadIdx.x) * 747796405u + 2891336453u, inside = 0;
  for (int i = 0; i < samples; ++i) {
    state = state * 747796405u + 2891336453u;
    float x = (state >> 8) * (1.0f / 16777216.0f);
    state = state * 747796405u + 2891336453u;
    float y = (state >> 8) * (1.0f / 16777216.0f);
    inside += x * x + y * y < 1.0f;
  }
  atomicAdd(hits, inside);
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
__global__ void stencil2d(const float* in, float* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1) return;
  int i = y * n + x;
  out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
}
__global__ void stencil3d(const double* in, double* out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
  if (x == 0 || y == 0 || z == 0 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
  size_t i = (size_t(z) * n + y) * n + x, plane = size_t(n) * n;
  out[i] = 0.25 * in[i] + 0.125 * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - plane] + in[i + plane]);
}
__global__ void sparse(const int* rows, const int* columns, const float* values, const float* x, float* y, int n) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  float sum = 0;
  for (int i = rows[row] + lane; i < rows[row + 1]; i += 32) sum += values[i] * x[columns[i]];
  for (int offset = 16; offset; offset /= 2) sum += __shfl_xor_sync(~0u, sum, offset);
  if (lane == 0) y[row] = sum;
}
__global__ void compact(const int* in, int* out, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  bool keep = i < n && in[i] % 3 == 0;
  unsigned votes = __ballot_sync(~0u, keep);
  int base = 0;
  if (lane == 0 && votes) base = atomicAdd(count, __popc(votes));
  base = __shfl_sync(~0u, base, 0);
  if (keep) out[base + __popc(votes & ((1u << lane) - 1))] = in[i];
}
__global__ void interpreter(const unsigned char* code, int length, int* out, int rounds) {
  int a = threadIdx.x, b = blockIdx.x, c = 7;
  for (int r = 0; r < rounds; ++r)
    for (int pc = 0; pc < length; ++pc) switch (code[pc]) {
        case 0: a += b; break;
        case 1: b ^= c; break;
        case 2: c = c * 5 + 1; break;
        case 3: a -= c; break;
        case 4: b = b << 3 | b >> 29; break;
        case 5: c &= a | 15; break;
        case 6: a = a * b; break;
        case 7:
          if (a & 1) b++;
          break;
        case 8: c += a >> 2; break;
        default: a ^= 0x55;
      }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c;
}
__global__ void sortNetwork(const int* in, int* out) {
  int v[16], base = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
  for (int i = 0; i < 16; ++i) v[i] = in[base + i];
#pragma unroll
  for (int size = 2; size <= 16; size *= 2)
#pragma unroll
    for (int stride = size / 2; stride; stride /= 2)
#pragma unroll
      for (int i = 0; i < 16; ++i)
        if ((i ^ stride) > i && (v[i] > v[i ^ stride]) == !(i & size)) {
          int t = v[i];
          v[i] = v[i ^ stride], v[i ^ stride] = t;
        }
  for (int i = 0; i < 16; ++i) out[base + i] = v[i];
}

static unsigned next() {
  static uint64_t state = 88172645463325252ull;
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return unsigned(state >> 16);
}

int main() {
  const int n = 1 << 27;
  std::vector<float> random(1 << 22);
  for (auto& value : random) value = (next() >> 8) / 16777216.0f + 0.1f;
  float *a = deviceArray<float>(n), *b = deviceArray<float>(n), *c = deviceArray<float>(n);
  for (float* array : {a, b, c})
    for (size_t i = 0; i < size_t(n); i += random.size())
      CHECK(cudaMemcpy(array + i, random.data(), random.size() * 4, cudaMemcpyHostToDevice));
  auto run = [](const char* name, const std::function<void()>& work) { report(name, deviceTime(work), "us"); };

  run("copy float4", [&] { copy4<<<n / 4 / 256, 256>>>((float4*)a, (float4*)c, n / 4); });
  run("vector add", [&] { vectorAdd<<<n / 256, 256>>>(a, b, c, n); });
  run("triad double", [&] { triad<<<132 * 16, 256>>>((double*)a, (double*)b, (double*)c, 3.0, n / 2); });
  run("reduction", [&] { reduce<<<132 * 8, 256>>>(a, c, n); });
  run("matmul 32x32 tiles", [&] { matmul<float, 32><<<dim3(64, 64), dim3(32, 32)>>>(a, b, c, 2048); });
  run("matmul 4x4 per thread", [&] { matmulBlocked<<<dim3(32, 32), dim3(16, 16)>>>(a, b, c, 2048); });
  run("matmul double",
      [&] { matmul<double, 16><<<dim3(64, 64), dim3(16, 16)>>>((double*)a, (double*)b, (double*)c, 1024); });
  run("matmul int", [&] { matmul<int, 32><<<dim3(32, 32), dim3(32, 32)>>>((int*)a, (int*)b, (int*)c, 1024); });
  run("n-body 32768", [&] { nbody<<<128, 256>>>((float4*)a, (float4*)c, 32768); });
  run("transpose 8192", [&] { transpose<<<dim3(256, 256), dim3(32, 8)>>>(a, c, 8192); });
  run("histogram", [&] { histogram<<<132 * 8, 256>>>((unsigned*)a, (unsigned*)c, n); });
  run("integer hash", [&] { hash<<<1 << 14, 256>>>((unsigned*)c, 100); });
  run("Black-Scholes", [&] { blackScholes<<<n / 8 / 256, 256>>>(a, b, a + n / 2, c, c + n / 2, n / 8); });
  run("Monte Carlo", [&] { monteCarlo<<<132 * 8, 256>>>((unsigned*)c, 2000); });
  run("Mandelbrot", [&] { mandelbrot<<<dim3(128, 128), dim3(16, 16)>>>((unsigned char*)c, 2048, 2048, 500); });
  run("stencil 2-D", [&] { stencil2d<<<dim3(256, 1024), dim3(32, 8)>>>(a, c, 8192); });
  run("stencil 3-D double", [&] { stencil3d<<<dim3(8, 64, 256), dim3(32, 4)>>>((double*)a, (double*)c, 256); });
  {
    const int rows = 1 << 16;
    std::vector<int> offsets{0}, columns;
    for (int i = 0; i < rows; ++i) {
      for (unsigned k = 16 + next() % 64; k-- > 0;) columns.push_back(next() % rows);
      offsets.push_back(int(columns.size()));
    }
    int *o = deviceArray<int>(offsets.size()), *k = deviceArray<int>(columns.size());
    CHECK(cudaMemcpy(o, offsets.data(), offsets.size() * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(k, columns.data(), columns.size() * 4, cudaMemcpyHostToDevice));
    run("sparse matrix-vector", [&] { sparse<<<rows / 8, 256>>>(o, k, a, b, c, rows); });
  }
  run("compaction by votes", [&] {
    CHECK(cudaMemsetAsync(c + n / 2, 0, sizeof(int)));
    compact<<<n / 8 / 256, 256>>>((int*)a, (int*)c, (int*)c + n / 2, n / 8);
  });
  {
    std::vector<unsigned char> code(256);
    for (auto& op : code) op = next() % 10;
    unsigned char* d = deviceArray<unsigned char>(256);
    CHECK(cudaMemcpy(d, code.data(), 256, cudaMemcpyHostToDevice));
    run("switch interpreter", [&] { interpreter<<<132 * 8, 128>>>(d, 256, (int*)c, 20); });
  }
  run("sorting network", [&] { sortNetwork<<<n / 16 / 256, 256>>>((int*)a, (int*)c); });
}
