// What language models run: attention in one kernel, with mma.sync, ldmatrix and cp.async as current libraries use
// them, and products of quantised numbers with dp4a.
#include <cuda_fp16.h>

#include "bench.h"

namespace {

// Of a head 64 numbers, in rows of 128 bytes, whose pieces of 16 bytes are exchanged so that columns lie in all banks.
constexpr int headSize = 64, tile = 64, threads = 128, pieces = headSize * 2 / 16;

__device__ int place(int row, int piece) { return row * headSize + (piece ^ row % 8) * 8; }

__device__ uint32_t sharedAddress(const void* at) { return (uint32_t)__cvta_generic_to_shared(at); }
__device__ void loadMatrices(uint32_t (&words)[4], const __half* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(sharedAddress(row)));
}
__device__ void loadTransposed(uint32_t (&words)[4], const __half* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(sharedAddress(row)));
}
__device__ void multiply(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ void copyTile(__half* to, const __half* from) {
#pragma unroll
  for (int i = 0; i < tile * pieces / threads; ++i) {
    const int number = threadIdx.x + i * threads, row = number / pieces, piece = number % pieces;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(sharedAddress(to + place(row, piece))),
                 "l"(from + row * headSize + piece * 8));
  }
}
__device__ float overQuad(float value, bool isSum) {
  for (int by = 1; by < 4; by *= 2) {
    const float other = __shfl_xor_sync(~0u, value, by);
    value = isSum ? value + other : fmaxf(value, other);
  }
  return value;
}
__device__ uint32_t packed(float low, float high) {
  const __half2 both = __floats2half2_rn(low, high);
  return *(const uint32_t*)&both;
}

// A block has 64 queries of one head, a warp 16 of them.
__global__ void __launch_bounds__(threads)
    attention(const __half* queries, const __half* keys, const __half* values, __half* out, int n) {
  __shared__ __align__(128) __half keyTiles[2][tile * headSize], valueTiles[2][tile * headSize];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const size_t head = size_t(blockIdx.y) * n * headSize, first = head + size_t(blockIdx.x) * tile * headSize;
  const float scale = 0.125f * 1.44269504f;

  uint32_t query[headSize / 16][4];
  copyTile(keyTiles[0], queries + first);
  asm volatile("cp.async.commit_group;");
  asm volatile("cp.async.wait_group 0;");
  __syncthreads();
#pragma unroll
  for (int k = 0; k < headSize / 16; ++k)
    loadMatrices(query[k], &keyTiles[0][place(warp * 16 + lane % 16, k * 2 + lane / 16)]);
  __syncthreads();

  auto fetch = [&](int stage, int at) {
    copyTile(keyTiles[stage], keys + head + size_t(at) * headSize);
    copyTile(valueTiles[stage], values + head + size_t(at) * headSize);
    asm volatile("cp.async.commit_group;");
  };
  float sums[headSize / 8][4] = {}, largest[2] = {-INFINITY, -INFINITY}, total[2] = {};
  fetch(0, 0);
  int stage = 0;
  for (int at = 0; at < n; at += tile, stage ^= 1) {
    if (at + tile < n) {
      fetch(stage ^ 1, at + tile);
      asm volatile("cp.async.wait_group 1;");
    } else {
      asm volatile("cp.async.wait_group 0;");
    }
    __syncthreads();
    float scores[tile / 8][4] = {};
#pragma unroll
    for (int k = 0; k < headSize / 16; ++k)
#pragma unroll
      for (int j = 0; j < tile / 16; ++j) {
        uint32_t key[4];
        loadMatrices(key, &keyTiles[stage][place(j * 16 + lane / 16 * 8 + lane % 8, k * 2 + lane / 8 % 2)]);
        multiply(scores[2 * j], query[k], key[0], key[1]);
        multiply(scores[2 * j + 1], query[k], key[2], key[3]);
      }
#pragma unroll
    for (int half = 0; half < 2; ++half) {  // rows lane / 4 and lane / 4 + 8
      float most = largest[half];
#pragma unroll
      for (auto& score : scores) most = fmaxf(most, fmaxf(score[2 * half], score[2 * half + 1]));
      most = overQuad(most, false);
      const float less = exp2f((largest[half] - most) * scale);
      largest[half] = most;
      total[half] *= less;
#pragma unroll
      for (auto& sum : sums) sum[2 * half] *= less, sum[2 * half + 1] *= less;
#pragma unroll
      for (auto& score : scores)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          float& one = score[2 * half + i];
          one = exp2f(one * scale - most * scale);
          total[half] += one;
        }
    }
#pragma unroll
    for (int j = 0; j < tile / 16; ++j) {
      const auto &low = scores[2 * j], &high = scores[2 * j + 1];
      const uint32_t weights[4] = {packed(low[0], low[1]), packed(low[2], low[3]), packed(high[0], high[1]),
                                   packed(high[2], high[3])};
#pragma unroll
      for (int d = 0; d < headSize / 16; ++d) {
        uint32_t value[4];
        loadTransposed(value, &valueTiles[stage][place(j * 16 + lane % 16, d * 2 + lane / 16)]);
        multiply(sums[2 * d], weights, value[0], value[1]);
        multiply(sums[2 * d + 1], weights, value[2], value[3]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float inverse = 1 / overQuad(total[half], true);
    __half* row = out + first + (warp * 16 + lane / 4 + 8 * half) * headSize + lane % 4 * 2;
#pragma unroll
    for (int d = 0; d < headSize / 8; ++d)
      *(uint32_t*)(row + 8 * d) = packed(sums[d][2 * half] * inverse, sums[d][2 * half + 1] * inverse);
  }
}

__global__ void fillHalves(__half* out, size_t count, uint64_t seed) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x)
    out[i] = __half(float(int(bench::mix(i + seed) >> 40 & 0xFF) - 128) / 64);
}

