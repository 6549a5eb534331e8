// Kernels of integers: hashes, ciphers, sorts, strings, tables.
#include "bench.h"

__global__ void hash(unsigned* out, int rounds) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < rounds; ++i) x ^= x >> 16, x *= 0x7feb352d, x ^= x >> 15, x *= 0x846ca68b, x ^= x >> 16;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
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

// The first words of the roots of the primes, as SHA-256 has them.
__constant__ unsigned shaConstants[64];
__device__ unsigned rotate(unsigned x, int n) { return x >> n | x << (32 - n); }
__global__ void sha256(unsigned* out, int rounds) {
  unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  for (int round = 0; round < rounds; ++round) {
    unsigned w[16], v[8];
#pragma unroll
    for (int i = 0; i < 16; ++i) w[i] = thread * 16 + i + round;
#pragma unroll
    for (int i = 0; i < 8; ++i) v[i] = state[i];
#pragma unroll
    for (int i = 0; i < 64; ++i) {
      if (i >= 16) {
        unsigned a = w[(i + 1) % 16], b = w[(i + 14) % 16];
        w[i % 16] +=
            (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[(i + 9) % 16] + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
      }
      unsigned t = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) +
                   shaConstants[i] + w[i % 16];
      unsigned u =
          (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
      v[7] = v[6], v[6] = v[5], v[5] = v[4], v[4] = v[3] + t, v[3] = v[2], v[2] = v[1], v[1] = v[0], v[0] = t + u;
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) state[i] += v[i];
  }
  for (int i = 0; i < 8; ++i) out[thread * 8 + i] = state[i];
}

// Ten rounds of lookups in four tables, as AES does them; the tables are random.
__global__ void tableCipher(const uint4* in, uint4* out, const unsigned* tables, const uint4* keys, int n) {
  __shared__ unsigned t[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) t[i] = tables[i];
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    uint4 s = in[i];
    for (int round = 0; round < 10; ++round) {
      uint4 k = keys[round];
      auto column = [&](unsigned a, unsigned b, unsigned c, unsigned d, unsigned key) {
        return t[a >> 24] ^ t[256 + (b >> 16 & 255)] ^ t[512 + (c >> 8 & 255)] ^ t[768 + (d & 255)] ^ key;
      };
      s = make_uint4(column(s.x, s.y, s.z, s.w, k.x), column(s.y, s.z, s.w, s.x, k.y), column(s.z, s.w, s.x, s.y, k.z),
                     column(s.w, s.x, s.y, s.z, k.w));
    }
    out[i] = s;
  }
}

// Radix sort, four bits at a time: counts of each block, their prefix sums, and a stable scatter.
constexpr int sortBlock = 256, sortEach = 8, sortTile = sortBlock * sortEach;
__global__ void radixCount(const unsigned* keys, unsigned* counts, int shift, int blocks) {
  __shared__ unsigned local[16];
  if (threadIdx.x < 16) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = 0; i < sortEach; ++i)
    atomicAdd(&local[keys[blockIdx.x * sortTile + i * sortBlock + threadIdx.x] >> shift & 15], 1);
  __syncthreads();
  if (threadIdx.x < 16) counts[threadIdx.x * blocks + blockIdx.x] = local[threadIdx.x];
}
__global__ void radixScan(unsigned* counts, int n) {
  __shared__ unsigned sums[1024];
  int each = (n + 1023) / 1024, begin = threadIdx.x * each, end = min(begin + each, n);
  unsigned sum = 0;
  for (int i = begin; i < end; ++i) sum += counts[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int offset = 1; offset < 1024; offset *= 2) {
    unsigned below = threadIdx.x >= offset ? sums[threadIdx.x - offset] : 0;
    __syncthreads();
    sums[threadIdx.x] += below;
    __syncthreads();
  }
  unsigned base = sums[threadIdx.x] - sum;
  for (int i = begin; i < end; ++i) {
    unsigned value = counts[i];
    counts[i] = base, base += value;
  }
}
__global__ void radixScatter(const unsigned* in, unsigned* out, const unsigned* counts, int shift, int blocks) {
  __shared__ unsigned bases[16], warps[8][16];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x < 16) bases[threadIdx.x] = counts[threadIdx.x * blocks + blockIdx.x];
  for (int i = 0; i < sortEach; ++i) {
    unsigned key = in[blockIdx.x * sortTile + i * sortBlock + threadIdx.x], digit = key >> shift & 15, same = ~0u;
    for (int bit = 0; bit < 4; ++bit) {
      unsigned votes = __ballot_sync(~0u, digit >> bit & 1);
      same &= digit >> bit & 1 ? votes : ~votes;
    }
    unsigned rank = __popc(same & ((1u << lane) - 1));
    if (threadIdx.x < 128) warps[threadIdx.x / 16][threadIdx.x % 16] = 0;
    __syncthreads();
    if (rank == 0) warps[warp][digit] = __popc(same);
    __syncthreads();
    if (threadIdx.x < 16) {
      unsigned sum = bases[threadIdx.x];
      for (int w = 0; w < 8; ++w) {
        unsigned count = warps[w][threadIdx.x];
        warps[w][threadIdx.x] = sum, sum += count;
      }
      bases[threadIdx.x] = sum;
    }
    __syncthreads();
    out[warps[warp][digit] + rank] = key;
    __syncthreads();
  }
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
// An array that stays in local memory: its indices are data.
__global__ void insertionSort(const int* in, int* out) {
  int v[24], base = (blockIdx.x * blockDim.x + threadIdx.x) * 24;
  for (int i = 0; i < 24; ++i) {
    int value = in[base + i], j = i;
    for (; j > 0 && v[j - 1] > value; --j) v[j] = v[j - 1];
    v[j] = value;
  }
  for (int i = 0; i < 24; ++i) out[base + i] = v[i];
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

// Edit distance of two strings of 512 letters for each block, along diagonals.
__global__ void editDistance(const unsigned char* text, int* out) {
  constexpr int length = 512;
  __shared__ int diagonals[3][length + 1];
  __shared__ unsigned char first[length], second[length];
  int i = threadIdx.x + 1;
  first[threadIdx.x] = text[blockIdx.x * 2 * length + threadIdx.x] & 3;
  second[threadIdx.x] = text[(blockIdx.x * 2 + 1) * length + threadIdx.x] & 3;
  __syncthreads();
  for (int d = 0; d <= 2 * length; ++d) {
    int *now = diagonals[d % 3], *last = diagonals[(d + 2) % 3], *before = diagonals[(d + 1) % 3], j = d - i;
    if (i == 1 && d <= length) now[0] = d;
    if (j == 0) now[i] = i;
    if (j >= 1 && j <= length)
      now[i] = min(min(last[i - 1], last[i]) + 1, before[i - 1] + (first[i - 1] != second[j - 1]));
    __syncthreads();
  }
  if (i == length) out[blockIdx.x] = diagonals[2 * length % 3][length];
}

// How often each of eight patterns of twelve letters begins, in a text of four letters.
__constant__ unsigned char patterns[8][12];
__global__ void matchStrings(const unsigned char* text, unsigned* counts, int n) {
  unsigned found[8] = {};
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n - 12; i += gridDim.x * blockDim.x)
#pragma unroll
    for (int p = 0; p < 8; ++p) {
      int j = 0;
      while (j < 12 && (text[i + j] & 3) == patterns[p][j]) ++j;
      found[p] += j >= 6;
    }
  for (int p = 0; p < 8; ++p) atomicAdd(&counts[p], found[p]);
}

