// Trigonometric functions and their inverses.
#ifndef MULCIBER_DEVICE_MATH_TRIGONOMETRIC_H
#define MULCIBER_DEVICE_MATH_TRIGONOMETRIC_H

// x as a number of quarter turns and a rest of at most an eighth of a turn.
template <class T>
struct __mulciber_turn {
  unsigned quarters;
  __mulciber_pair<T> rest;
};

// For a large x = m 2^exponent: the product with the bits of 2 / pi that matter, those after the first that stand for
// whole turns. The digits of the binary fraction come in words of 64.
__device__ __forceinline__ unsigned long long __mulciber_two_over_pi(int bit) {
  static const unsigned long long words[] = {
      0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
      0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
      0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
      0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};
  // Bits before the point are zero.
  if (bit <= -64) return 0;
  if (bit < 0) return words[0] >> -bit;
  const int word = bit / 64, shift = bit % 64;
  return shift == 0 ? words[word] : words[word] << shift | words[word + 1] >> (64 - shift);
}
// The fraction of m 2^exponent 2 / pi / 4, with 192 bits of it computed and 128 kept: the upper word begins with the
// quarters.
__device__ __forceinline__ void __mulciber_large_turn(unsigned long long m, int exponent, unsigned long long* high,
                                                      unsigned long long* low) {
  const int first = exponent - 2;  // the bit of 2 / pi that m's lowest bit multiplies to a weight of two turns
  const unsigned long long a = __mulciber_two_over_pi(first), b = __mulciber_two_over_pi(first + 64),
                           c = __mulciber_two_over_pi(first + 128);
  const unsigned long long carried = __umul64hi(m, c), middle = m * b, sum = middle + carried;
  *low = sum;
  *high = m * a + __umul64hi(m, b) + (sum < middle);
}

