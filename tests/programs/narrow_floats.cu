// bfloat16 and the 8-bit formats of cuda_fp8.h.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "program.h"

__device__ unsigned short bits(__nv_bfloat16 x) { return __bfloat16_as_ushort(x); }

__global__ void bfloats(const float* in, unsigned short* out) {
  const __nv_bfloat16 a = __float2bfloat16(in[threadIdx.x]), b = __float2bfloat16(in[threadIdx.x + 1]),
                      c = __float2bfloat16(in[threadIdx.x + 2]);
  unsigned short* r = out + threadIdx.x * 14;
  *r++ = bits(a), *r++ = bits(__hadd(a, b)), *r++ = bits(__hsub(a, b)), *r++ = bits(__hmul(a, b)),
  *r++ = bits(__hfma(a, b, c));
  *r++ = bits(__hmax(a, b)), *r++ = bits(__hmin(a, b)), *r++ = bits(__hneg(a)), *r++ = bits(__habs(a)),
  *r++ = __hlt(a, b);
  *r++ = bits(__float2bfloat16_rz(in[threadIdx.x])), *r++ = bits(__float2bfloat16_ru(in[threadIdx.x]));
  *r++ = bits(__hdiv(a, b)), *r = bits(__int2bfloat16_rn(static_cast<int>(in[threadIdx.x] * 1000)));
}
__global__ void pairs(const float* in, unsigned* out) {
  const __nv_bfloat162 a = __floats2bfloat162_rn(in[threadIdx.x], in[threadIdx.x + 1]),
                       b = __floats2bfloat162_rn(in[threadIdx.x + 2], in[threadIdx.x + 3]);
  const __half2 h = __floats2half2_rn(in[threadIdx.x], in[threadIdx.x + 1]),
                g = __floats2half2_rn(in[threadIdx.x + 2], 0.5f);
  __nv_bfloat162 x[] = {__hadd2(a, b), __hmul2(a, b), __hfma2(a, b, a), __hmax2(a, b)};
  __half2 y[] = {__hadd2(h, g), __hmul2_sat(h, g), __hfma2_relu(h, g, h), __hmin2(h, g)};
  std::memcpy(out + threadIdx.x * 8, x, 16);
  std::memcpy(out + threadIdx.x * 8 + 4, y, 16);
}
__global__ void eights(const float* in, unsigned* out) {
  const float x = in[threadIdx.x];
  unsigned* r = out + threadIdx.x * 8;
  r[0] = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3),
  r[1] = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2);
  r[2] = __nv_cvt_double_to_fp8(x, __NV_NOSAT, __NV_E4M3), r[3] = __nv_cvt_double_to_fp8(x, __NV_NOSAT, __NV_E5M2);
  const __nv_fp8_e4m3 e(x);
  const __nv_fp8_e5m2 f(x);
  r[4] = __float_as_uint(static_cast<float>(e)), r[5] = __float_as_uint(static_cast<float>(f));
  r[6] = __nv_cvt_fp8_to_halfraw(threadIdx.x & 0x7E, __NV_E4M3).x,
  r[7] = __nv_cvt_fp8_to_halfraw(threadIdx.x & 0x7B, __NV_E5M2).x;
}

int main() {
  Random random;
  std::vector<float> in(260);
  for (float& x : in) {
    const int exponent = static_cast<int>(random.next() % 24) - 12;  // apart, so that every compiler draws it first
    x = std::ldexp(random.unit() - 0.5f, exponent);
  }
  DeviceArray<float> device(in);
  DeviceArray<unsigned short> a(256 * 14);
  DeviceArray<unsigned> b(256 * 8), c(256 * 8);
  bfloats<<<1, 256>>>(device.get(), a.get());
  pairs<<<1, 256>>>(device.get(), b.get());
  eights<<<1, 256>>>(device.get(), c.get());
  finish();
  show("bfloats", a.host(), 14);
  show("pairs", b.host(), 8);
  show("eights", c.host(), 8);
}
