// Exact functions: signs, classes, rounding, neighbours, exponents, remainders, square roots.
#ifndef MULCIBER_DEVICE_MATH_BASIC_H
#define MULCIBER_DEVICE_MATH_BASIC_H

#define MULCIBER_NAN __longlong_as_double(0x7ff8000000000000)
#define MULCIBER_INFINITY __longlong_as_double(0x7ff0000000000000)
#define MULCIBER_NANF __int_as_float(0x7fffffff)
#define MULCIBER_INFINITYF __int_as_float(0x7f800000)

// -use_fast_math takes the hardware's approximation of some functions of float. Clang 19 has the second name for it.
#if defined(__CLANG_CUDA_APPROX_TRANSCENDENTALS__) || defined(__CLANG_GPU_APPROX_TRANSCENDENTALS__)
#define MULCIBER_APPROXIMATES
#endif

MULCIBER_BOTH unsigned __mulciber_bits(float x) { return __float_as_uint(x); }
MULCIBER_BOTH unsigned long long __mulciber_bits(double x) { return __mulciber_as<unsigned long long>(x); }

// What Clang's overloads in namespace std call.
MULCIBER_DEVICE int __isnanf(float x) { return x != x; }
MULCIBER_DEVICE int __isnan(double x) { return x != x; }
MULCIBER_DEVICE int __isinff(float x) { return __builtin_fabsf(x) == MULCIBER_INFINITYF; }
MULCIBER_DEVICE int __isinf(double x) { return __builtin_fabs(x) == MULCIBER_INFINITY; }
MULCIBER_DEVICE int __finitef(float x) { return __builtin_fabsf(x) < MULCIBER_INFINITYF; }
MULCIBER_DEVICE int __finite(double x) { return __builtin_fabs(x) < MULCIBER_INFINITY; }
MULCIBER_DEVICE int __isfinited(double x) { return __finite(x); }
MULCIBER_DEVICE int __signbitf(float x) { return static_cast<int>(__mulciber_bits(x) >> 31); }
MULCIBER_DEVICE int __signbitd(double x) { return static_cast<int>(__mulciber_bits(x) >> 63); }
MULCIBER_DEVICE int __signbit(double x) { return __signbitd(x); }

