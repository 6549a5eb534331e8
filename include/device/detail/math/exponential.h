// Exponentials, logarithms, powers and hyperbolic functions.
#ifndef MULCIBER_DEVICE_MATH_EXPONENTIAL_H
#define MULCIBER_DEVICE_MATH_EXPONENTIAL_H

// The logarithm of a positive, finite number, with about twice the format's digits: ln m = 2 artanh((m - 1) / (m + 1)).
MULCIBER_T __mulciber_pair<T> __mulciber_log(__mulciber_pair<T> x) {
  int exponent;
  T m = __mulciber_split(x.hi, &exponent);
  if (m < static_cast<T>(0.70710678118654752)) m *= 2, --exponent;
  const T rest = x.lo == 0 ? x.lo : __mulciber_scaled(x.lo, -exponent);
  const __mulciber_pair<T> less = __mulciber_sum(m - 1, rest), more = __mulciber_sum(T(1), m);
  const __mulciber_pair<T> s = less / __mulciber_pair<T>{more.hi, more.lo + rest}, z = s * s;
  T terms = static_cast<T>(1) / (sizeof(T) == 8 ? 27 : 15);
#pragma unroll
  for (int k = sizeof(T) == 8 ? 25 : 13; k >= 5; k -= 2) terms = __mulciber_fma(terms, z.hi, static_cast<T>(1) / k);
  const __mulciber_pair<T> third = z * __mulciber_constant<T>(0x1.5555555555555p-2, 0x1.5555555555555p-56);
  __mulciber_pair<T> series = __mulciber_ordered_sum(third.hi, z.hi * z.hi * terms);
  series.lo += third.lo;
  const __mulciber_pair<T> correction = s * series;
  __mulciber_pair<T> artanh = __mulciber_ordered_sum(s.hi, correction.hi);
  artanh.lo += correction.lo + s.lo;
  const __mulciber_pair<T> ln2 = MULCIBER_LN2;
  __mulciber_pair<T> whole = __mulciber_product(static_cast<T>(exponent), ln2.hi);
  whole.lo = __mulciber_fma(static_cast<T>(exponent), ln2.lo, whole.lo);
  return whole + __mulciber_pair<T>{2 * artanh.hi, 2 * artanh.lo};
}
// A logarithm of any base: `scale` is that of e, and what is no positive finite number has its own value.
MULCIBER_T T __mulciber_logarithm(T x, __mulciber_pair<T> scale) {
  if (!(x > 0)) return x == 0 ? -__mulciber_infinity<T>() : __mulciber_nan<T>();
  if (!__mulciber_finite(x)) return x;
  const __mulciber_pair<T> result = __mulciber_log(__mulciber_pair<T>{x, 0}) * scale;
  return result.hi + result.lo;
}
MULCIBER_T T __mulciber_log1p(T x) {
  if (!(x > -1)) return x == -1 ? -__mulciber_infinity<T>() : __mulciber_nan<T>();
  if (!__mulciber_finite(x) || __mulciber_abs(x) < static_cast<T>(0x1p-60)) return x;
  const __mulciber_pair<T> result = __mulciber_log(__mulciber_sum(T(1), x));
  return result.hi + result.lo;
}

