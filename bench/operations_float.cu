// Each kernel repeats one operation or function of floating-point numbers.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "operations.h"

using Half2 = __half2;
using Bfloat2 = __nv_bfloat162;

// Constants of two halves.
__device__ Half2 halves(float a, float b) { return __floats2half2_rn(a, b); }
__device__ unsigned word(Half2 value) { return operations::bits(value); }
__device__ unsigned word(Bfloat2 value) { return operations::bits(value); }

void singles(operations::Sweep& sweep) {
  sweep.chain<float>(
      "f32 add", 2, STEP { x += z, y -= z; });
  sweep.chain<float>(
      "f32 mul", 2, STEP { x *= z, y *= z; });
  sweep.chain<float>(
      "f32 fma", 1, STEP { x = fmaf(x, 0.3f, y); });
  sweep.chain<float>(
      "f32 mul, rounded toward zero", 2, STEP { x = __fmul_rz(x, z), y = __fmul_rz(y, z); });
  sweep.chain<float>(
      "f32 mul, rounded up", 2, STEP { x = __fmul_ru(x, z), y = __fmul_ru(y, z); });
  sweep.chain<float>(
      "f32 add, rounded toward zero", 2, STEP { x = __fadd_rz(x, z), y = __fsub_rz(y, z); });
  sweep.chain<float>(
      "f32 add, rounded down", 2, STEP { x = __fadd_rd(x, z), y = __fsub_rd(y, z); });
  sweep.chain<float>(
      "f32 fma, rounded down", 1, STEP { x = __fmaf_rd(x, 0.3f, y); });
  sweep.chain<float>(
      "f32 fma, rounded toward zero", 1, STEP { x = __fmaf_rz(x, 0.3f, y); });
  sweep.chain<float>(
      "f32 min and max", 4, STEP { x = fminf(x, y) + z, y = fmaxf(y - z, x); });
  sweep.chain<float>(
      "f32 abs, neg, copysign", 3, STEP { x = copysignf(fabsf(x) - 1.5f, y), y = z - y; });
  sweep.chain<float>(
      "f32 saturate", 2, STEP { x = __saturatef(x * z) + y, y = __saturatef(y - 0.25f); });
  sweep.chain<float>(
      "f32 compare and select", 3, STEP { x = x < y ? x + z : x - y; });
  sweep.chain<float>(
      "f32 isnan, isinf, signbit", 8, STEP { x += isnan(x) + isinf(y) + signbit(x), y -= z; });
  sweep.map<float>(
      "f32 div", 12, 1, 100, OF_XY { return x / y; });
  sweep.map<float>(
      "f32 div by uniform", 12, 1, 100, OF_X { return x / 3.3f; });
  sweep.map<float>(
      "f32 reciprocal", 10, 1, 100, OF_X { return 1 / x; });
  sweep.map<float>(
      "f32 div, rounded toward zero", 20, 1, 100, OF_XY { return __fdiv_rz(x, y); });
  sweep.map<float>(
      "f32 reciprocal, rounded up", 16, 1, 100, OF_X { return __frcp_ru(x); });
  sweep.map<float>(
      "f32 sqrt", 12, 1, 100, OF_X { return sqrtf(x); });
  sweep.map<float>(
      "f32 sqrt, rounded down", 14, 1, 100, OF_X { return __fsqrt_rd(x); });
  sweep.map<float>(
      "frsqrt_rn", 14, 1, 100, OF_X { return __frsqrt_rn(x); });
  sweep.approximate<float>(
      "rsqrtf", 9, 1, 100, OF_X { return rsqrtf(x); });
  sweep.approximate<float>(
      "fdividef", 10, 1, 100, OF_XY { return __fdividef(x, y); });
  sweep.approximate<float>(
      "__expf", 10, -5, 5, OF_X { return __expf(x); });
  sweep.approximate<float>(
      "__exp10f", 10, -5, 5, OF_X { return __exp10f(x); });
  sweep.approximate<float>(
      "__logf", 10, 1, 100, OF_X { return __logf(x); });
  sweep.approximate<float>(
      "__log2f", 10, 1, 100, OF_X { return __log2f(x); });
  sweep.approximate<float>(
      "__sinf", 10, 0.1f, 3, OF_X { return __sinf(x); });
  sweep.approximate<float>(
      "__cosf", 10, -1.5f, 1.5f, OF_X { return __cosf(x); });
  sweep.approximate<float>(
      "__tanf", 22, -1.4f, 1.4f, OF_X { return __tanf(x); });
  sweep.approximate<float>(
      "__powf", 20, 1, 5, OF_XY { return __powf(x, y); });
  sweep.approximate<float>(
      "tanh.approx", 9, 0.1f, 2, OF_X {
        float result;
        asm("tanh.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
        return result;
      });
  sweep.approximate<float>(
      "sqrt.approx", 9, 1, 100, OF_X {
        float result;
        asm("sqrt.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
        return result;
      });
  sweep.approximate<float>(
      "rcp.approx.ftz", 9, 1, 100, OF_X {
        float result;
        asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
        return result;
      });
  sweep.approximate<float>(
      "ex2.approx", 12, -5, 5, OF_X {
        float result;
        asm("ex2.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
        return result;
      });

  sweep.map<float>(
      "sinf", 20, -3, 3, OF_X { return sinf(x); });
  sweep.map<float>(
      "sinf of large", 230, 1e6f, 1e7f, OF_X { return sinf(x); });
  sweep.map<float>(
      "cosf", 20, -3, 3, OF_X { return cosf(x); });
  sweep.map<float>(
      "sincosf", 34, -3, 3, OF_X {
        float sine, cosine;
        sincosf(x, &sine, &cosine);
        return sine * cosine;
      });
  sweep.map<float>(
      "sinpif", 18, -3, 3, OF_X { return sinpif(x); });
  sweep.map<float>(
      "tanf", 34, -3, 3, OF_X { return tanf(x); });
  sweep.map<float>(
      "asinf", 22, -0.9f, 0.9f, OF_X { return asinf(x); });
  sweep.map<float>(
      "acosf", 22, -0.9f, 0.9f, OF_X { return acosf(x); });
  sweep.map<float>(
      "atanf", 22, -3, 3, OF_X { return atanf(x); });
  sweep.map<float>(
      "atan2f", 36, -3, 3.1f, OF_XY { return atan2f(x, y); });
  sweep.map<float>(
      "sinhf", 36, -3, 3, OF_X { return sinhf(x); });
  sweep.map<float>(
      "coshf", 26, -3, 3, OF_X { return coshf(x); });
  sweep.map<float>(
      "tanhf", 20, -3, 3, OF_X { return tanhf(x); });
  sweep.map<float>(
      "asinhf", 40, -3, 3, OF_X { return asinhf(x); });
  sweep.map<float>(
      "expf", 12, -5, 5, OF_X { return expf(x); });
  sweep.map<float>(
      "exp2f", 12, -5, 5, OF_X { return exp2f(x); });
  sweep.map<float>(
      "expm1f", 22, -2, 2, OF_X { return expm1f(x); });
  sweep.map<float>(
      "logf", 22, 0.1f, 10, OF_X { return logf(x); });
  sweep.map<float>(
      "log2f", 22, 0.1f, 10, OF_X { return log2f(x); });
  sweep.map<float>(
      "log1pf", 24, 0.1f, 10, OF_X { return log1pf(x); });
  sweep.map<float>(
      "powf", 60, 0.5f, 3, OF_XY { return powf(x, y); });
  sweep.map<float>(
      "powf by 3", 60, 0.5f, 3, OF_X { return powf(x, 3); });
  sweep.map<float>(
      "cbrtf", 22, 1, 100, OF_X { return cbrtf(x); });
  sweep.map<float>(
      "hypotf", 30, 1, 100, OF_XY { return hypotf(x, y); });
  sweep.map<float>(
      "norm3df", 34, 1, 100, OF_XY { return norm3df(x, y, 2.0f); });
  sweep.map<float>(
      "erff", 26, -2, 2, OF_X { return erff(x); });
  sweep.map<float>(
      "erfcf", 36, -2, 2, OF_X { return erfcf(x); });
  sweep.map<float>(
      "erfinvf", 34, -0.9f, 0.9f, OF_X { return erfinvf(x); });
  sweep.map<float>(
      "normcdff", 44, -2, 2, OF_X { return normcdff(x); });
  sweep.map<float>(
      "tgammaf", 60, 0.5f, 5, OF_X { return tgammaf(x); });
  sweep.map<float>(
      "lgammaf", 90, 0.5f, 5, OF_X { return lgammaf(x); });
  sweep.map<float>(
      "j0f", 60, 0.5f, 20, OF_X { return j0f(x); });
  sweep.map<float>(
      "fmodf", 60, 1, 100, OF_XY { return fmodf(x, y); });
  sweep.map<float>(
      "fmodf of large", 50, 1e10f, 1e12f, OF_X { return fmodf(x, 1.7f); });
  sweep.map<float>(
      "remainderf", 70, 1, 100, OF_XY { return remainderf(x, y); });
  sweep.map<float>(
      "rintf, floorf, ceilf, truncf", 40, -50, 50,
      OF_X { return rintf(x) + floorf(x) * 3 + ceilf(x) * 5 + truncf(x) * 7; });
  sweep.map<float>(
      "roundf", 14, -50, 50, OF_X { return roundf(x); });
  sweep.map<float>(
      "modff", 16, -50, 50, OF_X {
        float whole, rest = modff(x, &whole);
        return rest * whole;
      });
  sweep.map<float>(
      "frexpf and ldexpf", 30, 1, 100, OF_X {
        int exponent;
        float mantissa = frexpf(x, &exponent);
        return ldexpf(mantissa, exponent * 2);
      });
  sweep.map<float>(
      "ilogbf and logbf", 30, 1, 100, OF_X { return ilogbf(x) * logbf(x); });
  sweep.map<float>(
      "nextafterf", 20, 1, 100, OF_XY { return nextafterf(x, y); });
  sweep.map<float>(
      "fdimf", 6, 1, 100, OF_XY { return fdimf(x, y); });

  sweep.latency<float>(
      "latency, f32 fma", 5, STEP { x = fmaf(x, 0.3f, y); });
  sweep.latency<float>(
      "latency, f32 mul", 5, STEP { x = x * z; });
  sweep.latency<float>(
      "latency, f32 div", 60, STEP { x = y / x + z; });
  sweep.latency<float>(
      "latency, f32 sqrt", 60, STEP { x = sqrtf(x) + y; });
  sweep.latency<float>(
      "latency, sinf", 60, STEP { x = sinf(x) + y; });
  sweep.latency<float>(
      "latency, logf", 60, STEP { x = logf(x) + 3; });
  sweep.latency<float>(
      "latency, f32 min", 9, STEP { x = fminf(x, y) + z; });
}

void doubles(operations::Sweep& sweep) {
  sweep.chain<double>(
      "f64 add", 4, STEP { x += z, y -= z; });
  sweep.chain<double>(
      "f64 mul", 4, STEP { x *= z, y *= z; });
  sweep.chain<double>(
      "f64 fma", 2, STEP { x = fma(x, 0.3, y); });
  sweep.chain<double>(
      "f64 fma, rounded up", 2, STEP { x = __fma_ru(x, 0.3, y); });
  sweep.chain<double>(
      "f64 add, rounded toward zero", 4, STEP { x = __dadd_rz(x, z), y = __dsub_rz(y, z); });
  sweep.chain<double>(
      "f64 min and max", 16, STEP { x = fmin(x, y) + z, y = fmax(y - z, x); });
  sweep.chain<double>(
      "f64 compare and select", 8, STEP { x = x < y ? x + z : x - y; });
  sweep.chain<double>(
      "f64 abs, neg, copysign", 8, STEP { x = copysign(fabs(x) - 1.5, y), y = z - y; });
  sweep.map<double>(
      "f64 div", 40, 1, 100, OF_XY { return x / y; });
  sweep.map<double>(
      "f64 reciprocal", 30, 1, 100, OF_X { return 1 / x; });
  sweep.map<double>(
      "f64 div, rounded toward zero", 60, 1, 100, OF_XY { return __ddiv_rz(x, y); });
  sweep.map<double>(
      "f64 sqrt", 40, 1, 100, OF_X { return sqrt(x); });
  sweep.approximate<double>(
      "f64 rsqrt", 34, 1, 100, OF_X { return rsqrt(x); });
  sweep.map<double>(
      "sin", 80, -3, 3, OF_X { return sin(x); });
  sweep.map<double>(
      "sincos", 110, -3, 3, OF_X {
        double sine, cosine;
        sincos(x, &sine, &cosine);
        return sine * cosine;
      });
  sweep.map<double>(
      "tan", 120, -3, 3, OF_X { return tan(x); });
  sweep.map<double>(
      "asin", 90, -0.9, 0.9, OF_X { return asin(x); });
  sweep.map<double>(
      "atan2", 140, -3, 3.1, OF_XY { return atan2(x, y); });
  sweep.map<double>(
      "exp", 60, -5, 5, OF_X { return exp(x); });
  sweep.map<double>(
      "exp10", 70, -5, 5, OF_X { return exp10(x); });
  sweep.map<double>(
      "expm1", 80, -2, 2, OF_X { return expm1(x); });
  sweep.map<double>(
      "log", 90, 0.1, 10, OF_X { return log(x); });
  sweep.map<double>(
      "log10", 90, 0.1, 10, OF_X { return log10(x); });
  sweep.map<double>(
      "pow", 260, 0.5, 3, OF_XY { return pow(x, y); });
  sweep.map<double>(
      "tanh", 90, -3, 3, OF_X { return tanh(x); });
  sweep.map<double>(
      "cbrt", 80, 1, 100, OF_X { return cbrt(x); });
  sweep.approximate<double>(
      "hypot", 90, 1, 100, OF_XY { return hypot(x, y); });
  sweep.map<double>(
      "erf", 110, -2, 2, OF_X { return erf(x); });
  sweep.map<double>(
      "tgamma", 260, 0.5, 5, OF_X { return tgamma(x); });
  sweep.map<double>(
      "lgamma", 300, 0.5, 5, OF_X { return lgamma(x); });
  sweep.map<double>(
      "fmod", 200, 1, 100, OF_XY { return fmod(x, y); });
  sweep.map<double>(
      "rint, floor, ceil, trunc", 60, -50, 50, OF_X { return rint(x) + floor(x) * 3 + ceil(x) * 5 + trunc(x) * 7; });
  sweep.map<double>(
      "round", 9, -50, 50, OF_X { return round(x); });
  sweep.map<double>(
      "frexp and ldexp", 50, 1, 100, OF_X {
        int exponent;
        double mantissa = frexp(x, &exponent);
        return ldexp(mantissa, exponent * 2);
      });
  sweep.latency<double>(
      "latency, f64 fma", 10, STEP { x = fma(x, 0.3, y); });
  sweep.latency<double>(
      "latency, f64 div", 200, STEP { x = y / x + z; });
  sweep.latency<double>(
      "latency, f64 sqrt", 200, STEP { x = sqrt(x) + y; });
  sweep.latency<double>(
      "latency, exp", 250, STEP { x = exp(-x) + y; });
}

void halfAndSmaller(operations::Sweep& sweep) {
  sweep.chain<__half>(
      "f16 add and mul", 3, STEP { x = __hmul(__hadd(x, y), __float2half(0.3f)), y = __hsub(y, x); });
  sweep.chain<__half>(
      "f16 fma", 1, STEP { x = __hfma(x, __float2half(0.3f), y); });
  sweep.map<float>(
      "half2 add and mul", 8, 0, 4, OF_XY {
        Half2 a = halves(x, y), b = halves(y, 1);
        return word(__hmul2(__hadd2(a, b), __hsub2(b, a)));
      });
  sweep.map<float>(
      "half2 fma", 16, 0, 4, OF_XY {
        Half2 a = halves(x, y), b = halves(0.3f, 0.7f);
#pragma unroll
        for (int i = 0; i < 16; ++i) a = __hfma2(a, b, __halves2half2(a.y, b.x));
        return word(a);
      });
  sweep.map<float>(
      "half2 fma, relu and saturated", 24, -2, 4, OF_XY {
        Half2 a = halves(x, y), b = halves(-0.3f, 0.7f);
#pragma unroll
        for (int i = 0; i < 8; ++i) a = __hfma2_relu(a, b, a), b = __hfma2_sat(b, a, b);
        return word(__hadd2(a, b));
      });
  sweep.map<float>(
      "half2 min, max, compare", 16, -2, 4, OF_XY {
        Half2 a = halves(x, y), b = halves(y, 1);
        return word(__hmin2(a, b)) + word(__hmax2(a, b)) * 3 + word(__hlt2(a, b)) * 5;
      });
  sweep.map<float>(
      "half2 div", 30, 1, 4, OF_XY { return word(__h2div(halves(x, y), halves(y, 3))); });
  sweep.approximate<float>(
      "h2exp", 30, -2, 2, OF_XY { return __low2float(h2exp(halves(x, y))); });
  sweep.approximate<float>(
      "h2log and h2sqrt", 44, 1, 20, OF_XY {
        Half2 a = halves(x, y);
        return __low2float(h2log(a)) + __high2float(h2sqrt(a));
      });
  sweep.map<float>(
      "hsin and hcos", 40, 0.1f, 1.4f,
      OF_X { return __half2float(hsin(__float2half(x))) + __half2float(hcos(__float2half(x))); });
  sweep.approximate<float>(
      "tanh.approx.f16x2", 16, 0.1f, 2, OF_XY {
        unsigned result;
        asm("tanh.approx.f16x2 %0, %1;" : "=r"(result) : "r"(word(halves(x, y))));
        Half2 both;
        memcpy(&both, &result, 4);
        return __low2float(both);
      });
  sweep.map<float>(
      "hfloor, hceil, hrint", 14, -20, 20, OF_X {
        __half h = __float2half(x);
        return __hadd(hfloor(h), __hadd(hceil(h), hrint(h)));
      });
  sweep.chain<__nv_bfloat16>(
      "bf16 add and mul", 1, STEP { x = __hmul(__hadd(x, y), __float2bfloat16(0.3f)), y = __hsub(y, x); });
  sweep.chain<__nv_bfloat16>(
      "bf16 fma", 1, STEP { x = __hfma(x, __float2bfloat16(0.3f), y); });
  sweep.map<float>(
      "bfloat162 fma", 16, 0, 4, OF_XY {
        Bfloat2 a = __floats2bfloat162_rn(x, y), b = __floats2bfloat162_rn(0.3f, 0.7f);
#pragma unroll
        for (int i = 0; i < 16; ++i) a = __hfma2(a, b, __halves2bfloat162(a.y, b.x));
        return word(a);
      });
  sweep.map<float>(
      "bfloat162 max and mul", 10, -2, 4, OF_XY {
        Bfloat2 a = __floats2bfloat162_rn(x, y), b = __floats2bfloat162_rn(y, 1);
        return word(__hmax2(a, b)) + word(__hmul2(a, b));
      });
  sweep.approximate<float>(
      "bf16 exp", 24, -2, 2, OF_X { return __bfloat162float(hexp(__float2bfloat16(x))); });
}

void conversions(operations::Sweep& sweep) {
  using i64 = long long;
  using u64 = unsigned long long;
  sweep.map<float>(
      "f32 to i32, 4 roundings", 36, -1e6f, 1e6f,
      OF_X { return __float2int_rz(x) + __float2int_rn(x) * 3 + __float2int_ru(x) * 5 + __float2int_rd(x) * 7; });
  sweep.map<float>(
      "f32 to u32", 10, 0, 4e9f, OF_X { return unsigned(x); });
  sweep.map<float>(
      "f32 to i32, beyond its range", 10, -1e12f, 1e12f, OF_X { return int(x); });
  sweep.map<float>(
      "f32 to i64", 12, -1e12f, 1e12f, OF_X { return i64(x); });
  sweep.map<float>(
      "f32 to u64", 12, 0, 1e19f, OF_X { return u64(x); });
  sweep.map<float>(
      "f32 to i8 and u16", 20, -100, 100, OF_X { return (signed char)x + 3 * (unsigned short)(x + 100); });
  sweep.map<float>(
      "f32 to u8, saturated", 3, -100, 400, OF_X {
        unsigned result;
        asm("cvt.rni.sat.u8.f32 %0, %1;" : "=r"(result) : "f"(x));
        return result;
      });
  sweep.map<float>(
      "f32 to f16 and back", 4, -100, 100, OF_X { return __half2float(__float2half(x)); });
  sweep.map<float>(
      "f32 to f16, rounded toward zero", 10, -100, 100, OF_X { return __float2half_rz(x); });
  sweep.map<float>(
      "f32 to half2", 6, -100, 100, OF_XY { return word(halves(x, y)); });
  sweep.map<float>(
      "f32 to bf16 and back", 6, -100, 100, OF_X { return __bfloat162float(__float2bfloat16(x)); });
  sweep.map<float>(
      "f32 to half2 and back", 10, -2, 4, OF_XY {
        Half2 both = halves(x, y);
        return __low2float(both) + 3 * __high2float(both);
      });
  sweep.map<float>(
      "f32 to i32 and back", 20, -100, 100, OF_X { return float(int(x)) + x; });
  sweep.map<double>(
      "f64 to f32 and back", 20, -100, 100, OF_X { return double(float(x)) * 1.1; });
  sweep.map<int>(
      "i32 to f32 and back", 20, -(1 << 30), 1 << 30, OF_X { return int(float(x)); });
  sweep.map<i64>(
      "i64 to f64 and back", 20, -(1ll << 60), 1ll << 60, OF_X { return i64(double(x)); });
  sweep.map<float>(
      "f32 to bfloat162", 6, -100, 100, OF_XY { return word(__floats2bfloat162_rn(x, y)); });
  sweep.map<float>(
      "f32 to f64 and back", 18, -100, 100, OF_X { return float(double(x) * 1.1); });
  sweep.map<float>(
      "f32 to fp8", 16, -100, 100, OF_X {
        return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3) +
               3 * __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2);
      });
  sweep.map<unsigned>(
      "fp8 to f16", 16, 12345, 1u << 30, OF_X {
        __half_raw low = __nv_cvt_fp8_to_halfraw(x >> 8 & 127, __NV_E4M3),
                   high = __nv_cvt_fp8_to_halfraw(x & 123, __NV_E5M2);
        return low.x + 3 * high.x;
      });
  sweep.map<unsigned>(
      "fp8x2 to half2", 10, 12345, 1u << 30, OF_X {
        __half2_raw both = __nv_cvt_fp8x2_to_halfraw2(x & 0x7b7b, __NV_E5M2);
        return both.x + 3 * both.y;
      });
  sweep.map<int>(
      "i32 to f32, 3 roundings", 7, -(1 << 30), 1 << 30,
      OF_X { return __int2float_rn(x) + __int2float_rz(x) * 3 + __int2float_ru(x) * 5; });
  sweep.map<unsigned>(
      "u8 to f32", 9, 12345, 1u << 30, OF_X { return float((unsigned char)x); });
  sweep.map<unsigned>(
      "4 bytes to f32", 36, 12345, 1u << 30,
      OF_X { return float(x & 255) + float(x >> 8 & 255) * 3 + float(x >> 16 & 255) * 5 + float(x >> 24) * 7; });
  sweep.map<int>(
      "i16 to f32", 9, 0, 1 << 30, OF_X { return float(short(x)); });
  sweep.map<int>(
      "i32 to f64", 12, -(1 << 30), 1 << 30, OF_X { return double(x); });
  sweep.map<int>(
      "i32 to f16", 10, -2000, 2000, OF_X { return __int2half_rn(x); });
  sweep.map<i64>(
      "i64 to f32", 14, -(1ll << 60), 1ll << 60, OF_X { return float(x); });
  sweep.map<i64>(
      "i64 to f64", 14, -(1ll << 60), 1ll << 60, OF_X { return double(x); });
  sweep.map<u64>(
      "u64 to f64, rounded up", 14, 0, 1ull << 62, OF_X { return __ull2double_ru(x); });
  sweep.map<double>(
      "f64 to i32", 12, -1e6, 1e6, OF_X { return int(x); });
  sweep.map<double>(
      "f64 to i64", 14, -1e15, 1e15, OF_X { return i64(x); });
  sweep.map<double>(
      "f64 to u64, rounded to nearest", 14, 0, 1e19, OF_X { return __double2ull_rn(x); });
  sweep.map<double>(
      "f64 to f32, 2 roundings", 20, -100, 100, OF_X { return __double2float_rn(x) + __double2float_rz(x); });
  sweep.map<double>(
      "f64 to f16", 7, -100, 100, OF_X { return __double2half(x); });
  sweep.chain<double>(
      "f64 words taken and joined", 4,
      STEP { x = __hiloint2double(__double2hiint(x) ^ (__double2loint(y) & 1), __double2loint(x) + 1); });
}

int main(int argc, char** argv) {
  operations::Sweep sweep("floating-point operations", argc, argv);
  singles(sweep);
  doubles(sweep);
  halfAndSmaller(sweep);
  conversions(sweep);
}
