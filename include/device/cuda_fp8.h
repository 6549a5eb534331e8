// The two formats of 8 bits: e4m3, which has no infinities, and e5m2, the upper half of an f16.
#ifndef MULCIBER_DEVICE_CUDA_FP8_H
#define MULCIBER_DEVICE_CUDA_FP8_H
#define __CUDA_FP8_H__

#include <limits>

#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

// `bits` are a float's. What is not finite here: NaN is 7f in e4m3 and 7e in e5m2, too large a number is NaN in e4m3
// and infinite in e5m2, unless it saturates.
MULCIBER_BOTH __nv_fp8_storage_t __mulciber_fp8_of(float x, __nv_saturation_t saturation,
                                                   __nv_fp8_interpretation_t format) {
  const unsigned bits = __mulciber_as<unsigned>(x), magnitude = bits & 0x7fffffff, sign = bits >> 24 & 0x80;
  const bool isE4m3 = format == __NV_E4M3;
  if (magnitude > 0x7f800000) return isE4m3 ? 0x7f : 0x7e;
  // The exponent of the smallest normal number, and how many of a float's digits go.
  const int smallest = isE4m3 ? 121 : 113, lost = isE4m3 ? 20 : 21, exponent = static_cast<int>(magnitude >> 23);
  const unsigned greatest = isE4m3 ? 0x7e : 0x7b;
  const bool isDenormal = exponent < smallest;
  const unsigned digits = isDenormal ? (magnitude & 0x7fffff) | (exponent != 0 ? 0x800000 : 0)
                                     : magnitude - (static_cast<unsigned>(smallest - 1) << 23);
  const int shift = isDenormal ? (lost + smallest - exponent < 31 ? lost + smallest - exponent : 31) : lost;
  unsigned rounded =
      __mulciber_rounded(digits >> shift, digits & ((1u << shift) - 1), 1u << (shift - 1), sign != 0, __mulciber_rn);
  if (rounded > greatest) rounded = saturation == __NV_SATFINITE ? greatest : greatest + 1;
  return static_cast<__nv_fp8_storage_t>(sign | rounded);
}
MULCIBER_BOTH __half __mulciber_half_of_fp8(__nv_fp8_storage_t x, __nv_fp8_interpretation_t format) {
  unsigned bits = x << 8;
  if (format == __NV_E5M2) return __mulciber_half_bits((bits & 0x7fff) > 0x7c00 ? 0x7fff : bits);
  const unsigned sign = bits & 0x8000;
  unsigned magnitude = x & 0x7f;
  if (magnitude == 0x7f) return __mulciber_half_bits(0x7fff);
  if (magnitude >= 8) return __mulciber_half_bits(sign | ((magnitude << 7) + 0x2000));
  // 0 to 7 times 2^-9
  if (magnitude == 0) return __mulciber_half_bits(sign);
  unsigned exponent = 9;
  for (; magnitude < 8; magnitude *= 2) --exponent;
  return __mulciber_half_bits(sign | exponent << 10 | (magnitude & 7) << 7);
}

MULCIBER_BOTH __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturation,
                                                       __nv_fp8_interpretation_t format) {
  return __mulciber_fp8_of(x, saturation, format);
}
MULCIBER_BOTH __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturation,
                                                        __nv_fp8_interpretation_t format) {
  return __mulciber_fp8_of(__mulciber_float_of(x), saturation, format);
}
MULCIBER_BOTH __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturation,
                                                         __nv_fp8_interpretation_t format) {
  return __mulciber_fp8_of(__mulciber_half_value(x.x), saturation, format);
}
MULCIBER_BOTH __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x, __nv_saturation_t saturation,
                                                             __nv_fp8_interpretation_t format) {
  return __mulciber_fp8_of(__mulciber_bfloat16_value(x.x), saturation, format);
}
MULCIBER_BOTH __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t format) {
  return __mulciber_half_of_fp8(x, format);
}