// e^r - 1 of a small r and its rest, with more digits than the format has.
MULCIBER_T __mulciber_pair<T> __mulciber_small_expm1(T r, T rest) {
  const T terms =
      __mulciber_fitted(r, {1.0f / 2, 1.0f / 6, 1.0f / 24, 1.0f / 120, 1.0f / 720, 1.0f / 5040},
                        {1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880,
                         1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800.0, 1.0 / 87178291200.0});
  const __mulciber_pair<T> square = __mulciber_product(r, r);
  __mulciber_pair<T> result = __mulciber_ordered_sum(r, square.hi * terms);
  result.lo += __mulciber_fma(rest, r, rest) + square.lo * terms;
  return result;
}
MULCIBER_T T __mulciber_power_of_2_of(int n);
template <>
__device__ __forceinline__ float __mulciber_power_of_2_of<float>(int n) {
  return __mulciber_power_of_2f(n);
}
template <>
__device__ __forceinline__ double __mulciber_power_of_2_of<double>(int n) {
  return __mulciber_power_of_2(n);
}
// y 2^n, which rounds once unless the result is a denormal.
MULCIBER_T T __mulciber_raised(T y, int n) {
  const int half = n / 2;
  return y * __mulciber_power_of_2_of<T>(half) * __mulciber_power_of_2_of<T>(n - half);
}
// 2^extra e^(x + rest).
MULCIBER_T T __mulciber_exp(T x, T rest = 0, int extra = 0) {
  const T limit = sizeof(T) == 8 ? 780 : 125;
  if (__mulciber_abs(x) > limit) x = x < 0 ? -limit : limit, rest = 0;
  const __mulciber_pair<T> ln2 = MULCIBER_LN2;
  const T n = __mulciber_rint(x * MULCIBER_LOG2_E.hi);
  const T r = __mulciber_fma(-n, ln2.hi, x), small = __mulciber_fma(-n, ln2.lo, rest);
  const __mulciber_pair<T> power = __mulciber_small_expm1(r, small);
  return __mulciber_raised(1 + (power.hi + power.lo), __mulciber_whole(n) + extra);
}
// base^x, where base^x = 2^n e^(rest ln base): `log2` of the base, and the base's logarithm and that of 2 to it.
MULCIBER_T T __mulciber_exp_of(T x, T log2, __mulciber_pair<T> logOf2, T ln) {
  const T limit = (sizeof(T) == 8 ? 1100 : 180) / log2;
  if (__mulciber_abs(x) > limit) x = x < 0 ? -limit : limit;
  const T n = __mulciber_rint(x * log2);
  const T r = __mulciber_fma(-n, logOf2.lo, __mulciber_fma(-n, logOf2.hi, x)) * ln;
  const __mulciber_pair<T> power = __mulciber_small_expm1(r, T(0));
  return __mulciber_raised(1 + (power.hi + power.lo), __mulciber_whole(n));
}
MULCIBER_T T __mulciber_exp2(T x) { return __mulciber_exp_of(x, T(1), __mulciber_pair<T>{1, 0}, MULCIBER_LN2.hi); }
MULCIBER_T T __mulciber_exp10(T x) {
  return __mulciber_exp_of(x, static_cast<T>(3.3219280948873623), MULCIBER_LOG10_2, MULCIBER_LN10.hi);
}
MULCIBER_T T __mulciber_ln(T x) { return __mulciber_logarithm(x, __mulciber_pair<T>{1, 0}); }
MULCIBER_T T __mulciber_log2(T x) { return __mulciber_logarithm(x, MULCIBER_LOG2_E); }
MULCIBER_T T __mulciber_log10(T x) { return __mulciber_logarithm(x, MULCIBER_LOG10_E); }
MULCIBER_T T __mulciber_expm1(T x) {
  if (!(x < static_cast<T>(sizeof(T) == 8 ? 700 : 85))) return __mulciber_exp(x);
  if (x < -40) return x != x ? x : -1;
  if (__mulciber_abs(x) < static_cast<T>(0x1p-60)) return x;
  const __mulciber_pair<T> ln2 = MULCIBER_LN2;
  const T n = __mulciber_rint(x * MULCIBER_LOG2_E.hi);
  const __mulciber_pair<T> part = __mulciber_product(-n, ln2.hi), r = __mulciber_sum(x, part.hi);
  const __mulciber_pair<T> power = __mulciber_small_expm1(r.hi, __mulciber_fma(-n, ln2.lo, r.lo + part.lo));
  const T scale = __mulciber_power_of_2_of<T>(__mulciber_whole(n));
  const __mulciber_pair<T> sum = __mulciber_sum(scale - 1, scale * power.hi);
  return sum.hi + (sum.lo + scale * power.lo);
}

MULCIBER_T T __mulciber_pow(T x, T y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return __mulciber_nan<T>();
  const T half = y * static_cast<T>(0.5);
  const bool isWhole = __mulciber_rint(y) == y,
             isOdd = isWhole && __mulciber_finite(y) && __mulciber_rint(half) != half;
  const T magnitude = __mulciber_abs(x), sign = isOdd ? __mulciber_signed(T(1), x) : T(1);
  if (magnitude == 0 || !__mulciber_finite(magnitude))
    return sign * ((magnitude == 0) == (y > 0) ? T(0) : __mulciber_infinity<T>());
  if (!__mulciber_finite(y))
    return magnitude == 1 ? T(1) : (magnitude > 1) == (y > 0) ? __mulciber_infinity<T>() : T(0);
  if (x < 0 && !isWhole) return __mulciber_nan<T>();
  const __mulciber_pair<T> logarithm = __mulciber_log(__mulciber_pair<T>{magnitude, 0});
  const T estimate = __mulciber_times(y, logarithm.hi), limit = sizeof(T) == 8 ? 780 : 125;
  if (__mulciber_abs(estimate) > limit) return sign * __mulciber_exp(estimate);
  return sign * __mulciber_exp(estimate, __mulciber_fma(y, logarithm.hi, -estimate) + y * logarithm.lo);
}

