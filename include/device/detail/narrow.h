// What half and bfloat16 share: MULCIBER_NARROW(T, T2, name) is their types, conversions, arithmetic and comparisons,
// upon the functions of the header that uses it: __mulciber_NAME_of(float, rounding), __mulciber_NAME_value, _fma,
// _fma_relu, _add, _subtract, _multiply, _smaller, _larger and those two of NaNs.
#ifndef MULCIBER_DEVICE_NARROW_H
#define MULCIBER_DEVICE_NARROW_H

enum __mulciber_rounding { __mulciber_rn, __mulciber_rz, __mulciber_ru, __mulciber_rd };

// `kept` one higher where the rounding says so; `rest` are the bits that go, `half` the highest of them.
MULCIBER_BOTH unsigned __mulciber_rounded(unsigned kept, unsigned rest, unsigned half, bool isNegative,
                                          __mulciber_rounding rounding) {
  const bool isUp = rounding == __mulciber_rn   ? rest > half || (rest == half && (kept & 1))
                    : rounding == __mulciber_ru ? rest != 0 && !isNegative
                    : rounding == __mulciber_rd ? rest != 0 && isNegative
                                                : false;
  return kept + isUp;
}
// A float that rounds to the same narrow number as the integer: its lowest bit stands for all that are gone.
MULCIBER_BOTH float __mulciber_float_of(unsigned long long magnitude, bool isNegative) {
  int shift = 0;
  while (magnitude >> 24 != 0) magnitude = magnitude >> 1 | (magnitude & 1), ++shift;
  const float value = static_cast<float>(static_cast<unsigned>(magnitude)) *
                      __mulciber_as<float>(static_cast<unsigned>(shift + 127) << 23);
  return isNegative ? -value : value;
}
MULCIBER_BOTH float __mulciber_float_of(double x) {
  if (x != x || x - x != 0) return static_cast<float>(x);
  const float nearest = static_cast<float>(x);
  if (static_cast<double>(nearest) == x) return nearest;
  unsigned bits = __mulciber_as<unsigned>(nearest);
  if ((bits & 0x7f800000) == 0x7f800000) return nearest;
  if ((nearest > x) == (x > 0)) --bits;  // towards zero
  return __mulciber_as<float>(bits | 1);
}