// Two of them, the first in the lower bits.
#define MULCIBER_FP8_PAIR(from, From, one)                                                                            \
  MULCIBER_BOTH __nv_fp8x2_storage_t __nv_cvt_##from##_to_fp8x2(From x, __nv_saturation_t saturation,                 \
                                                                __nv_fp8_interpretation_t format) {                   \
    return static_cast<__nv_fp8x2_storage_t>(__nv_cvt_##one##_to_fp8(__mulciber_first(x), saturation, format) |       \
                                             __nv_cvt_##one##_to_fp8(__mulciber_second(x), saturation, format) << 8); \
  }
MULCIBER_BOTH float __mulciber_first(float2 x) { return x.x; }
MULCIBER_BOTH float __mulciber_second(float2 x) { return x.y; }
MULCIBER_BOTH double __mulciber_first(double2 x) { return x.x; }
MULCIBER_BOTH double __mulciber_second(double2 x) { return x.y; }
MULCIBER_BOTH __half_raw __mulciber_first(__half2_raw x) { return __half_raw{x.x}; }
MULCIBER_BOTH __half_raw __mulciber_second(__half2_raw x) { return __half_raw{x.y}; }
MULCIBER_BOTH __nv_bfloat16_raw __mulciber_first(__nv_bfloat162_raw x) { return __nv_bfloat16_raw{x.x}; }
MULCIBER_BOTH __nv_bfloat16_raw __mulciber_second(__nv_bfloat162_raw x) { return __nv_bfloat16_raw{x.y}; }
MULCIBER_FP8_PAIR(float2, float2, float)
MULCIBER_FP8_PAIR(double2, double2, double)
MULCIBER_FP8_PAIR(halfraw2, __half2_raw, halfraw)
MULCIBER_FP8_PAIR(bfloat16raw2, __nv_bfloat162_raw, bfloat16raw)
#undef MULCIBER_FP8_PAIR
MULCIBER_BOTH __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t format) {
  return __half2_raw{__mulciber_half_of_fp8(static_cast<__nv_fp8_storage_t>(x), format).__x,
                     __mulciber_half_of_fp8(static_cast<__nv_fp8_storage_t>(x >> 8), format).__x};
}

// The classes saturate. Conversions to integers go towards zero, to the nearest that the type has; NaN is zero, but in
// 64 bits the number with the highest bit alone.
#define MULCIBER_FP8_INTEGER(I)                                                                                       \
  __host__ __device__ explicit operator I() const {                                                                   \
    constexpr I least = std::numeric_limits<I>::min(), greatest = std::numeric_limits<I>::max();                      \
    const float x = static_cast<float>(*this);                                                                        \
    if (x != x) return sizeof(I) == 8 ? static_cast<I>(1ull << 63) : static_cast<I>(0);                               \
    return x <= static_cast<float>(least) ? least : x >= static_cast<float>(greatest) ? greatest : static_cast<I>(x); \
  }
#define MULCIBER_FP8(T, FORMAT)                                                                              \
  struct T {                                                                                                 \
    __nv_fp8_storage_t __x;                                                                                  \
    T() = default;                                                                                           \
    __host__ __device__ explicit T(float x) : __x(__nv_cvt_float_to_fp8(x, __NV_SATFINITE, FORMAT)) {}       \
    __host__ __device__ explicit T(double x) : __x(__nv_cvt_double_to_fp8(x, __NV_SATFINITE, FORMAT)) {}     \
    __host__ __device__ explicit T(__half x) : T(__half2float(x)) {}                                         \
    __host__ __device__ explicit T(__nv_bfloat16 x) : T(__bfloat162float(x)) {}                              \
    __host__ __device__ explicit T(short x) : T(static_cast<float>(x)) {}                                    \
    __host__ __device__ explicit T(unsigned short x) : T(static_cast<float>(x)) {}                           \
    __host__ __device__ explicit T(int x) : T(static_cast<double>(x)) {}                                     \
    __host__ __device__ explicit T(unsigned x) : T(static_cast<double>(x)) {}                                \
    __host__ __device__ explicit T(long x) : T(static_cast<long long>(x)) {}                                 \
    __host__ __device__ explicit T(unsigned long x) : T(static_cast<unsigned long long>(x)) {}               \
    __host__ __device__ explicit T(long long x)                                                              \
        : T(__mulciber_float_of(x < 0 ? 0ull - static_cast<unsigned long long>(x) : x, x < 0)) {}            \
    __host__ __device__ explicit T(unsigned long long x) : T(__mulciber_float_of(x, false)) {}               \
    __host__ __device__ explicit operator __half() const { return __mulciber_half_of_fp8(__x, FORMAT); }     \
    __host__ __device__ explicit operator float() const { return __half2float(static_cast<__half>(*this)); } \
    __host__ __device__ explicit operator double() const { return static_cast<float>(*this); }               \
    __host__ __device__ explicit operator __nv_bfloat16() const {                                            \
      return __float2bfloat16(static_cast<float>(*this));                                                    \
    }                                                                                                        \
    __host__ __device__ explicit operator bool() const { return (__x & 0x7f) != 0; }                         \
    MULCIBER_FP8_INTEGER(char)                                                                               \
    MULCIBER_FP8_INTEGER(signed char)                                                                        \
    MULCIBER_FP8_INTEGER(unsigned char)                                                                      \
    MULCIBER_FP8_INTEGER(short)                                                                              \
    MULCIBER_FP8_INTEGER(unsigned short)                                                                     \
    MULCIBER_FP8_INTEGER(int)                                                                                \
    MULCIBER_FP8_INTEGER(unsigned)                                                                           \
    MULCIBER_FP8_INTEGER(long)                                                                               \
    MULCIBER_FP8_INTEGER(unsigned long)                                                                      \
    MULCIBER_FP8_INTEGER(long long)                                                                          \
    MULCIBER_FP8_INTEGER(unsigned long long)                                                                 \
  };
