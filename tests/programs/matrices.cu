// Products of matrices by tensor cores: through wmma, and by mma.sync with ldmatrix and copies in stages. All numbers
// are small and whole, so that every order of sums gives the host's result.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cmath>

#include "program.h"

using namespace nvcuda;

constexpr int kRows = 64, kColumns = 96, kInner = 64;

template <class T>
double number(T value) {
  return static_cast<double>(static_cast<float>(value));
}
template <>
double number(double value) {
  return value;
}

template <class T>
std::vector<T> numbers(Random& random, size_t count, bool isSigned) {
  std::vector<T> values;
  for (size_t i = 0; i < count; ++i) values.push_back(T(float(int(random.next() % 13)) - (isSigned ? 6.0f : 0.0f)));
  return values;
}

// Whether a and b lie row by row; what is not as the host computes it is counted.
template <class A, class D>
void check(const char* name, const std::vector<A>& a, bool aRows, const std::vector<A>& b, bool bRows,
           const std::vector<D>& d, double c) {
  int wrong = 0;
  for (int row = 0; row < kRows; ++row)
    for (int column = 0; column < kColumns; ++column) {
      double sum = c;
      for (int k = 0; k < kInner; ++k)
        sum += number(a[aRows ? row * kInner + k : k * kRows + row]) *
               number(b[bRows ? k * kColumns + column : column * kInner + k]);
      wrong += number(d[row * kColumns + column]) != sum;
    }
  std::printf("%s: %d wrong\n", name, wrong);
}

template <class Layout>
constexpr bool isByRows = std::is_same_v<Layout, wmma::row_major>;

// Each warp computes one tile of D = A * B + 3, and adds 1 to each element of the fragment.
template <class A, class Stored, class D, int M, int N, int K, class LayoutA, class LayoutB>
__global__ void tiles(const Stored* a, const Stored* b, D* d) {
  const int row = blockIdx.y * M, column = blockIdx.x * N;
  wmma::fragment<wmma::accumulator, M, N, K, D> sum;
  wmma::fill_fragment(sum, D(3));
  for (int k = 0; k < kInner; k += K) {
    wmma::fragment<wmma::matrix_a, M, N, K, A, LayoutA> left;
    wmma::fragment<wmma::matrix_b, M, N, K, A, LayoutB> right;
    const int lineA = isByRows<LayoutA> ? kInner : kRows, lineB = isByRows<LayoutB> ? kColumns : kInner;
    wmma::load_matrix_sync(left, a + (isByRows<LayoutA> ? row * lineA + k : k * lineA + row), lineA);
    wmma::load_matrix_sync(right, b + (isByRows<LayoutB> ? k * lineB + column : column * lineB + k), lineB);
    wmma::mma_sync(sum, left, right, sum);
  }
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = sum.x[i] + D(1);
  wmma::store_matrix_sync(d + row * kColumns + column, sum, kColumns, wmma::mem_row_major);
}

template <class A, class Stored, class D, int M, int N, int K, class LayoutA, class LayoutB>
void runTiles(const char* name, bool isSigned) {
  Random random;
  const auto a = numbers<Stored>(random, kRows * kInner, isSigned),
             b = numbers<Stored>(random, kInner * kColumns, isSigned);
  DeviceArray<Stored> da(a), db(b);
  DeviceArray<D> dd(kRows * kColumns);
  tiles<A, Stored, D, M, N, K, LayoutA, LayoutB><<<dim3(kColumns / N, kRows / M), 32>>>(da.get(), db.get(), dd.get());
  finish();
  const std::vector<D> d = dd.host();
  check(name, a, isByRows<LayoutA>, b, isByRows<LayoutB>, d, 4);
}

__device__ unsigned sharedAddress(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ void copyAsync(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(sharedAddress(to)), "l"(from));
}

// Two stages of copies to shared memory, ldmatrix from there, mma.sync m16n8k16. Four warps, a block computes 64 x 32.
__global__ void stagedHalves(const __half* a, const __half* b, float* d) {
  __shared__ __align__(16) __half as[2][64][24], bs[2][16][40];
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32, column = blockIdx.x * 32;
  float sum[4][4] = {};
  auto fetch = [&](int stage, int k) {
    copyAsync(&as[stage][thread / 2][thread % 2 * 8], a + thread / 2 * kInner + k + thread % 2 * 8);
    if (thread < 64)
      copyAsync(&bs[stage][thread / 4][thread % 4 * 8], b + (k + thread / 4) * kColumns + column + thread % 4 * 8);
    asm volatile("cp.async.commit_group;");
  };
  fetch(0, 0);
#pragma unroll 1
  for (int k = 0; k < kInner; k += 16) {
    const int stage = k / 16 % 2;
    if (k + 16 < kInner) fetch(1 - stage, k + 16);
    if (k + 16 < kInner) asm volatile("cp.async.wait_group 1;");
    else asm volatile("cp.async.wait_group 0;");
    __syncthreads();
    unsigned left[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(left[0]), "=r"(left[1]), "=r"(left[2]), "=r"(left[3])
                 : "r"(sharedAddress(&as[stage][warp * 16 + lane % 16][lane / 16 * 8])));
    for (int tile = 0; tile < 4; ++tile) {
      unsigned right[2];
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                   : "=r"(right[0]), "=r"(right[1])
                   : "r"(sharedAddress(&bs[stage][lane % 16][tile * 8])));
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
          "{%0, %1, %2, %3};"
          : "+f"(sum[tile][0]), "+f"(sum[tile][1]), "+f"(sum[tile][2]), "+f"(sum[tile][3])
          : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
    }
    __syncthreads();
  }
  for (int tile = 0; tile < 4; ++tile)
    for (int i = 0; i < 4; ++i)
      d[(warp * 16 + lane / 4 + i / 2 * 8) * kColumns + column + tile * 8 + lane % 4 * 2 + i % 2] = sum[tile][i];
}

void runStaged() {
  Random random;
  const auto a = numbers<__half>(random, kRows * kInner, true), b = numbers<__half>(random, kInner * kColumns, true);
  DeviceArray<__half> da(a), db(b);
  DeviceArray<float> dd(kRows * kColumns);
  stagedHalves<<<kColumns / 32, 128>>>(da.get(), db.get(), dd.get());
  finish();
  check("mma.sync, ldmatrix, cp.async", a, true, b, true, dd.host(), 0);
}

int main() {
  using wmma::col_major;
  using wmma::row_major;
  runTiles<__half, __half, float, 16, 16, 16, row_major, row_major>("f16 to f32, 16 16 16, rows and rows", true);
  runTiles<__half, __half, float, 32, 8, 16, col_major, row_major>("f16 to f32, 32 8 16, columns and rows", true);
  runTiles<__half, __half, __half, 16, 16, 16, row_major, col_major>("f16 to f16, 16 16 16, rows and columns", true);
  runTiles<__half, __half, __half, 8, 32, 16, col_major, col_major>("f16 to f16, 8 32 16, columns and columns", true);
  runTiles<__nv_bfloat16, __nv_bfloat16, float, 16, 16, 16, row_major, col_major>("bf16, 16 16 16", true);
  runTiles<wmma::precision::tf32, float, float, 16, 16, 8, row_major, row_major>("tf32, 16 16 8", true);
  runTiles<signed char, signed char, int, 16, 16, 16, row_major, col_major>("s8, 16 16 16", true);
  runTiles<unsigned char, unsigned char, int, 8, 32, 16, row_major, row_major>("u8, 8 32 16", false);
  runTiles<double, double, double, 8, 8, 4, row_major, col_major>("f64, 8 8 4", true);
  runStaged();
}
