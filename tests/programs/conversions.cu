// Conversions in every rounding, and arithmetic with a rounding of its own. MATH
#include "program.h"

__global__ void fromFloat(const float* in, long long* out) {
  const float x = in[threadIdx.x];
  long long* r = out + threadIdx.x * 20;
  *r++ = __float2int_rn(x), *r++ = __float2int_rz(x), *r++ = __float2int_ru(x), *r++ = __float2int_rd(x);
  *r++ = __float2uint_rn(x), *r++ = __float2uint_rd(x), *r++ = __float2ll_rn(x), *r++ = __float2ll_ru(x);
  // Out of their range narrow types have no conversion from float that is defined: through int they have.
  const int i = __float2int_rz(x);
  *r++ = __float2ull_rz(x), *r++ = __float_as_int(static_cast<float>(static_cast<short>(i)));
  *r++ = static_cast<signed char>(i), *r++ = static_cast<unsigned short>(__float2uint_rz(x)), *r++ = lrintf(x),
  *r++ = llroundf(x), *r++ = __float_as_int(truncf(x));
  *r++ = __float_as_int(__saturatef(x)), *r++ = isfinite(x), *r++ = signbit(x), *r++ = ilogbf(x), *r = isnan(x);
}
__global__ void fromDouble(const double* in, long long* out) {
  const double x = in[threadIdx.x];
  long long* r = out + threadIdx.x * 14;
  *r++ = __double2int_rn(x), *r++ = __double2int_rd(x), *r++ = __double2uint_ru(x), *r++ = __double2ll_rz(x);
  *r++ = __double2ull_rn(x), *r++ = __float_as_int(__double2float_rn(x)), *r++ = __float_as_int(__double2float_rz(x));
  *r++ = __float_as_int(__double2float_ru(x)), *r++ = __float_as_int(__double2float_rd(x)), *r++ = __double2hiint(x);
  *r++ = __double2loint(x), *r++ = __double_as_longlong(rint(x)), *r++ = __double_as_longlong(ceil(x)), *r = ilogb(x);
}
__global__ void fromInteger(const long long* in, long long* out) {
  const long long x = in[threadIdx.x];
  const int i = static_cast<int>(x);
  long long* r = out + threadIdx.x * 14;
  *r++ = __float_as_int(__int2float_rn(i)), *r++ = __float_as_int(__int2float_rz(i)),
  *r++ = __float_as_int(__int2float_ru(i));
  *r++ = __float_as_int(__uint2float_rd(i)), *r++ = __float_as_int(__ll2float_rn(x)),
  *r++ = __float_as_int(__ll2float_ru(x));
  *r++ = __float_as_int(__ull2float_rz(x)), *r++ = __double_as_longlong(__int2double_rn(i)),
  *r++ = __double_as_longlong(__ll2double_rn(x));
  *r++ = __double_as_longlong(__ll2double_rd(x)), *r++ = __double_as_longlong(__ull2double_ru(x));
  *r++ = __double_as_longlong(__ull2double_rz(x)), *r++ = static_cast<signed char>(x),
  *r = static_cast<unsigned short>(x);
}
__global__ void rounded(const float* in, const double* wide, long long* out) {
  const float a = in[threadIdx.x], b = in[threadIdx.x + 1], c = in[threadIdx.x + 2];
  const double x = wide[threadIdx.x], y = wide[threadIdx.x + 1], z = wide[threadIdx.x + 2];
  float f[] = {__fadd_rn(a, b), __fadd_ru(a, b),      __fsub_rd(a, b),    __fmul_rz(a, b),
               __fmul_ru(a, b), __fmaf_rn(a, b, c),   __fmaf_rd(a, b, c), __fdiv_rn(a, b),
               __fdiv_rz(a, b), __fsqrt_ru(fabsf(a)), __frcp_rd(b),       __frcp_rn(b)};
  double d[] = {__dadd_rd(x, y),     __dsub_ru(x, y),     __dmul_rz(x, y), __dmul_rd(x, y),
                __fma_ru(x, y, z),   __fma_rz(x, y, z),   __ddiv_rd(x, y), __ddiv_rn(x, y),
                __dsqrt_rn(fabs(x)), __dsqrt_rz(fabs(y)), __drcp_ru(y),    __dadd_rn(x, z)};
  for (int i = 0; i < 12; ++i) {
    out[threadIdx.x * 24 + i] = f[i] == f[i] ? __float_as_int(f[i]) : -1;
    out[threadIdx.x * 24 + 12 + i] = d[i] == d[i] ? __double_as_longlong(d[i]) : -1;
  }
}

int main() {
  Random random;
  std::vector<float> f(1026);
  std::vector<double> d(1026);
  std::vector<long long> l(1026);
  // One number a statement: compilers order calls within one as they like.
  for (int i = 0; i < 1026; ++i) {
    const unsigned long long high = random.next(), low = random.next();
    l[i] = static_cast<long long>((high << 32 | low) >> random.next() % 64);
    const unsigned bits = random.next();
    std::memcpy(&f[i], &bits, 4);
    if (i % 2) {
      const float unit = random.unit() - 0.5f;
      f[i] = unit * static_cast<float>(1ull << (random.next() % 63));
    }
    d[i] = f[i] * 1.000000001;
    if (i % 3 == 0) {
      const int exponent = static_cast<int>(random.next() % 2000) - 1000;
      d[i] = std::ldexp(random.unit() - 0.5, exponent);
    }
    if (i % 16 == 0) f[i] = static_cast<float>(static_cast<int>(random.next() % 512) - 256) * 0.5f, d[i] = f[i];
  }
  DeviceArray<float> df(f);
  DeviceArray<double> dd(d);
  DeviceArray<long long> dl(l), a(1024 * 20), b(1024 * 14), c(1024 * 14), e(1024 * 24);
  fromFloat<<<1, 1024>>>(df.get(), a.get());
  fromDouble<<<1, 1024>>>(dd.get(), b.get());
  fromInteger<<<1, 1024>>>(dl.get(), c.get());
  rounded<<<1, 1024>>>(df.get(), dd.get(), e.get());
  finish();
  show("from float", a.host(), 20);
  show("from double", b.host(), 14);
  show("from integer", c.host(), 14);
  show("rounded", e.host(), 24);
}