// Functions that are an instruction, or a few.
#define MULCIBER_BUILTIN_1(name)                                            \
  MULCIBER_DEVICE float name##f(float x) { return __builtin_##name##f(x); } \
  MULCIBER_DEVICE double name(double x) { return __builtin_##name(x); }
MULCIBER_BUILTIN_1(fabs)
MULCIBER_BUILTIN_1(floor)
MULCIBER_BUILTIN_1(ceil)
MULCIBER_BUILTIN_1(trunc)
MULCIBER_BUILTIN_1(rint)
MULCIBER_BUILTIN_1(nearbyint)
#undef MULCIBER_BUILTIN_1
MULCIBER_DEVICE float sqrtf(float x) {
#ifdef MULCIBER_APPROXIMATES
  return __mulciber_sqrt(x);
#else
  return __fsqrt_rn(x);
#endif
}
MULCIBER_DEVICE double sqrt(double x) { return __dsqrt_rn(x); }
MULCIBER_DEVICE float fmaf(float x, float y, float z) { return __fmaf_rn(x, y, z); }
MULCIBER_DEVICE double fma(double x, double y, double z) { return __fma_rn(x, y, z); }
MULCIBER_DEVICE float fmaxf(float x, float y) { return __builtin_fmaxf(x, y); }
MULCIBER_DEVICE double fmax(double x, double y) { return __builtin_fmax(x, y); }
MULCIBER_DEVICE float fminf(float x, float y) { return __builtin_fminf(x, y); }
MULCIBER_DEVICE double fmin(double x, double y) { return __builtin_fmin(x, y); }
MULCIBER_DEVICE float copysignf(float x, float y) {
  return __uint_as_float((__mulciber_bits(x) & 0x7fffffff) | (__mulciber_bits(y) & 0x80000000));
}
MULCIBER_DEVICE double copysign(double x, double y) {
  return __mulciber_as<double>((__mulciber_bits(x) & 0x7fffffffffffffff) | (__mulciber_bits(y) & 0x8000000000000000));
}
MULCIBER_DEVICE float fdimf(float x, float y) { return x <= y ? 0.0f : __fsub_rn(x, y); }
MULCIBER_DEVICE double fdim(double x, double y) { return x <= y ? 0.0 : __dsub_rn(x, y); }
MULCIBER_DEVICE float fdividef(float x, float y) { return x / y; }
MULCIBER_DEVICE float rsqrtf(float x) { return __mulciber_rsqrt(x); }
MULCIBER_DEVICE double rsqrt(double x) {
  // One step of Newton's method, with the error of x y^2 computed without rounding.
  const double inverse = __drcp_rn(__dsqrt_rn(x));
  if (!(x > 0 && x < MULCIBER_INFINITY)) return inverse;
  const double root = __dmul_rn(x, inverse),
               rest = __fma_rn(-root, inverse, 1.0) - __fma_rn(x, inverse, -root) * inverse;
  return __fma_rn(0.5 * inverse, rest, inverse);
}
MULCIBER_DEVICE float roundf(float x) {
  const float whole = __builtin_truncf(x);
  return __builtin_fabsf(__fsub_rn(x, whole)) >= 0.5f ? __fadd_rn(whole, copysignf(1, x)) : copysignf(whole, x);
}
MULCIBER_DEVICE double round(double x) {
  const double whole = __builtin_trunc(x);
  return __builtin_fabs(__dsub_rn(x, whole)) >= 0.5 ? __dadd_rn(whole, copysign(1, x)) : copysign(whole, x);
}
MULCIBER_DEVICE long long llrintf(float x) { return __float2ll_rn(x); }
MULCIBER_DEVICE long long llrint(double x) { return __double2ll_rn(x); }
MULCIBER_DEVICE long lrintf(float x) { return __float2ll_rn(x); }
MULCIBER_DEVICE long lrint(double x) { return __double2ll_rn(x); }
MULCIBER_DEVICE long long llroundf(float x) { return __float2ll_rz(roundf(x)); }
MULCIBER_DEVICE long long llround(double x) { return __double2ll_rz(round(x)); }
MULCIBER_DEVICE long lroundf(float x) { return llroundf(x); }
MULCIBER_DEVICE long lround(double x) { return llround(x); }
MULCIBER_DEVICE float nanf(const char*) { return MULCIBER_NANF; }
MULCIBER_DEVICE double nan(const char*) { return MULCIBER_NAN; }
MULCIBER_DEVICE float modff(float x, float* whole) {
  *whole = __builtin_truncf(x);
  return copysignf(__isinff(x) ? 0.0f : __fsub_rn(x, *whole), x);
}
MULCIBER_DEVICE double modf(double x, double* whole) {
  *whole = __builtin_trunc(x);
  return copysign(__isinf(x) ? 0.0 : __dsub_rn(x, *whole), x);
}

// Exponents. A denormal is made normal first.
MULCIBER_DEVICE float frexpf(float x, int* exponent) {
  const bool isDenormal = __builtin_fabsf(x) < 0x1p-126f;
  const unsigned bits = __mulciber_bits(isDenormal ? __fmul_rn(x, 0x1p24f) : x), biased = bits >> 23 & 0xff;
  const bool isNumber = x != 0 && biased != 0xff;
  *exponent = isNumber ? static_cast<int>(biased) - 126 - (isDenormal ? 24 : 0) : 0;
  return isNumber ? __uint_as_float((bits & 0x807fffff) | 0x3f000000) : x + x;
}
MULCIBER_DEVICE double frexp(double x, int* exponent) {
  const bool isDenormal = __builtin_fabs(x) < 0x1p-1022;
  const unsigned long long bits = __mulciber_bits(isDenormal ? __dmul_rn(x, 0x1p54) : x);
  const int biased = static_cast<int>(bits >> 52 & 0x7ff);
  const bool isNumber = x != 0 && biased != 0x7ff;
  *exponent = isNumber ? biased - 1022 - (isDenormal ? 54 : 0) : 0;
  return isNumber ? __mulciber_as<double>((bits & 0x800fffffffffffff) | 0x3fe0000000000000) : x + x;
}
MULCIBER_DEVICE int ilogbf(float x) {
  int exponent;
  frexpf(x, &exponent);
  return __isinff(x) ? INT_MAX : x == 0 || x != x ? INT_MIN : exponent - 1;
}
MULCIBER_DEVICE int ilogb(double x) {
  int exponent;
  frexp(x, &exponent);
  return __isinf(x) ? INT_MAX : x == 0 || x != x ? INT_MIN : exponent - 1;
}
MULCIBER_DEVICE float logbf(float x) {
  return x == 0 ? -MULCIBER_INFINITYF : __finitef(x) ? static_cast<float>(ilogbf(x)) : x * x;
}
MULCIBER_DEVICE double logb(double x) {
  return x == 0 ? -MULCIBER_INFINITY : __finite(x) ? static_cast<double>(ilogb(x)) : x * x;
}
MULCIBER_BOTH float __mulciber_power_of_2f(int n) { return __uint_as_float(static_cast<unsigned>(n + 127) << 23); }
MULCIBER_BOTH double __mulciber_power_of_2(int n) {
  return __mulciber_as<double>(static_cast<unsigned long long>(n + 1023) << 52);
}
// Two factors reach every exponent, and the first product is exact.
MULCIBER_DEVICE float ldexpf(float x, int n) {
  int exponent;
  const float significand = frexpf(x, &exponent);
  if (significand == 0 || !__finitef(x)) return x;
  exponent += max(min(n, 600), -600);
  exponent = max(min(exponent, 200), -180);
  if (exponent > 127) return __fmul_rn(__fmul_rn(significand, 0x1p127f), __mulciber_power_of_2f(exponent - 127));
  if (exponent < -125) return __fmul_rn(__fmul_rn(significand, 0x1p-60f), __mulciber_power_of_2f(exponent + 60));
  return __fmul_rn(significand, __mulciber_power_of_2f(exponent));
}
MULCIBER_DEVICE double ldexp(double x, int n) {
  int exponent;
  const double significand = frexp(x, &exponent);
  if (significand == 0 || !__finite(x)) return x;
  exponent += max(min(n, 4400), -4400);
  exponent = max(min(exponent, 1100), -1220);
  if (exponent > 1023) return __dmul_rn(__dmul_rn(significand, 0x1p1023), __mulciber_power_of_2(exponent - 1023));
  if (exponent < -1021) return __dmul_rn(__dmul_rn(significand, 0x1p-200), __mulciber_power_of_2(exponent + 200));
  return __dmul_rn(significand, __mulciber_power_of_2(exponent));
}
MULCIBER_DEVICE float scalbnf(float x, int n) { return ldexpf(x, n); }
MULCIBER_DEVICE double scalbn(double x, int n) { return ldexp(x, n); }
MULCIBER_DEVICE float scalblnf(float x, long n) { return ldexpf(x, static_cast<int>(max(min(n, 600l), -600l))); }
MULCIBER_DEVICE double scalbln(double x, long n) { return ldexp(x, static_cast<int>(max(min(n, 4400l), -4400l))); }

MULCIBER_DEVICE float nextafterf(float x, float y) {
  if (x != x || y != y) return MULCIBER_NANF;
  if (x == y) return y;
  if (x == 0) return copysignf(__uint_as_float(1), y);
  return __uint_as_float(__mulciber_bits(x) + ((x < y) == (x > 0) ? 1u : ~0u));
}
MULCIBER_DEVICE double nextafter(double x, double y) {
  if (x != x || y != y) return MULCIBER_NAN;
  if (x == y) return y;
  if (x == 0) return copysign(__longlong_as_double(1), y);
  return __mulciber_as<double>(__mulciber_bits(x) + ((x < y) == (x > 0) ? 1ull : ~0ull));
}

// Remainders, digit by digit: `step` bits of the quotient at a time, of which the lowest are kept.
MULCIBER_DEVICE unsigned long long __mulciber_divide(unsigned long long x, unsigned long long y, int bits, int step,
                                                     unsigned* quotient) {
  unsigned long long digits = x / y;
  x -= digits * y;
  while (bits > 0) {
    const int count = bits < step ? bits : step;
    x <<= count;
    const unsigned long long digit = x / y;
    x -= digit * y;
    digits = (digits << count) + digit;
    bits -= count;
  }
  *quotient = static_cast<unsigned>(digits);
  return x;
}
// |x| modulo |y|, both finite and y not zero.
MULCIBER_DEVICE float __mulciber_modulo(float x, float y, unsigned* quotient) {
  int xExponent, yExponent;
  const float xPart = frexpf(x, &xExponent), yPart = frexpf(y, &yExponent);
  if (*quotient = 0, x < y) return x;
  const auto rest =
      __mulciber_divide(static_cast<unsigned long long>(xPart * 0x1p24f),
                        static_cast<unsigned long long>(yPart * 0x1p24f), xExponent - yExponent, 40, quotient);
  return ldexpf(static_cast<float>(rest), yExponent - 24);
}
MULCIBER_DEVICE double __mulciber_modulo(double x, double y, unsigned* quotient) {
  int xExponent, yExponent;
  const double xPart = frexp(x, &xExponent), yPart = frexp(y, &yExponent);
  if (*quotient = 0, x < y) return x;
  const auto rest =
      __mulciber_divide(static_cast<unsigned long long>(xPart * 0x1p53),
                        static_cast<unsigned long long>(yPart * 0x1p53), xExponent - yExponent, 11, quotient);
  return ldexp(static_cast<double>(rest), yExponent - 53);
}
// The remainder of the quotient that is nearest, an even one where two are.
#define MULCIBER_REMAINDERS(T, f, fabs, copysign, isInfinite, nan)                                   \
  MULCIBER_DEVICE T fmod##f(T x, T y) {                                                              \
    unsigned quotient;                                                                               \
    if (x != x || y != y || isInfinite(x) || y == 0) return nan;                                     \
    if (isInfinite(y) || x == 0) return x;                                                           \
    return copysign(__mulciber_modulo(fabs(x), fabs(y), &quotient), x);                              \
  }                                                                                                  \
  MULCIBER_DEVICE T remquo##f(T x, T y, int* quotient) {                                             \
    *quotient = 0;                                                                                   \
    if (x != x || y != y || isInfinite(x) || y == 0) return nan;                                     \
    if (isInfinite(y) || x == 0) return x;                                                           \
    unsigned digits;                                                                                 \
    const T divisor = fabs(y);                                                                       \
    T rest = __mulciber_modulo(fabs(x), divisor, &digits);                                           \
    const T above = divisor - rest;                                                                  \
    if (rest > above || (rest == above && (digits & 1))) rest = -above, ++digits;                    \
    *quotient = static_cast<int>(digits & 0x7fffffff) * (copysign(1, x) == copysign(1, y) ? 1 : -1); \
    return rest == 0 ? copysign(0, x) : x < 0 ? -rest : rest;                                        \
  }                                                                                                  \
  MULCIBER_DEVICE T remainder##f(T x, T y) {                                                         \
    int quotient;                                                                                    \
    return remquo##f(x, y, &quotient);                                                               \
  }
MULCIBER_REMAINDERS(float, f, fabsf, copysignf, __isinff, MULCIBER_NANF)
MULCIBER_REMAINDERS(double, , fabs, copysign, __isinf, MULCIBER_NAN)
#undef MULCIBER_REMAINDERS

MULCIBER_DEVICE float max(float x, float y) { return fmaxf(x, y); }
MULCIBER_DEVICE double max(double x, double y) { return fmax(x, y); }
MULCIBER_DEVICE double max(float x, double y) { return __builtin_fmax(x, y); }
MULCIBER_DEVICE double max(double x, float y) { return __builtin_fmax(x, y); }
MULCIBER_DEVICE float min(float x, float y) { return fminf(x, y); }
MULCIBER_DEVICE double min(double x, double y) { return fmin(x, y); }
MULCIBER_DEVICE double min(float x, double y) { return __builtin_fmin(x, y); }
MULCIBER_DEVICE double min(double x, float y) { return __builtin_fmin(x, y); }

#endif