int main(int argc, char** argv) {
  Suite suite("integer", argc, argv);
  const int n = suite.size(1 << 26, 1 << 17);
  unsigned* a = randomArray<unsigned>(n, 257, 1);
  unsigned *b = deviceArray<unsigned>(n), *c = deviceArray<unsigned>(n);
  CHECK(cudaMemset(b, 0, n * 4ull));
  CHECK(cudaMemset(c, 0, n * 4ull));
  const int blocks = suite.size(132 * 8, 8);

  suite.run(
      "integer hash", [&] { hash<<<blocks * 16, 256>>>(c, 100); }, exactly(c, blocks * 16 * 256));
  suite.run(
      "histogram",
      [&] {
        CHECK(cudaMemsetAsync(c, 0, 1024));
        histogram<<<blocks, 256>>>(a, c, n);
      },
      exactly(c, 256));
  std::vector<unsigned> constants;
  for (unsigned prime = 2; constants.size() < 64; ++prime) {
    bool divides = false;
    for (unsigned d = 2; d * d <= prime; ++d) divides |= prime % d == 0;
    if (!divides) constants.push_back(unsigned(int64_t(std::cbrt(double(prime)) * 4294967296.0)));
  }
  CHECK(cudaMemcpyToSymbol(shaConstants, constants.data(), 256));
  suite.run(
      "SHA-256", [&] { sha256<<<blocks, 256>>>(c, 8); }, exactly(c, blocks * 256 * 8));
  std::vector<unsigned> tables(1024 + 40);
  for (auto& word : tables) word = next();
  unsigned* t = deviceCopy(tables);
  suite.run(
      "cipher by tables", [&] { tableCipher<<<blocks, 256>>>((uint4*)a, (uint4*)c, t, (uint4*)(t + 1024), n / 8); },
      exactly(c, n / 2));

  const int keys = n / 16, tiles = keys / sortTile;
  unsigned* counts = deviceArray<unsigned>(tiles * 16);
  suite.run(
      "radix sort",
      [&] {
        const unsigned* from = a;
        for (int pass = 0; pass < 8; ++pass) {
          unsigned* to = pass % 2 ? c : b;
          radixCount<<<tiles, sortBlock>>>(from, counts, pass * 4, tiles);
          radixScan<<<1, 1024>>>(counts, tiles * 16);
          radixScatter<<<tiles, sortBlock>>>(from, to, counts, pass * 4, tiles);
          from = to;
        }
      },
      exactly(c, keys));
  suite.run(
      "sorting network", [&] { sortNetwork<<<n / 16 / 256, 256>>>((int*)a, (int*)c); }, exactly(c, n));
  suite.run(
      "insertion sort, local array", [&] { insertionSort<<<n / 32 / 8 / 256, 256>>>((int*)a, (int*)c); },
      exactly(c, n / 32 / 8 * 24));

  std::vector<unsigned char> code(256);
  for (auto& op : code) op = next() % 10;
  unsigned char* d = deviceCopy(code);
  suite.run(
      "switch interpreter", [&] { interpreter<<<blocks, 128>>>(d, 256, (int*)c, 20); }, exactly(c, blocks * 128));
  suite.run(
      "edit distance", [&] { editDistance<<<blocks, 512>>>((unsigned char*)a + 1, (int*)c); }, exactly(c, blocks));
  std::vector<unsigned char> letters(96);
  for (auto& letter : letters) letter = next() & 3;
  CHECK(cudaMemcpyToSymbol(patterns, letters.data(), letters.size()));
  suite.run(
      "string matching",
      [&] {
        CHECK(cudaMemsetAsync(c, 0, 32));
        matchStrings<<<blocks, 256>>>((unsigned char*)a, c, n / 8);
      },
      exactly(c, 8));
}