MULCIBER_T T __mulciber_sinh(T x) {
  const T magnitude = __mulciber_abs(x);
  if (magnitude > 22) return __mulciber_signed(__mulciber_exp(magnitude, T(0), -1), x) + (x != x ? x : T(0));
  const T power = __mulciber_expm1(magnitude);
  return __mulciber_signed(static_cast<T>(0.5) * (power + power / (power + 1)), x);
}
MULCIBER_T T __mulciber_cosh(T x) {
  const T half = __mulciber_exp(__mulciber_abs(x), T(0), -1);
  return half + static_cast<T>(0.25) / half;
}
MULCIBER_T T __mulciber_tanh(T x) {
  const T magnitude = __mulciber_abs(x);
  if (magnitude > static_cast<T>(0.55))
    return __mulciber_signed(1 - 2 / (__mulciber_exp(2 * (magnitude < 30 ? magnitude : T(30))) + 1), x) +
           (x != x ? x : T(0));
  const T z = x * x;
  const T terms =
      __mulciber_fitted(z, {-0x1.555554p-2f, 0x1.110fe4p-3f, -0x1.b99ed8p-5f, 0x1.5d12f2p-6f, -0x1.b0d0c2p-8f},
                        {-0x1.5555555555550p-2, 0x1.111111110f78bp-3, -0x1.ba1ba1b764b9cp-5, 0x1.664f479c9c2b7p-6,
                         -0x1.226e0e81b930ep-7, 0x1.d6cc3d021dc90p-9, -0x1.7d2f5fc403d87p-10, 0x1.30feac80052a5p-11,
                         -0x1.c1c66a0b49674p-13, 0x1.c3bf8b8e5fb6fp-15});
  return __mulciber_fma(x * z, terms, x);
}
MULCIBER_T T __mulciber_asinh(T x) {
  const T magnitude = __mulciber_abs(x);
  if (!(magnitude < static_cast<T>(0x1p30))) return __mulciber_signed(__mulciber_ln(magnitude) + MULCIBER_LN2.hi, x);
  const T square = magnitude * magnitude;
  return __mulciber_signed(__mulciber_log1p(magnitude + square / (1 + __mulciber_root(1 + square))), x);
}
MULCIBER_T T __mulciber_acosh(T x) {
  if (!(x >= 1)) return __mulciber_nan<T>();
  if (x > static_cast<T>(0x1p30)) return __mulciber_ln(x) + MULCIBER_LN2.hi;
  const T above = x - 1;
  return __mulciber_log1p(above + __mulciber_root(__mulciber_fma(above, above, 2 * above)));
}
MULCIBER_T T __mulciber_atanh(T x) {
  const T magnitude = __mulciber_abs(x);
  return __mulciber_signed(static_cast<T>(0.5) * __mulciber_log1p(2 * magnitude / (1 - magnitude)), x);
}

#ifdef MULCIBER_APPROXIMATES
#define MULCIBER_FAST(fast, exact) fast
#else
#define MULCIBER_FAST(fast, exact) exact
#endif
#define MULCIBER_FUNCTION(name)                                           \
  MULCIBER_DEVICE float name##f(float x) { return __mulciber_##name(x); } \
  MULCIBER_DEVICE double name(double x) { return __mulciber_##name(x); }
#define MULCIBER_FAST_FUNCTION(name)                                                                  \
  MULCIBER_DEVICE float name##f(float x) { return MULCIBER_FAST(__##name##f, __mulciber_##name)(x); } \
  MULCIBER_DEVICE double name(double x) { return __mulciber_##name(x); }
MULCIBER_FAST_FUNCTION(exp)
MULCIBER_FAST_FUNCTION(exp2)
MULCIBER_FAST_FUNCTION(exp10)
MULCIBER_FAST_FUNCTION(log2)
MULCIBER_FAST_FUNCTION(log10)
MULCIBER_FUNCTION(expm1)
MULCIBER_FUNCTION(log1p)
MULCIBER_FUNCTION(sinh)
MULCIBER_FUNCTION(cosh)
MULCIBER_FUNCTION(tanh)
MULCIBER_FUNCTION(asinh)
MULCIBER_FUNCTION(acosh)
MULCIBER_FUNCTION(atanh)
MULCIBER_DEVICE float logf(float x) { return MULCIBER_FAST(__logf, __mulciber_ln)(x); }
MULCIBER_DEVICE double log(double x) { return __mulciber_ln(x); }
MULCIBER_DEVICE float powf(float x, float y) { return MULCIBER_FAST(__powf, __mulciber_pow)(x, y); }
MULCIBER_DEVICE double pow(double x, double y) { return __mulciber_pow(x, y); }
MULCIBER_DEVICE float powif(float x, int n) { return powf(x, static_cast<float>(n)); }
MULCIBER_DEVICE double powi(double x, int n) { return pow(x, static_cast<double>(n)); }

#endif
