// Products of matrices on tensor cores, C = A * B: with nvcuda::wmma, and with mma.sync on fragments from ldmatrix that
// cp.async brings two stages ahead.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include "bench.h"

namespace {

constexpr int tile = 128, threads = 256;  // of a block: 8 warps of 64 rows by 32 columns

template <class T>
__global__ void fillFactors(T* out, size_t count, uint64_t seed) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x) {
    const int number = int(bench::mix(i + seed) >> 40 & 0xFF) - 128;
    if constexpr (sizeof(T) == 1) out[i] = T(number);
    else out[i] = T(float(number) / 128);
  }
}

// A by rows, B by rows.
template <class T, class Sum>
__global__ void __launch_bounds__(threads) wmmaProduct(const T* a, const T* b, Sum* c, int n) {
  using namespace nvcuda;
  constexpr int depth = 32, padding = 16 / sizeof(T), perLoad = 16 / sizeof(T);
  __shared__ __align__(128) T rows[tile][depth + padding];
  __shared__ __align__(128) T columns[depth][tile + padding];
  const int warp = threadIdx.x / 32, warpRow = warp / 4 * 64, warpColumn = warp % 4 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, Sum> sums[4][2];
  for (auto& row : sums)
    for (auto& sum : row) wmma::fill_fragment(sum, Sum(0));
  for (int k = 0; k < n; k += depth) {
    for (int i = threadIdx.x; i < tile * depth / perLoad; i += threads) {
      const int row = i / (depth / perLoad), column = i % (depth / perLoad) * perLoad;
      *(uint4*)&rows[row][column] = *(const uint4*)&a[size_t(blockIdx.y * tile + row) * n + k + column];
    }
    for (int i = threadIdx.x; i < tile * depth / perLoad; i += threads) {
      const int row = i / (tile / perLoad), column = i % (tile / perLoad) * perLoad;
      *(uint4*)&columns[row][column] = *(const uint4*)&b[size_t(k + row) * n + blockIdx.x * tile + column];
    }
    __syncthreads();
    for (int inner = 0; inner < depth; inner += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> left[4];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::row_major> right[2];
      for (int i = 0; i < 4; ++i) wmma::load_matrix_sync(left[i], &rows[warpRow + 16 * i][inner], depth + padding);
      for (int j = 0; j < 2; ++j)
        wmma::load_matrix_sync(right[j], &columns[inner][warpColumn + 16 * j], tile + padding);
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 2; ++j) wmma::mma_sync(sums[i][j], left[i], right[j], sums[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 2; ++j)
      wmma::store_matrix_sync(
          &c[size_t(blockIdx.y * tile + warpRow + 16 * i) * n + blockIdx.x * tile + warpColumn + 16 * j], sums[i][j], n,
          wmma::mem_row_major);
}

__device__ void multiply(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], __half) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ void multiply(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], __nv_bfloat16) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
// Of tf32.
__device__ void multiply(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], float) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ void multiply(double (&c)[2], double a, double b) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
               : "+d"(c[0]), "+d"(c[1])
               : "d"(a), "d"(b));
}
__device__ void multiply(int (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], signed char) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ void loadFragments(uint32_t (&words)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"((uint32_t)__cvta_generic_to_shared(row)));
}
__device__ void copyAhead(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(to)), "l"(from));
}