#define MULCIBER_FP8_VECTORS(T2, T4, FORMAT)                                                                     \
  struct __align__(2) T2 {                                                                                       \
    __nv_fp8x2_storage_t __x;                                                                                    \
    T2() = default;                                                                                              \
    __host__ __device__ explicit T2(float2 x) : __x(__nv_cvt_float2_to_fp8x2(x, __NV_SATFINITE, FORMAT)) {}      \
    __host__ __device__ explicit T2(double2 x) : __x(__nv_cvt_double2_to_fp8x2(x, __NV_SATFINITE, FORMAT)) {}    \
    __host__ __device__ explicit T2(__half2 x) : T2(__half22float2(x)) {}                                        \
    __host__ __device__ explicit T2(__nv_bfloat162 x) : T2(__bfloat1622float2(x)) {}                             \
    __host__ __device__ explicit operator __half2() const {                                                      \
      return __half2(__mulciber_half_of_fp8(static_cast<__nv_fp8_storage_t>(__x), FORMAT),                       \
                     __mulciber_half_of_fp8(static_cast<__nv_fp8_storage_t>(__x >> 8), FORMAT));                 \
    }                                                                                                            \
    __host__ __device__ explicit operator float2() const { return __half22float2(static_cast<__half2>(*this)); } \
  };                                                                                                             \
  struct __align__(4) T4 {                                                                                       \
    __nv_fp8x4_storage_t __x;                                                                                    \
    T4() = default;                                                                                              \
    __host__ __device__ explicit T4(float4 x)                                                                    \
        : __x(T2(make_float2(x.x, x.y)).__x | static_cast<unsigned>(T2(make_float2(x.z, x.w)).__x) << 16) {}     \
    __host__ __device__ explicit T4(double4 x)                                                                   \
        : __x(T2(make_double2(x.x, x.y)).__x | static_cast<unsigned>(T2(make_double2(x.z, x.w)).__x) << 16) {}   \
    __host__ __device__ explicit T4(__half2 low, __half2 high)                                                   \
        : __x(T2(low).__x | static_cast<unsigned>(T2(high).__x) << 16) {}                                        \
    __host__ __device__ explicit T4(__nv_bfloat162 low, __nv_bfloat162 high)                                     \
        : __x(T2(low).__x | static_cast<unsigned>(T2(high).__x) << 16) {}                                        \
    __host__ __device__ explicit operator float4() const {                                                       \
      T2 low, high;                                                                                              \
      low.__x = static_cast<unsigned short>(__x), high.__x = static_cast<unsigned short>(__x >> 16);             \
      const float2 a = static_cast<float2>(low), b = static_cast<float2>(high);                                  \
      return make_float4(a.x, a.y, b.x, b.y);                                                                    \
    }                                                                                                            \
  };
MULCIBER_FP8(__nv_fp8_e4m3, __NV_E4M3)
MULCIBER_FP8(__nv_fp8_e5m2, __NV_E5M2)
MULCIBER_FP8_VECTORS(__nv_fp8x2_e4m3, __nv_fp8x4_e4m3, __NV_E4M3)
MULCIBER_FP8_VECTORS(__nv_fp8x2_e5m2, __nv_fp8x4_e5m2, __NV_E5M2)
#undef MULCIBER_FP8
#undef MULCIBER_FP8_INTEGER
#undef MULCIBER_FP8_VECTORS

#endif
