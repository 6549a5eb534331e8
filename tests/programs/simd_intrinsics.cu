// Bit and byte intrinsics: SIMD within a word, permutes, funnel shifts, dot products, DPX.
#include "program.h"

__global__ void bytes(const unsigned* in, unsigned* out) {
  const unsigned a = in[threadIdx.x], b = in[threadIdx.x + 256], c = in[threadIdx.x + 512];
  unsigned* r = out + threadIdx.x * 40;
  *r++ = __vadd4(a, b), *r++ = __vaddss4(a, b), *r++ = __vaddus4(a, b), *r++ = __vsub4(a, b), *r++ = __vsubss4(a, b);
  *r++ = __vadd2(a, b), *r++ = __vaddss2(a, b), *r++ = __vsub2(a, b), *r++ = __vsubus2(a, b), *r++ = __vavgu4(a, b);
  *r++ = __vavgs2(a, b), *r++ = __vabs4(a), *r++ = __vabsdiffu4(a, b), *r++ = __vabsdiffs2(a, b), *r++ = __vmaxs4(a, b);
  *r++ = __vmaxu2(a, b), *r++ = __vmins2(a, b), *r++ = __vminu4(a, b), *r++ = __vcmpeq4(a, b), *r++ = __vcmpgts2(a, b);
  *r++ = __vseteq4(a, b), *r++ = __vsetltu2(a, b), *r++ = __vsadu4(a, b), *r++ = __vsads2(a, b), *r++ = __vneg2(a);
  *r++ = __vhaddu4(a, b), *r++ = __byte_perm(a, b, c), *r++ = __funnelshift_l(a, b, c),
  *r++ = __funnelshift_rc(a, b, c);
  *r++ = __dp4a(static_cast<int>(a), static_cast<int>(b), static_cast<int>(c)), *r++ = __dp4a(a, b, c);
  *r++ = __dp2a_lo(static_cast<int>(a), static_cast<int>(b), 5), *r++ = __dp2a_hi(a, b, 7u), *r++ = __brev(a),
  *r++ = __ffs(a);
  *r++ = __clz(a), *r++ = __popc(a), *r++ = __fns(a, b & 31, static_cast<int>(c % 9) - 4), *r++ = __usad(a, b, c);
  *r = __hadd(static_cast<int>(a), static_cast<int>(b)) ^ __umulhi(a, b) ^ __mul24(a, b) ^
       __rhadd(static_cast<int>(a), 3);
}

__global__ void dpx(const int* in, int* out) {
  const int a = in[threadIdx.x], b = in[threadIdx.x + 256], c = in[threadIdx.x + 512];
  int* r = out + threadIdx.x * 12;
  bool first = false, second = false;
  r[0] = __vimax3_s32(a, b, c), r[1] = __vimin3_u32(a, b, c), r[2] = __viaddmax_s32(a, b, c),
  r[3] = __viaddmin_s16x2(a, b, c);
  r[4] = __vimax_s32_relu(a, b), r[5] = __viaddmax_u16x2(a, b, c), r[6] = __vimin3_s16x2_relu(a, b, c);
  r[7] = __vibmax_s32(a, b, &first) * 2 + first, r[8] = __vibmin_u16x2(a, b, &first, &second) + first * 2 + second;
  r[9] = __viaddmax_s32_relu(a, b, c), r[10] = __vimax3_s16x2(a, b, c), r[11] = __viaddmin_u32(a, b, c);
}

__global__ void wide(const unsigned long long* in, unsigned long long* out) {
  const unsigned long long a = in[threadIdx.x], b = in[threadIdx.x + 128];
  unsigned long long* r = out + threadIdx.x * 8;
  r[0] = __umul64hi(a, b), r[1] = __mul64hi(a, b), r[2] = __brevll(a), r[3] = __clzll(a), r[4] = __ffsll(a),
  r[5] = __popcll(a);
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  r[6] = static_cast<unsigned long long>((product / ((b >> 7) | 1)) >> 13);
  r[7] = static_cast<unsigned long long>(product % ((a >> 5) | 3));
}

int main() {
  Random random;
  std::vector<unsigned> in(768);
  for (auto& value : in) value = random.next() ^ (random.next() << 16);
  DeviceArray<unsigned> device(in), a(256 * 40);
  DeviceArray<int> b(256 * 12);
  DeviceArray<unsigned long long> c(128 * 8);
  bytes<<<1, 256>>>(device.get(), a.get());
  dpx<<<1, 256>>>(reinterpret_cast<const int*>(device.get()), b.get());
  wide<<<1, 128>>>(reinterpret_cast<const unsigned long long*>(device.get()), c.get());
  finish();
  show("bytes", a.host(), 40);
  show("dpx", b.host(), 12);
  show("wide", c.host(), 8);
}