#define MULCIBER_NARROW_ROUNDINGS(T, N, r)                                                                           \
  MULCIBER_BOTH T __float2##N##_##r(float x) { return __mulciber_##N##_of(x, __mulciber_##r); }                      \
  MULCIBER_BOTH T __int2##N##_##r(int x) {                                                                           \
    return __float2##N##_##r(__mulciber_float_of(x < 0 ? 0ull - static_cast<long long>(x) : x, x < 0));              \
  }                                                                                                                  \
  MULCIBER_BOTH T __uint2##N##_##r(unsigned x) { return __float2##N##_##r(__mulciber_float_of(x, false)); }          \
  MULCIBER_BOTH T __short2##N##_##r(short x) { return __float2##N##_##r(x); }                                        \
  MULCIBER_BOTH T __ushort2##N##_##r(unsigned short x) { return __float2##N##_##r(x); }                              \
  MULCIBER_BOTH T __ll2##N##_##r(long long x) {                                                                      \
    return __float2##N##_##r(__mulciber_float_of(x < 0 ? 0ull - static_cast<unsigned long long>(x) : x, x < 0));     \
  }                                                                                                                  \
  MULCIBER_BOTH T __ull2##N##_##r(unsigned long long x) { return __float2##N##_##r(__mulciber_float_of(x, false)); } \
  MULCIBER_DEVICE int __##N##2int_##r(T x) { return __float2int_##r(__##N##2float(x)); }                             \
  MULCIBER_DEVICE unsigned __##N##2uint_##r(T x) { return __float2uint_##r(__##N##2float(x)); }                      \
  MULCIBER_DEVICE long long __##N##2ll_##r(T x) { return __float2ll_##r(__##N##2float(x)); }                         \
  MULCIBER_DEVICE unsigned long long __##N##2ull_##r(T x) { return __float2ull_##r(__##N##2float(x)); }              \
  MULCIBER_DEVICE short __##N##2short_##r(T x) {                                                                     \
    return static_cast<short>(max(min(__float2int_##r(__##N##2float(x)), 32767), -32768));                           \
  }                                                                                                                  \
  MULCIBER_DEVICE unsigned short __##N##2ushort_##r(T x) {                                                           \
    return static_cast<unsigned short>(min(__float2uint_##r(__##N##2float(x)), 65535u));                             \
  }

#define MULCIBER_NARROW_TYPES(T, T2, N)                                      \
  struct T##_raw {                                                           \
    unsigned short x;                                                        \
  };                                                                         \
  struct __align__(4) T2##_raw {                                             \
    unsigned short x, y;                                                     \
  };                                                                         \
  struct __align__(2) T {                                                    \
    unsigned short __x;                                                      \
    T() = default;                                                           \
    __host__ __device__ T(T##_raw raw) : __x(raw.x) {}                       \
    __host__ __device__ T(float x);                                          \
    __host__ __device__ T(double x);                                         \
    __host__ __device__ T(int x);                                            \
    __host__ __device__ T(unsigned x);                                       \
    __host__ __device__ T(long long x);                                      \
    __host__ __device__ T(unsigned long long x);                             \
    __host__ __device__ operator float() const;                              \
    __host__ __device__ operator T##_raw() const { return {__x}; }           \
  };                                                                         \
  struct __align__(4) T2 {                                                   \
    T x, y;                                                                  \
    T2() = default;                                                          \
    __host__ __device__ T2(T low, T high) : x(low), y(high) {}               \
    __host__ __device__ T2(T2##_raw raw) {                                   \
      x.__x = raw.x;                                                         \
      y.__x = raw.y;                                                         \
    }                                                                        \
    __host__ __device__ operator T2##_raw() const { return {x.__x, y.__x}; } \
  };

#define MULCIBER_NARROW_2(T, T2, name, ...) MULCIBER_DEVICE T2 name(__VA_ARGS__)
// A comparison of T and its kin: `ordered` is false for NaN, and with u true.
#define MULCIBER_NARROW_COMPARISON(T, T2, N, kind, op)                                                \
  MULCIBER_BOTH bool __h##kind(T a, T b) { return __##N##2float(a)op __##N##2float(b); }              \
  MULCIBER_BOTH bool __h##kind##u(T a, T b) { return __h##kind(a, b) || __hisnan(a) || __hisnan(b); } \
  MULCIBER_BOTH bool operator op(T a, T b) { return __h##kind(a, b); }                                \
  MULCIBER_BOTH T2 __h##kind##2(T2 a, T2 b) {                                                         \
    return T2(T(float(__h##kind(a.x, b.x))), T(float(__h##kind(a.y, b.y))));                          \
  }                                                                                                   \
  MULCIBER_BOTH T2 __h##kind##u2(T2 a, T2 b) {                                                        \
    return T2(T(float(__h##kind##u(a.x, b.x))), T(float(__h##kind##u(a.y, b.y))));                    \
  }                                                                                                   \
  MULCIBER_BOTH bool __hb##kind##2(T2 a, T2 b) { return __h##kind(a.x, b.x) && __h##kind(a.y, b.y); } \
  MULCIBER_BOTH bool __hb##kind##u2(T2 a, T2 b) { return __h##kind##u(a.x, b.x) && __h##kind##u(a.y, b.y); }
// A function of two, of each element, and as an operator.
#define MULCIBER_NARROW_BINARY(T, T2, N, name, what, op)                                                               \
  MULCIBER_DEVICE T __h##name(T a, T b) { return __mulciber_##N##_##what(a, b); }                                      \
  MULCIBER_DEVICE T2 __h##name##2(T2 a, T2 b) { return T2(__h##name(a.x, b.x), __h##name(a.y, b.y)); }                 \
  MULCIBER_DEVICE T __h##name##_rn(T a, T b) { return __h##name(a, b); }                                               \
  MULCIBER_DEVICE T2 __h##name##2_rn(T2 a, T2 b) { return __h##name##2(a, b); }                                        \
  MULCIBER_DEVICE T __h##name##_sat(T a, T b) { return __mulciber_##N##_saturated(__h##name(a, b)); }                  \
  MULCIBER_DEVICE T2 __h##name##2_sat(T2 a, T2 b) { return T2(__h##name##_sat(a.x, b.x), __h##name##_sat(a.y, b.y)); } \
  MULCIBER_DEVICE T operator op(T a, T b) { return __h##name(a, b); }                                                  \
  MULCIBER_DEVICE T2 operator op(T2 a, T2 b) { return __h##name##2(a, b); }                                            \
  MULCIBER_DEVICE T& operator op##=(T& a, T b) { return a = a op b; }                                                  \
  MULCIBER_DEVICE T2& operator op##=(T2& a, T2 b) { return a = a op b; }
#define MULCIBER_NARROW_EACH(T, T2, name) \
  MULCIBER_DEVICE T2 h2##name(T2 a) { return T2(h##name(a.x), h##name(a.y)); }
// A function of float, rounded.
#define MULCIBER_NARROW_MATH(T, T2, N, name, value) \
  MULCIBER_DEVICE T h##name(T a) {                  \
    const float x = __##N##2float(a);               \
    return __float2##N##_rn(value);                 \
  }                                                 \
  MULCIBER_NARROW_EACH(T, T2, name)
#define MULCIBER_NARROW_SHUFFLE(T, name, Distance)                                               \
  __device__ __forceinline__ T name(unsigned mask, T value, Distance distance, int width = 32) { \
    unsigned word = 0;                                                                           \
    __builtin_memcpy(&word, &value, sizeof(T));                                                  \
    word = name(mask, word, distance, width);                                                    \
    __builtin_memcpy(&value, &word, sizeof(T));                                                  \
    return value;                                                                                \
  }
#define MULCIBER_NARROW_SHUFFLES(T)                      \
  MULCIBER_NARROW_SHUFFLE(T, __shfl_sync, int)           \
  MULCIBER_NARROW_SHUFFLE(T, __shfl_up_sync, unsigned)   \
  MULCIBER_NARROW_SHUFFLE(T, __shfl_down_sync, unsigned) \
  MULCIBER_NARROW_SHUFFLE(T, __shfl_xor_sync, int)

#define MULCIBER_NARROW(T, T2, N)                                                                                 \
  MULCIBER_BOTH T __mulciber_##N##_bits(unsigned bits) {                                                          \
    T value;                                                                                                      \
    value.__x = static_cast<unsigned short>(bits);                                                                \
    return value;                                                                                                 \
  }                                                                                                               \
  MULCIBER_BOTH float __##N##2float(T x) { return __mulciber_##N##_value(x.__x); }                                \
  MULCIBER_NARROW_ROUNDINGS(T, N, rn)                                                                             \
  MULCIBER_NARROW_ROUNDINGS(T, N, rz)                                                                             \
  MULCIBER_NARROW_ROUNDINGS(T, N, ru)                                                                             \
  MULCIBER_NARROW_ROUNDINGS(T, N, rd)                                                                             \
  MULCIBER_BOTH T __float2##N(float x) { return __float2##N##_rn(x); }                                            \
  MULCIBER_BOTH T __double2##N(double x) { return __float2##N##_rn(__mulciber_float_of(x)); }                     \
  inline __host__ __device__ T::T(float x) : __x(__float2##N##_rn(x).__x) {}                                      \
  inline __host__ __device__ T::T(double x) : __x(__double2##N(x).__x) {}                                         \
  inline __host__ __device__ T::T(int x) : __x(__int2##N##_rn(x).__x) {}                                          \
  inline __host__ __device__ T::T(unsigned x) : __x(__uint2##N##_rn(x).__x) {}                                    \
  inline __host__ __device__ T::T(long long x) : __x(__ll2##N##_rn(x).__x) {}                                     \
  inline __host__ __device__ T::T(unsigned long long x) : __x(__ull2##N##_rn(x).__x) {}                           \
  inline __host__ __device__ T::operator float() const { return __##N##2float(*this); }                           \
  MULCIBER_BOTH unsigned short __##N##_as_ushort(T x) { return x.__x; }                                           \
  MULCIBER_BOTH short __##N##_as_short(T x) { return static_cast<short>(x.__x); }                                 \
  MULCIBER_BOTH T __ushort_as_##N(unsigned short bits) { return __mulciber_##N##_bits(bits); }                    \
  MULCIBER_BOTH T __short_as_##N(short bits) { return __mulciber_##N##_bits(static_cast<unsigned short>(bits)); } \
  MULCIBER_BOTH T2 __floats2##N##2_rn(float a, float b) { return T2(__float2##N##_rn(a), __float2##N##_rn(b)); }  \
  MULCIBER_BOTH T2 __float22##N##2_rn(float2 a) { return __floats2##N##2_rn(a.x, a.y); }                          \
  MULCIBER_BOTH T2 __float2##N##2_rn(float a) { return __floats2##N##2_rn(a, a); }                                \
  MULCIBER_BOTH float2 __##N##22float2(T2 a) { return make_float2(__##N##2float(a.x), __##N##2float(a.y)); }      \
  MULCIBER_BOTH float __low2float(T2 a) { return __##N##2float(a.x); }                                            \
  MULCIBER_BOTH float __high2float(T2 a) { return __##N##2float(a.y); }                                           \
  MULCIBER_BOTH T __low2##N(T2 a) { return a.x; }                                                                 \
  MULCIBER_BOTH T __high2##N(T2 a) { return a.y; }                                                                \
  MULCIBER_BOTH T2 __halves2##N##2(T low, T high) { return T2(low, high); }                                       \
  MULCIBER_BOTH T2 __lows2##N##2(T2 a, T2 b) { return T2(a.x, b.x); }                                             \
  MULCIBER_BOTH T2 __highs2##N##2(T2 a, T2 b) { return T2(a.y, b.y); }                                            \
  MULCIBER_BOTH T2 __low2##N##2(T2 a) { return T2(a.x, a.x); }                                                    \
  MULCIBER_BOTH T2 __high2##N##2(T2 a) { return T2(a.y, a.y); }                                                   \
  MULCIBER_BOTH T2 __lowhigh2highlow(T2 a) { return T2(a.y, a.x); }                                               \
  MULCIBER_BOTH T2 __##N##2##N##2(T a) { return T2(a, a); }                                                       \
  MULCIBER_BOTH T2 make_##N##2(T a, T b) { return T2(a, b); }                                                     \
  MULCIBER_BOTH bool __hisnan(T a) { return __##N##2float(a) != __##N##2float(a); }                               \
  MULCIBER_BOTH int __hisinf(T a) {                                                                               \
    const float x = __##N##2float(a);                                                                             \
    return x - x != 0 && x == x ? (x > 0 ? 1 : -1) : 0;                                                           \
  }                                                                                                               \
  MULCIBER_BOTH T __hneg(T a) {                                                                                   \
    return __hisnan(a) ? __mulciber_##N##_bits(0x7fff) : __mulciber_##N##_bits(a.__x ^ 0x8000u);                  \
  }                                                                                                               \
  MULCIBER_BOTH T __habs(T a) {                                                                                   \
    return __hisnan(a) ? __mulciber_##N##_bits(0x7fff) : __mulciber_##N##_bits(a.__x & 0x7fffu);                  \
  }                                                                                                               \
  MULCIBER_BOTH T2 __hneg2(T2 a) { return T2(__hneg(a.x), __hneg(a.y)); }                                         \
  MULCIBER_BOTH T2 __habs2(T2 a) { return T2(__habs(a.x), __habs(a.y)); }                                         \
  MULCIBER_BOTH T operator-(T a) { return __hneg(a); }                                                            \
  MULCIBER_DEVICE T __mulciber_##N##_saturated(T a) {                                                             \
    return __float2##N##_rn(fminf(fmaxf(__##N##2float(a), 0.0f), 1.0f));                                          \
  }                                                                                                               \
  MULCIBER_NARROW_COMPARISON(T, T2, N, eq, ==)                                                                    \
  MULCIBER_NARROW_COMPARISON(T, T2, N, lt, <)                                                                     \
  MULCIBER_NARROW_COMPARISON(T, T2, N, le, <=)                                                                    \
  MULCIBER_NARROW_COMPARISON(T, T2, N, gt, >)                                                                     \
  MULCIBER_NARROW_COMPARISON(T, T2, N, ge, >=)                                                                    \
  MULCIBER_BOTH bool __hneu(T a, T b) { return !__heq(a, b); }                                                    \
  MULCIBER_BOTH bool __hne(T a, T b) { return __hneu(a, b) && !__hisnan(a) && !__hisnan(b); }                     \
  MULCIBER_BOTH bool operator!=(T a, T b) { return __hneu(a, b); }                                                \
  MULCIBER_NARROW_BINARY(T, T2, N, add, add, +)                                                                   \
  MULCIBER_NARROW_BINARY(T, T2, N, sub, subtract, -)                                                              \
  MULCIBER_NARROW_BINARY(T, T2, N, mul, multiply, *)                                                              \
  MULCIBER_DEVICE T __hdiv(T a, T b) { return __float2##N##_rn(__fdiv_rn(__##N##2float(a), __##N##2float(b))); }  \
  MULCIBER_DEVICE T2 __h2div(T2 a, T2 b) { return T2(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); }                       \
  MULCIBER_DEVICE T operator/(T a, T b) { return __hdiv(a, b); }                                                  \
  MULCIBER_DEVICE T2 operator/(T2 a, T2 b) { return __h2div(a, b); }                                              \
  MULCIBER_DEVICE T& operator/=(T& a, T b) { return a = a / b; }                                                  \
  MULCIBER_DEVICE T __hfma(T a, T b, T c) { return __mulciber_##N##_fma(a, b, c); }                               \
  MULCIBER_DEVICE T __hfma_sat(T a, T b, T c) { return __mulciber_##N##_saturated(__hfma(a, b, c)); }             \
  MULCIBER_DEVICE T __hfma_relu(T a, T b, T c) { return __mulciber_##N##_fma_relu(a, b, c); }                     \
  MULCIBER_DEVICE T2 __hfma2(T2 a, T2 b, T2 c) { return T2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)); }       \
  MULCIBER_DEVICE T2 __hfma2_sat(T2 a, T2 b, T2 c) {                                                              \
    return T2(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));                                              \
  }                                                                                                               \
  MULCIBER_DEVICE T2 __hfma2_relu(T2 a, T2 b, T2 c) {                                                             \
    return T2(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y));                                            \
  }                                                                                                               \
  MULCIBER_DEVICE T __hmin(T a, T b) { return __mulciber_##N##_smaller(a, b); }                                   \
  MULCIBER_DEVICE T __hmax(T a, T b) { return __mulciber_##N##_larger(a, b); }                                    \
  MULCIBER_DEVICE T __hmin_nan(T a, T b) { return __mulciber_##N##_smaller_nan(a, b); }                           \
  MULCIBER_DEVICE T __hmax_nan(T a, T b) { return __mulciber_##N##_larger_nan(a, b); }                            \
  MULCIBER_DEVICE T2 __hmin2(T2 a, T2 b) { return T2(__hmin(a.x, b.x), __hmin(a.y, b.y)); }                       \
  MULCIBER_DEVICE T2 __hmax2(T2 a, T2 b) { return T2(__hmax(a.x, b.x), __hmax(a.y, b.y)); }                       \
  MULCIBER_DEVICE T2 __hmin2_nan(T2 a, T2 b) { return T2(__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y)); }           \
  MULCIBER_DEVICE T2 __hmax2_nan(T2 a, T2 b) { return T2(__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y)); }           \
  MULCIBER_NARROW_MATH(T, T2, N, floor, floorf(x))                                                                \
  MULCIBER_NARROW_MATH(T, T2, N, ceil, ceilf(x))                                                                  \
  MULCIBER_NARROW_MATH(T, T2, N, trunc, truncf(x))                                                                \
  MULCIBER_NARROW_MATH(T, T2, N, rint, rintf(x))                                                                  \
  MULCIBER_NARROW_MATH(T, T2, N, sqrt, __fsqrt_rn(x))                                                             \
  MULCIBER_NARROW_MATH(T, T2, N, rsqrt, __frsqrt_rn(x))                                                           \
  MULCIBER_NARROW_MATH(T, T2, N, rcp, __frcp_rn(x))                                                               \
  MULCIBER_NARROW_MATH(T, T2, N, exp, expf(x))                                                                    \
  MULCIBER_NARROW_MATH(T, T2, N, exp2, exp2f(x))                                                                  \
  MULCIBER_NARROW_MATH(T, T2, N, exp10, exp10f(x))                                                                \
  MULCIBER_NARROW_MATH(T, T2, N, log, logf(x))                                                                    \
  MULCIBER_NARROW_MATH(T, T2, N, log2, log2f(x))                                                                  \
  MULCIBER_NARROW_MATH(T, T2, N, log10, log10f(x))                                                                \
  MULCIBER_NARROW_MATH(T, T2, N, sin, sinf(x))                                                                    \
  MULCIBER_NARROW_MATH(T, T2, N, cos, cosf(x))                                                                    \
  MULCIBER_NARROW_MATH(T, T2, N, tanh, tanhf(x))                                                                  \
  MULCIBER_NARROW_SHUFFLES(T)                                                                                     \
  MULCIBER_NARROW_SHUFFLES(T2)

// Atomic additions of 16 bits go through a compare-and-swap where the architecture has no instruction for them.
#define MULCIBER_NARROW_ATOMIC(T)                                                  \
  __device__ __forceinline__ T atomicAdd(T* address, T value) {                    \
    unsigned short* const bits = reinterpret_cast<unsigned short*>(address);       \
    unsigned short old = *reinterpret_cast<volatile unsigned short*>(bits), found; \
    do {                                                                           \
      found = old;                                                                 \
      T sum;                                                                       \
      __builtin_memcpy(&sum, &found, 2);                                           \
      sum = __hadd(sum, value);                                                    \
      unsigned short changed;                                                      \
      __builtin_memcpy(&changed, &sum, 2);                                         \
      old = atomicCAS(bits, found, changed);                                       \
    } while (old != found);                                                        \
    T result;                                                                      \
    __builtin_memcpy(&result, &old, 2);                                            \
    return result;                                                                 \
  }

#endif