// A by rows, B by columns. A stage is of 64 bytes along k.
template <class T, class Sum>
__global__ void __launch_bounds__(threads) mmaProduct(const T* a, const T* b, Sum* c, int n) {
  constexpr int depth = 64, stride = depth + 16, stages = 2;  // in bytes; the padding keeps rows in other banks
  __shared__ __align__(128) char left[stages][tile * stride], right[stages][tile * stride];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warpRow = warp / 4 * 64, warpColumn = warp % 4 * 32;
  const size_t line = size_t(n) * sizeof(T);
  const char* rows = (const char*)a + blockIdx.y * tile * line;
  const char* columns = (const char*)b + blockIdx.x * tile * line;
  auto fetch = [&](int stage, size_t k) {
#pragma unroll
    for (int j = 0; j < tile * depth / 16 / threads; ++j) {
      const int i = threadIdx.x + j * threads, row = i / (depth / 16), at = i % (depth / 16) * 16;
      copyAhead(&left[stage][row * stride + at], rows + row * line + k + at);
      copyAhead(&right[stage][row * stride + at], columns + row * line + k + at);
    }
    asm volatile("cp.async.commit_group;");
  };
  Sum sums[4][4][4] = {};
  fetch(0, 0);
  int stage = 0;
  for (size_t k = 0; k < line; k += depth, stage ^= 1) {
    if (k + depth < line) {
      fetch(stage ^ 1, k + depth);
      asm volatile("cp.async.wait_group 1;");
    } else {
      asm volatile("cp.async.wait_group 0;");
    }
    __syncthreads();
#pragma unroll
    for (int inner = 0; inner < depth; inner += 32) {
      uint32_t parts[4][4], pairs[2][4];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        loadFragments(parts[i], &left[stage][(warpRow + 16 * i + lane % 16) * stride + inner + lane / 16 * 16]);
#pragma unroll
      for (int j = 0; j < 2; ++j)
        loadFragments(
            pairs[j],
            &right[stage][(warpColumn + 16 * j + lane / 16 * 8 + lane % 8) * stride + inner + lane / 8 % 2 * 16]);
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const uint32_t pair[2] = {pairs[j / 2][j % 2 * 2], pairs[j / 2][j % 2 * 2 + 1]};
          multiply(sums[i][j], parts[i], pair, T());
        }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      for (int h = 0; h < 4; ++h) {
        const int row = blockIdx.y * tile + warpRow + 16 * i + lane / 4 + h / 2 * 8;
        c[size_t(row) * n + blockIdx.x * tile + warpColumn + 8 * j + lane % 4 * 2 + h % 2] = sums[i][j][h];
      }
}

// A by rows, B by columns, in blocks of 64 rows and columns: 4 warps of 32 by 32.
__global__ void __launch_bounds__(128) doubleProduct(const double* a, const double* b, double* c, int n) {
  constexpr int side = 64, depth = 16, stride = depth + 4;  // the padding keeps rows in other banks
  __shared__ __align__(16) double left[side * stride], right[side * stride];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warpRow = warp / 2 * 32, warpColumn = warp % 2 * 32;
  double sums[4][4][2] = {};
  for (int k = 0; k < n; k += depth) {
#pragma unroll
    for (int i = threadIdx.x; i < side * depth / 2; i += 128) {
      const int row = i / (depth / 2), at = i % (depth / 2) * 2;
      *(double2*)&left[row * stride + at] = *(const double2*)&a[size_t(blockIdx.y * side + row) * n + k + at];
      *(double2*)&right[row * stride + at] = *(const double2*)&b[size_t(blockIdx.x * side + row) * n + k + at];
    }
    __syncthreads();
#pragma unroll
    for (int inner = 0; inner < depth; inner += 4) {
      double parts[4], columns[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        parts[i] = left[(warpRow + 8 * i + lane / 4) * stride + inner + lane % 4];
        columns[i] = right[(warpColumn + 8 * i + lane / 4) * stride + inner + lane % 4];
      }
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) multiply(sums[i][j], parts[i], columns[j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h)
        c[size_t(blockIdx.y * side + warpRow + 8 * i + lane / 4) * n + blockIdx.x * side + warpColumn + 8 * j +
          lane % 4 * 2 + h] = sums[i][j][h];
}

template <class Sum>
std::function<std::string()> checkOf(const Sum* c, size_t count) {
  if constexpr (sizeof(Sum) == 4 && Sum(0.5f) == Sum(0)) return exactly(c, count);
  else return about(c, count);
}

template <class T, class Sum>
void measure(const Suite& suite, const std::string& type, int n) {
  const size_t count = size_t(n) * n;
  T *a = deviceArray<T>(count), *b = deviceArray<T>(count);
  Sum* c = deviceArray<Sum>(count);
  fillFactors<<<528, 256>>>(a, count, 1);
  fillFactors<<<528, 256>>>(b, count, count + 1);
  const dim3 grid(n / tile, n / tile);
  const std::string size = " " + std::to_string(n);
  if constexpr (sizeof(T) < 4)
    suite.run((type + " wmma" + size).c_str(), [&] { wmmaProduct<T, Sum><<<grid, threads>>>(a, b, c, n); },
              checkOf(c, count));
  if constexpr (sizeof(Sum) == 8)
    suite.run((type + " mma.sync" + size).c_str(), [&] { doubleProduct<<<dim3(n / 64, n / 64), 128>>>(a, b, c, n); },
              checkOf(c, count));
  if constexpr (sizeof(Sum) == 4)
    suite.run((type + " mma.sync" + size).c_str(), [&] { mmaProduct<T, Sum><<<grid, threads>>>(a, b, c, n); },
              checkOf(c, count));
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  CHECK(cudaFree(c));
}

}  // namespace

int main(int argc, char** argv) {
  const Suite suite("matrices", argc, argv);
  const std::vector<int> large{512, 1024, 2048, 4096, 8192}, small{256, 384};
  for (int n : suite.size(1, 0) ? large : small) {
    measure<__half, float>(suite, "f16", n);
    measure<__half, __half>(suite, "f16 sums in f16", n);
    measure<signed char, int>(suite, "s8", n);
    measure<__nv_bfloat16, float>(suite, "bf16", n);
    measure<float, float>(suite, "tf32", n);
    if (n <= 4096) measure<double, double>(suite, "f64", n);
  }
}
