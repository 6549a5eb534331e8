// Random numbers: Philox, xorwow, Mersenne twister in shared memory, and a quasi-random sequence.
#include "program.h"

__global__ void philox(unsigned* out) {
  unsigned c[4] = {threadIdx.x, blockIdx.x, 7, 9}, k0 = 0xCAFE, k1 = 0xBEEF;
  for (int round = 0; round < 10; ++round) {
    const unsigned h0 = __umulhi(0xD2511F53, c[0]), l0 = 0xD2511F53 * c[0], h1 = __umulhi(0xCD9E8D57, c[2]),
                   l1 = 0xCD9E8D57 * c[2];
    c[0] = h1 ^ c[1] ^ k0, c[1] = l1, c[2] = h0 ^ c[3] ^ k1, c[3] = l0;
    k0 += 0x9E3779B9, k1 += 0xBB67AE85;
  }
  for (int i = 0; i < 4; ++i) out[(blockIdx.x * blockDim.x + threadIdx.x) * 4 + i] = c[i];
}
__global__ void xorwow(unsigned* out, int steps) {
  unsigned x[5] = {123456789u + threadIdx.x, 362436069, 521288629, 88675123, 5783321}, d = 6615241, sum = 0;
  for (int i = 0; i < steps; ++i) {
    const unsigned t = x[0] ^ x[0] >> 2;
    x[0] = x[1], x[1] = x[2], x[2] = x[3], x[3] = x[4];
    x[4] = (x[4] ^ x[4] << 4) ^ (t ^ t << 1);
    d += 362437;
    sum ^= x[4] + d;
  }
  out[threadIdx.x] = sum;
}
__global__ void twister(unsigned* out) {
  __shared__ unsigned state[624];
  if (threadIdx.x == 0) {
    state[0] = 5489;
    for (int i = 1; i < 624; ++i) state[i] = 1812433253u * (state[i - 1] ^ state[i - 1] >> 30) + i;
  }
  __syncthreads();
  for (int begin = 0; begin < 624; begin += 208) {
    const int i = begin + threadIdx.x;
    unsigned next = 0;
    if (threadIdx.x < 208) {
      const unsigned y = (state[i] & 0x80000000) | (state[(i + 1) % 624] & 0x7FFFFFFF);
      next = state[(i + 397) % 624] ^ y >> 1 ^ (y & 1 ? 0x9908B0DF : 0);
    }
    __syncthreads();
    if (threadIdx.x < 208) {
      state[i] = next;
      unsigned y = next ^ next >> 11;
      y ^= y << 7 & 0x9D2C5680, y ^= y << 15 & 0xEFC60000;
      out[i] = y ^ y >> 18;
    }
    __syncthreads();
  }
}
__global__ void halton(float* out) {
  float sum = 0, scale = 1;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i; i /= 3)
    scale = __fdiv_rn(scale, 3.0f), sum = __fmaf_rn(scale, static_cast<float>(i % 3), sum);
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main() {
  DeviceArray<unsigned> a(4 * 64 * 4), b(64), c(624);
  DeviceArray<float> d(512);
  philox<<<4, 64>>>(a.get());
  xorwow<<<1, 64>>>(b.get(), 1000);
  twister<<<1, 256>>>(c.get());
  halton<<<2, 256>>>(d.get());
  finish();
  show("philox", a.host());
  show("xorwow", b.host());
  show("twister", c.host());
  show("halton", d.host());
}