void measureAttention(const Suite& suite, int heads, int n) {
  const size_t count = size_t(heads) * n * headSize;
  __half* arrays[4];
  for (auto& array : arrays) {
    array = deviceArray<__half>(count);
    fillHalves<<<528, 256>>>(array, count, (&array - arrays) * count);
  }
  suite.run(("attention, " + std::to_string(heads) + " heads of " + std::to_string(n)).c_str(),
            [&] { attention<<<dim3(n / tile, heads), threads>>>(arrays[0], arrays[1], arrays[2], arrays[3], n); },
            about(arrays[3], count));
  for (auto* array : arrays) CHECK(cudaFree(array));
}

// Rows in groups of 32 bytes with a scale for each, as weights of models are kept, by a vector kept in the same way.
__global__ void quantisedTimesVector(const int4* weights, const __half* scales, const int4* vector,
                                     const __half* vectorScales, float* out, int groups) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  float sum = 0;
  for (int group = lane; group < groups; group += 32) {
    int products = 0;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int4 a = weights[(size_t(row) * groups + group) * 2 + i], b = vector[group * 2 + i];
      products = __dp4a(a.x, b.x, products);
      products = __dp4a(a.y, b.y, products);
      products = __dp4a(a.z, b.z, products);
      products = __dp4a(a.w, b.w, products);
    }
    sum += float(products) * __half2float(scales[size_t(row) * groups + group]) * __half2float(vectorScales[group]);
  }
  for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(~0u, sum, by);
  if (lane == 0) out[row] = sum;
}

void measureVector(const Suite& suite, int n) {
  const size_t count = size_t(n) * n;
  auto *weights = deviceArray<int>(count / 4), *vector = deviceArray<int>(n / 4);
  auto *scales = deviceArray<__half>(count / 32), *vectorScales = deviceArray<__half>(n / 32);
  float* out = deviceArray<float>(n);
  bench::fillRandom<<<528, 256>>>(weights, count / 4, 251, 77);
  bench::fillRandom<<<528, 256>>>(vector, size_t(n / 4), 241, 13);
  fillHalves<<<528, 256>>>(scales, count / 32, 5);
  fillHalves<<<528, 256>>>(vectorScales, n / 32, 6);
  suite.run(
      ("dp4a, matrix of " + std::to_string(n) + " by vector").c_str(),
      [&] { quantisedTimesVector<<<n / 4, 128>>>((int4*)weights, scales, (int4*)vector, vectorScales, out, n / 32); },
      about(out, n));
  for (void* array : {(void*)weights, (void*)vector, (void*)scales, (void*)vectorScales, (void*)out})
    CHECK(cudaFree(array));
}

// C = A * B of bytes, A by rows and B by columns: 64 x 64 sums a block, 4 x 8 a thread.
constexpr int productTile = 64, productDepth = 16;  // in words
__global__ void __launch_bounds__(threads) bytesByDots(const int* a, const int* b, int* c, int n) {
  __shared__ int rows[productDepth][productTile + 4], columns[productDepth][productTile + 4];
  const int words = n / 4, x = threadIdx.x % 8 * 8, y = threadIdx.x / 8 * 4;
  int sums[4][8] = {};
  for (int k = 0; k < words; k += productDepth) {
#pragma unroll
    for (int i = 0; i < productTile * productDepth / 4 / threads; ++i) {
      const int number = threadIdx.x + i * threads, line = number / 4, at = number % 4 * 4;
      const int4 left = *(const int4*)&a[size_t(blockIdx.y * productTile + line) * words + k + at];
      const int4 right = *(const int4*)&b[size_t(blockIdx.x * productTile + line) * words + k + at];
      rows[at][line] = left.x, rows[at + 1][line] = left.y, rows[at + 2][line] = left.z, rows[at + 3][line] = left.w;
      columns[at][line] = right.x, columns[at + 1][line] = right.y;
      columns[at + 2][line] = right.z, columns[at + 3][line] = right.w;
    }
    __syncthreads();
#pragma unroll
    for (int inner = 0; inner < productDepth; ++inner)
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) sums[i][j] = __dp4a(rows[inner][y + i], columns[inner][x + j], sums[i][j]);
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j)
      c[size_t(blockIdx.y * productTile + y + i) * n + blockIdx.x * productTile + x + j] = sums[i][j];
}

void measureBytes(const Suite& suite, int n) {
  const size_t count = size_t(n) * n;
  auto *a = deviceArray<int>(count / 4), *b = deviceArray<int>(count / 4), *c = deviceArray<int>(count);
  bench::fillRandom<<<528, 256>>>(a, count / 4, 251, 77);
  bench::fillRandom<<<528, 256>>>(b, count / 4, 241, 13);
  suite.run(("dp4a, product of " + std::to_string(n)).c_str(),
            [&] { bytesByDots<<<dim3(n / productTile, n / productTile), threads>>>(a, b, c, n); }, exactly(c, count));
  for (int* array : {a, b, c}) CHECK(cudaFree(array));
}

}  // namespace

int main(int argc, char** argv) {
  const Suite suite("attention", argc, argv);
  measureAttention(suite, suite.size(32, 2), suite.size(1024, 128));
  measureAttention(suite, suite.size(16, 1), suite.size(4096, 192));
  measureVector(suite, suite.size(8192, 256));
  measureBytes(suite, suite.size(4096, 128));
}
