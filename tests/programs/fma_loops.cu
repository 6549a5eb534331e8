// Multiply-adds in loops, with denormals, zeros and sums that cancel at any round: every thread has numbers of its own,
// and the host computes the same with the C library's fmaf.
#include <cmath>
#include <cstring>

#include "program.h"

constexpr int kThreads = 4096, kRounds = 37;

__host__ __device__ unsigned mix(unsigned x) {
  x = (x ^ x >> 16) * 0x7FEB352Du;
  x = (x ^ x >> 15) * 0x846CA68Bu;
  return x ^ x >> 16;
}

// Of most threads all numbers are usual ones; of the others one round has a rare one, or all have.
static float number(int thread, int round, int which) {
  const unsigned random = mix(thread * 1009 + round * 31 + which);
  const unsigned sign = random << 31, fraction = random >> 8 & 0x7FFFFF;
  unsigned exponent = 120 + random % 12;
  const int kind = thread % 16, place = thread / 16 % kRounds;
  const bool isHere = round == place || kind % 2 == 1;
  if (isHere && kind / 2 == 1) exponent = 0;                 // denormal
  if (isHere && kind / 2 == 2) exponent = 60 + random % 16;  // its products are denormal
  if (isHere && kind / 2 == 3) exponent = 84 + random % 6;   // about as small as factors may be
  if (isHere && kind / 2 == 4) exponent = 20 + random % 8;   // as small as what is added may be
  const bool isZero = (kind / 2 == 5 && random % 4 == 0) || (kind / 2 == 6 && round < place);
  const unsigned bits = sign | (isZero ? 0 : exponent << 23 | fraction);
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

struct Input {
  const float *a, *b;
  int rounds;
};

// Of each loop the result, on the device and on the host.
struct Dot {
  static constexpr const char* name = "dot product";
  __host__ __device__ static float of(const float* a, const float* b, int rounds) {
    float sum = 0;
    for (int i = 0; i < rounds; ++i) sum = fmaf(a[i], b[i], sum);
    return sum;
  }
};
struct Horner {
  static constexpr const char* name = "polynomial";
  __host__ __device__ static float of(const float* a, const float* b, int rounds) {
    float sum = b[0];
    for (int i = 0; i < rounds; ++i) sum = fmaf(sum, a[0], b[i]);
    return sum;
  }
};
struct Chain {
  static constexpr const char* name = "sums of sums";
  __host__ __device__ static float of(const float* a, const float* b, int rounds) {
    float first = a[0], second = b[0], third = 0;
    for (int i = 0; i < rounds; ++i) {
      first = fmaf(a[i], second, b[i]);
      second = fmaf(first, b[i], -second);
      third = fmaf(second * a[i], first, third) + b[i];
    }
    return third + first;
  }
};
struct Fading {
  static constexpr const char* name = "until it is small";
  __host__ __device__ static float of(const float* a, const float* b, int rounds) {
    float sum = b[0];
    for (int i = 0; i < 400 && fabsf(sum) > 1e-41f; ++i) sum = fmaf(sum, 0.5f, a[i % rounds] * 0.0f);
    return sum;
  }
};
struct Found {
  static constexpr const char* name = "places that are computed";
  __host__ __device__ static float of(const float* a, const float* b, int rounds) {
    float sum = 0;
    int at = 0;
    for (int i = 0; i < rounds; ++i) {
      sum = fmaf(a[at], b[i], sum);
      at = sum > 1e-40f ? i : i / 2;
    }
    return sum;
  }
};

template <class Loop>
__global__ void compute(float* out, Input in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = Loop::of(in.a + i * kRounds, in.b + i * kRounds, in.rounds);
}

template <class Loop>
static void check(const Input& device, const std::vector<float>& a, const std::vector<float>& b) {
  float* out;
  CHECK(cudaMalloc(&out, kThreads * sizeof(float)));
  for (int rounds : {1, 7, kRounds}) {
    Input in = device;
    in.rounds = rounds;
    compute<Loop><<<kThreads / 128, 128>>>(out, in);
    std::vector<float> got(kThreads);
    CHECK(cudaMemcpy(got.data(), out, kThreads * sizeof(float), cudaMemcpyDeviceToHost));
    int differ = 0;
    for (int i = 0; i < kThreads; ++i) {
      const float wanted = Loop::of(a.data() + i * kRounds, b.data() + i * kRounds, rounds);
      if (std::memcmp(&wanted, &got[i], sizeof wanted) == 0 || (wanted != wanted && got[i] != got[i])) continue;
      if (differ++ == 0) std::printf("%s, thread %d: %a instead of %a\n", Loop::name, i, got[i], wanted);
    }
    std::printf("%s, %d rounds: %d of %d differ\n", Loop::name, rounds, differ, kThreads);
  }
  CHECK(cudaFree(out));
}

int main() {
  std::vector<float> a(kThreads * kRounds), b(a.size());
  for (int thread = 0; thread < kThreads; ++thread)
    for (int round = 0; round < kRounds; ++round) {
      a[thread * kRounds + round] = number(thread, round, 0);
      b[thread * kRounds + round] = number(thread, round, 1);
    }
  float* copies[2];
  for (int i = 0; i < 2; ++i) {
    CHECK(cudaMalloc(&copies[i], a.size() * sizeof(float)));
    CHECK(cudaMemcpy(copies[i], (i == 0 ? a : b).data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
  }
  const Input in{copies[0], copies[1], kRounds};
  check<Dot>(in, a, b);
  check<Horner>(in, a, b);
  check<Chain>(in, a, b);
  check<Fading>(in, a, b);
  check<Found>(in, a, b);
}