__device__ __forceinline__ __mulciber_turn<double> __mulciber_reduced(double x) {
  if (!(__mulciber_abs(x) < 0x1p30)) {
    if (!__mulciber_finite(x)) return {0, {MULCIBER_NAN, 0}};
    const unsigned long long bits = __mulciber_bits(x), m = (bits & 0xfffffffffffff) | 0x10000000000000;
    unsigned long long high, low;
    __mulciber_large_turn(m, static_cast<int>(bits >> 52 & 0x7ff) - 1075, &high, &low);
    unsigned quarters = static_cast<unsigned>(high >> 62);
    high = high << 2 | low >> 62, low <<= 2;
    const bool isOver = static_cast<long long>(high) < 0;  // more than an eighth: less than the next quarter
    if (isOver) ++quarters, high = ~high, low = ~low;
    // Leading zeros are as much as is lost, so they go first.
    const int zeros = high != 0 ? __clzll(static_cast<long long>(high)) : 64;
    const unsigned long long top = zeros == 64 ? low : zeros == 0 ? high : high << zeros | low >> (64 - zeros);
    const unsigned long long rest = zeros == 64 ? 0 : low << zeros;
    const double upper = static_cast<double>(top >> 11);
    const double lower = static_cast<double>((top & 0x7ff) << 42 | rest >> 22);
    __mulciber_pair<double> turn = {upper * 0x1p-53, lower * 0x1p-106};
    const double scale = __mulciber_power_of_2(-zeros);
    turn.hi *= scale, turn.lo *= scale;
    turn = turn * __mulciber_pair<double>{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
    if (isOver != (x < 0)) turn.hi = -turn.hi, turn.lo = -turn.lo;
    return {x < 0 ? 0u - quarters : quarters, turn};
  }
  const double n = __mulciber_rint(x * 0x1.45f306dc9c883p-1);
  const __mulciber_pair<double> first = __mulciber_product(n, 0x1.921fb54442d18p+0),
                                second = __mulciber_product(n, 0x1.1a62633145c07p-54);
  __mulciber_pair<double> rest = __mulciber_sum(x - first.hi, -first.lo);
  rest = rest + __mulciber_pair<double>{-second.hi, -__mulciber_fma(n, -0x1.f1976b7ed8fbcp-110, second.lo)};
  return {static_cast<unsigned>(__mulciber_whole(n)), rest};
}
__device__ __forceinline__ __mulciber_turn<float> __mulciber_reduced(float x) {
  if (!(__mulciber_abs(x) < 0x1p15f)) {
    if (!__mulciber_finite(x)) return {0, {MULCIBER_NANF, 0}};
    const unsigned bits = __mulciber_bits(x), m = (bits & 0x7fffff) | 0x800000;
    unsigned long long high, low;
    __mulciber_large_turn(m, static_cast<int>(bits >> 23 & 0xff) - 150, &high, &low);
    unsigned quarters = static_cast<unsigned>(high >> 62);
    high = high << 2 | low >> 62;
    const bool isOver = static_cast<long long>(high) < 0;
    if (isOver) ++quarters, high = ~high;
    const int zeros = high != 0 ? __clzll(static_cast<long long>(high)) : 63;
    const unsigned long long top = high << zeros;
    __mulciber_pair<float> turn = {static_cast<float>(top >> 40) * 0x1p-24f,
                                   static_cast<float>(top >> 16 & 0xffffff) * 0x1p-48f};
    const float scale = __mulciber_power_of_2f(-zeros);
    turn.hi *= scale, turn.lo *= scale;
    turn = turn * __mulciber_pair<float>{0x1.921fb60000000p+0f, -0x1.777a5c0000000p-25f};
    if (isOver != (x < 0)) turn.hi = -turn.hi, turn.lo = -turn.lo;
    return {x < 0 ? 0u - quarters : quarters, turn};
  }
  const float n = __mulciber_rint(x * 0x1.45f306p-1f);
  const __mulciber_pair<float> first = __mulciber_product(n, 0x1.921fb60000000p+0f),
                               second = __mulciber_product(n, -0x1.777a5c0000000p-25f);
  __mulciber_pair<float> rest = __mulciber_sum(x - first.hi, -first.lo);
  rest = rest + __mulciber_pair<float>{-second.hi, -__mulciber_fma(n, -0x1.ee59da0000000p-50f, second.lo)};
  return {static_cast<unsigned>(__mulciber_whole(n)), rest};
}
// x half turns.
MULCIBER_T __mulciber_turn<T> __mulciber_half_turns(T x) {
  if (!__mulciber_finite(x)) return {0, {__mulciber_nan<T>(), 0}};
  const T limit = sizeof(T) == 8 ? static_cast<T>(0x1p53) : static_cast<T>(0x1p24);
  if (__mulciber_abs(x) >= limit) return {0, {__mulciber_signed(T(0), x), 0}};  // an even number
  x = x - 2 * __mulciber_rint(x * static_cast<T>(0.5));
  const T n = __mulciber_rint(2 * x);
  const __mulciber_pair<T> rest = __mulciber_pair<T>{__mulciber_fma(static_cast<T>(-0.5), n, x), 0} * MULCIBER_PI;
  return {static_cast<unsigned>(__mulciber_whole(n)), rest};
}

MULCIBER_T T __mulciber_small_sine(__mulciber_pair<T> x) {
  const T z = x.hi * x.hi;
  const T terms = __mulciber_fitted(z, {-1.0f / 6, 1.0f / 120, -1.0f / 5040, 1.0f / 362880},
                                    {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800,
                                     1.0 / 6227020800.0, -1.0 / 1307674368000.0, 1.0 / 355687428096000.0});
  return x.hi + __mulciber_fma(x.hi * z, terms, __mulciber_fma(z * static_cast<T>(-0.5), x.lo, x.lo));
}
MULCIBER_T T __mulciber_small_cosine(__mulciber_pair<T> x) {
  const T z = x.hi * x.hi, half = static_cast<T>(0.5) * z, most = 1 - half;
  const T terms = __mulciber_fitted(z, {1.0f / 24, -1.0f / 720, 1.0f / 40320, -1.0f / 3628800},
                                    {1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600,
                                     -1.0 / 87178291200.0, 1.0 / 20922789888000.0});
  const T squareRest = __mulciber_fma(x.hi, x.hi, -z);
  return most + (((1 - most) - half) + (z * z * terms - x.hi * x.lo - static_cast<T>(0.5) * squareRest));
}
// The sine of a turn; of one quarter more, its cosine.
MULCIBER_T T __mulciber_sine(__mulciber_turn<T> turn) {
  const T value = turn.quarters & 1 ? __mulciber_small_cosine(turn.rest) : __mulciber_small_sine(turn.rest);
  return turn.quarters & 2 ? -value : value;
}
MULCIBER_T T __mulciber_cosine(__mulciber_turn<T> turn) {
  return __mulciber_sine(__mulciber_turn<T>{turn.quarters + 1, turn.rest});
}
MULCIBER_T T __mulciber_sin(T x) { return x == 0 ? x : __mulciber_sine(__mulciber_reduced(x)); }
MULCIBER_T T __mulciber_cos(T x) { return __mulciber_cosine(__mulciber_reduced(x)); }
MULCIBER_T T __mulciber_tan(T x) {
  if (x == 0) return x;
  const __mulciber_turn<T> turn = __mulciber_reduced(x);
  const T sine = __mulciber_small_sine(turn.rest), cosine = __mulciber_small_cosine(turn.rest);
  return turn.quarters & 1 ? -cosine / sine : sine / cosine;
}
// A sine of whole half turns is zero with the sign of their number.
MULCIBER_T T __mulciber_sinpi(T x) {
  const T value = __mulciber_sine(__mulciber_half_turns(x));
  return value == 0 ? __mulciber_signed(T(0), x) : value;
}
MULCIBER_T T __mulciber_cospi(T x) {
  const T value = __mulciber_cosine(__mulciber_half_turns(x));
  return value == 0 ? T(0) : value;
}

// The arc tangent of a quotient in [0, 1]: of what is above tan 22.5 degrees by a turn of 45.
MULCIBER_T T __mulciber_small_atan(T x) {
  const bool isTurned = x > static_cast<T>(0.41421356237309503);
  const T t = isTurned ? (x - 1) / (x + 1) : x, z = t * t;
  const T terms =
      __mulciber_fitted(z, {-0x1.555554p-2f, 0x1.99972cp-3f, -0x1.241f9cp-3f, 0x1.b8051cp-4f, -0x1.08252ep-4f},
                        {-0x1.5555555555555p-2, 0x1.999999999933cp-3, -0x1.2492492435676p-3, 0x1.c71c7184d22fdp-4,
                         -0x1.745d0b18cf106p-4, 0x1.3b1261adefe34p-4, -0x1.10fa65e2de683p-4, 0x1.dfe5258b26000p-5,
                         -0x1.a093f58d99880p-5, 0x1.41533d1fd146bp-5, -0x1.3a0d7ec375f1cp-6});
  const T value = __mulciber_fma(t * z, terms, t);
  const __mulciber_pair<T> pi = MULCIBER_PI;
  return isTurned ? static_cast<T>(0.25) * pi.hi + (value + static_cast<T>(0.25) * pi.lo) : value;
}
MULCIBER_T T __mulciber_atan(T x) {
  const __mulciber_pair<T> pi = MULCIBER_PI;
  const T magnitude = __mulciber_abs(x);
  if (!(magnitude > 1))
    return x == 0 ? x : __mulciber_signed(__mulciber_small_atan(magnitude), x) + (x != x ? x : T(0));
  return __mulciber_signed(
      static_cast<T>(0.5) * pi.hi + (static_cast<T>(0.5) * pi.lo - __mulciber_small_atan(1 / magnitude)), x);
}
MULCIBER_T T __mulciber_atan2(T y, T x) {
  if (x != x || y != y) return __mulciber_nan<T>();
  const __mulciber_pair<T> pi = MULCIBER_PI;
  const T across = __mulciber_abs(x), up = __mulciber_abs(y);
  const bool isSteep = up > across;
  const T quotient = up == across ? (up == 0 ? T(0) : T(1)) : isSteep ? across / up : up / across;
  T angle = __mulciber_small_atan(quotient);
  if (isSteep) angle = static_cast<T>(0.5) * pi.hi + (static_cast<T>(0.5) * pi.lo - angle);
  if (__mulciber_signed(T(1), x) < 0) angle = pi.hi + (pi.lo - angle);
  return __mulciber_signed(angle, y);
}
// The arc sine of x whose square is z, at most a quarter, without x itself.
MULCIBER_T T __mulciber_small_asin(T x, T z) {
  return x * z *
         __mulciber_fitted(z, {0x1.55555ep-3f, 0x1.33273cp-4f, 0x1.70a536p-5f, 0x1.b3253ap-6f, 0x1.37ead6p-5f},
                           {0x1.555555555554fp-3, 0x1.3333333336dbdp-4, 0x1.6db6db684975bp-5, 0x1.f1c71f962391fp-6,
                            0x1.6e8b2b1a73538p-6, 0x1.1c593eec65de4p-6, 0x1.c8722ba61693ap-7, 0x1.852499bd52ef0p-7,
                            0x1.ff4ed307a59d4p-8, 0x1.06c6a72dd0064p-6, -0x1.60656c12924cdp-7, 0x1.cd966bba3202cp-6});
}
MULCIBER_T T __mulciber_asin(T x) {
  const __mulciber_pair<T> pi = MULCIBER_PI;
  const T magnitude = __mulciber_abs(x);
  if (!(magnitude > static_cast<T>(0.5))) return x == 0 ? x : x + __mulciber_small_asin(x, x * x);
  const T z = (1 - magnitude) * static_cast<T>(0.5), root = __mulciber_root(z);
  return __mulciber_signed(
             static_cast<T>(0.5) * pi.hi - (2 * (root + __mulciber_small_asin(root, z)) - static_cast<T>(0.5) * pi.lo),
             x) +
         (x != x ? x : T(0));
}
MULCIBER_T T __mulciber_acos(T x) {
  const __mulciber_pair<T> pi = MULCIBER_PI;
  const T magnitude = __mulciber_abs(x), half = static_cast<T>(0.5);
  if (!(magnitude > half)) return half * pi.hi - (x + (__mulciber_small_asin(x, x * x) - half * pi.lo));
  const T z = (1 - magnitude) * half, root = __mulciber_root(z);
  const T angle = 2 * (root + __mulciber_small_asin(root, z));
  return x > 0 ? angle : pi.hi - (angle - pi.lo);
}

MULCIBER_DEVICE float sinf(float x) { return MULCIBER_FAST(__sinf, __mulciber_sin)(x); }
MULCIBER_DEVICE double sin(double x) { return __mulciber_sin(x); }
MULCIBER_DEVICE float cosf(float x) { return MULCIBER_FAST(__cosf, __mulciber_cos)(x); }
MULCIBER_DEVICE double cos(double x) { return __mulciber_cos(x); }
MULCIBER_DEVICE float tanf(float x) { return MULCIBER_FAST(__tanf, __mulciber_tan)(x); }
MULCIBER_DEVICE double tan(double x) { return __mulciber_tan(x); }
MULCIBER_FUNCTION(sinpi)
MULCIBER_FUNCTION(cospi)
MULCIBER_FUNCTION(atan)
MULCIBER_FUNCTION(asin)
MULCIBER_FUNCTION(acos)
MULCIBER_DEVICE float atan2f(float y, float x) { return __mulciber_atan2(y, x); }
MULCIBER_DEVICE double atan2(double y, double x) { return __mulciber_atan2(y, x); }
MULCIBER_DEVICE void sincosf(float x, float* sine, float* cosine) { *sine = sinf(x), *cosine = cosf(x); }
MULCIBER_DEVICE void sincos(double x, double* sine, double* cosine) {
  const __mulciber_turn<double> turn = __mulciber_reduced(x);
  *sine = x == 0 ? x : __mulciber_sine(turn), *cosine = __mulciber_cosine(turn);
}
MULCIBER_DEVICE void sincospif(float x, float* sine, float* cosine) { *sine = sinpif(x), *cosine = cospif(x); }
MULCIBER_DEVICE void sincospi(double x, double* sine, double* cosine) { *sine = sinpi(x), *cosine = cospi(x); }

#endif
