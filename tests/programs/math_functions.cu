// Every function of the CUDA math API against the host's own in a wider format, within the error that CUDA documents.
#include "math_check.h"

// What the host has no function for.
constexpr long double kPi = 3.14159265358979323846264338327950288L;

long double sinOfPi(long double x) {
  if (std::isinf(x)) return NAN;
  const long double r = std::remainder(x, 2.0L), a = std::fabs(r);
  const long double value = a == 0 || a == 1 ? 0 : std::sin(kPi * (a > 0.5L ? 1 - a : a));
  return std::copysign(value, value == 0 ? x : r);
}
long double cosOfPi(long double x) {
  const long double a = std::fabs(std::remainder(x, 2.0L));
  return a == 0.5L   ? 0
         : a < 0.25L ? std::cos(kPi * a)
         : a > 0.75L ? -std::cos(kPi * (1 - a))
                     : std::sin(kPi * (0.5L - a));
}

// Newton's method on erfc, whose values are small where it matters.
long double inverseOfErfc(long double x) {
  if (!(x >= 0 && x <= 2)) return NAN;
  if (x == 0 || x == 2) return x == 0 ? INFINITY : -INFINITY;
  if (x == 1) return 0;
  if (x > 1) return -inverseOfErfc(2 - x);
  long double y = std::sqrt(-std::log(x * (2 - x)));
  for (int i = 0; i < 200; ++i) {
    const long double slope = -2 / std::sqrt(kPi) * std::exp(-y * y), step = (std::erfc(y) - x) / slope;
    y -= step;
    if (std::fabs(step) < std::fabs(y) * 0x1p-62L) break;
  }
  return y;
}
long double inverseOfErf(long double x) {
  if (!(std::fabs(x) <= 1)) return NAN;
  if (std::fabs(x) > 0.5L) return std::copysign(inverseOfErfc(1 - std::fabs(x)), x);
  long double y = x * std::sqrt(kPi) / 2;
  for (int i = 0; i < 50; ++i) y -= (std::erf(y) - x) * std::sqrt(kPi) / 2 * std::exp(y * y);
  return x == 0 ? x : y;
}

long double besselI(int order, long double x) {
  if (std::isinf(x)) return order == 0 ? INFINITY : x;
  long double term = order == 0 ? 1 : x / 2, sum = term;
  for (int k = 1; k < 2000 && std::fabs(term) > std::fabs(sum) * 0x1p-70L; ++k)
    sum += term *= x * x / 4 / k / (k + order);
  return sum;
}

long double scaledErfc(long double x) {
  if (x < 25) return std::exp(x * x) * std::erfc(x);
  long double sum = 1, term = 1;  // its asymptotic series
  for (int k = 1; k < 12; ++k) sum += term *= -(2 * k - 1) / (2 * x * x);
  return std::isinf(x) ? 0 : sum / x / std::sqrt(kPi);
}

// Of numbers whose squares may be beyond the range of long double.
long double norm(long double x, long double y, long double z, long double w) {
  if (std::isinf(x) || std::isinf(y) || std::isinf(z) || std::isinf(w)) return INFINITY;
  return std::hypot(std::hypot(x, y), std::hypot(z, w));
}

#define BOTH(function, single, wide, domain)                              \
  ONE(float, function##f, single, domain, function##f(x), function##l(x)) \
  ONE(double, function, wide, domain, function(x), function##l(x))
#define BOTH2(function, single, wide, domain)                                   \
  ONE(float, function##f, single, domain, function##f(x, y), function##l(x, y)) \
  ONE(double, function, wide, domain, function(x, y), function##l(x, y))

// An array for the norms that take one.
template <class T>
struct Five {
  __device__ Five(T x, T y, T z) : values{x, y, z, x, y} {}
  T values[5];
};

// Exponents from far too small to far too large.
#define SCALE(y) (fabs(y) < 2100 ? static_cast<int>(y) : 2)
// Both give any number of the quotient's bits, but three at least.
#define QUOTIENT(q) (isfinite(x) && isfinite(y) && y != 0 ? (q < 0 ? -(-q & 7) : q & 7) : 0)
#define CLASSES(x) ((signbit(x) ? 1 : 0) + (isfinite(x) ? 2 : 0) + (isinf(x) ? 4 : 0) + (isnan(x) ? 8 : 0))
// Where the result is in the range of 64 bits.
#define WHOLE(function, reference)                                                                                \
  ONE(float, function##Of64f, 0, Any, fabsf(x) < 9e18f ? function##f(x) : 0, fabsl(x) < 9e18f ? reference(x) : 0) \
  ONE(double, function##Of64, 0, Any, fabs(x) < 9e18 ? function(x) : 0, fabsl(x) < 9e18 ? reference(x) : 0)

long double exponentOf(long double x) {
  return std::isinf(x)             ? std::numeric_limits<int>::max()
         : x == 0 || std::isnan(x) ? std::numeric_limits<int>::min()
                                   : std::ilogb(x);
}

int main(int argc, char**) {
  showHashes = argc > 1;
  BOTH(sqrt, 0, 0, Any) BOTH(cbrt, 1, 1, Any) BOTH(exp, 2, 1, Small) BOTH(exp2, 2, 1, Small) BOTH(expm1, 1, 1, Small)
  BOTH(log, 1, 1, Positive) BOTH(log2, 1, 1, Positive) BOTH(log10, 2, 1, Positive) BOTH(log1p, 1, 1, Positive)
  BOTH(sin, 2, 2, Trigonometric) BOTH(cos, 2, 2, Trigonometric) BOTH(tan, 4, 2, Trigonometric)
  BOTH(asin, 2, 2, Unit) BOTH(acos, 2, 2, Unit) BOTH(atan, 2, 2, Any) BOTH2(atan2, 3, 2, Any)
  BOTH(sinh, 3, 2, Small) BOTH(cosh, 2, 1, Small) BOTH(tanh, 2, 1, Small) BOTH(asinh, 3, 3, Any) BOTH(acosh, 4, 3, Positive)
  BOTH(atanh, 3, 2, Unit) BOTH2(pow, 4, 2, Power) BOTH2(hypot, 3, 2, Any) BOTH2(fmod, 0, 0, Any) BOTH2(remainder, 0, 0, Any)
  BOTH(erf, 2, 2, Small) BOTH(erfc, 4, 5, Small) BOTH(tgamma, 5, 10, Power) BOTH2(fdim, 0, 0, Any) BOTH2(fmax, 0, 0, Any)
  BOTH2(fmin, 0, 0, Any) BOTH(trunc, 0, 0, Any) BOTH(round, 0, 0, Any) BOTH(rint, 0, 0, Any) BOTH(floor, 0, 0, Any)
  BOTH(ceil, 0, 0, Any) BOTH(fabs, 0, 0, Any) BOTH(logb, 0, 0, Any) BOTH(nearbyint, 0, 0, Any)
  ONE(float, rsqrtf, 2, Positive, rsqrtf(x), 1 / sqrtl(x)) ONE(double, rsqrt, 1, Positive, rsqrt(x), 1 / sqrtl(x))
  ONE(float, exp10f, 2, Small, exp10f(x), powl(10, x)) ONE(double, exp10, 1, Small, exp10(x), powl(10, x))
  ONE(float, fmaf, 0, Any, fmaf(x, y, z), static_cast<long double>(fmaf(x, y, z)))
  ONE(double, fma, 0, Any, fma(x, y, z), static_cast<long double>(fma(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z))))
  ONE(float, dividef, 0, Any, x / y, static_cast<long double>(static_cast<float>(x) / static_cast<float>(y)))
  ONE(double, divide, 0, Any, x / y, static_cast<long double>(static_cast<double>(x) / static_cast<double>(y)))
  ONE(float, ldexpf, 0, Any, ldexpf(x, 5), ldexpl(x, 5)) ONE(double, ldexp, 0, Any, ldexp(x, -7), ldexpl(x, -7))
  BOTH(lgamma, 6, 4, Positive) BOTH(j0, 9, 7, Bessel) BOTH(j1, 9, 7, Bessel) BOTH(y0, 9, 7, Bessel) BOTH(y1, 9, 7, Bessel)
  ONE(float, jnf, 9, Bessel, jnf(3, x), jnl(3, x)) ONE(double, jn, 7, Bessel, jn(3, x), jnl(3, x))
  ONE(float, ynf, 9, Bessel, ynf(2, x), ynl(2, x)) ONE(double, yn, 7, Bessel, yn(2, x), ynl(2, x))
  ONE(float, cyl_bessel_i0f, 6, Small, cyl_bessel_i0f(x), besselI(0, x))
  ONE(double, cyl_bessel_i0, 6, Small, cyl_bessel_i0(x), besselI(0, x))
  ONE(float, cyl_bessel_i1f, 6, Small, cyl_bessel_i1f(x), besselI(1, x))
  ONE(double, cyl_bessel_i1, 6, Small, cyl_bessel_i1(x), besselI(1, x))
  ONE(float, erfinvf, 2, Unit, erfinvf(x), inverseOfErf(x)) ONE(double, erfinv, 5, Unit, erfinv(x), inverseOfErf(x))
  ONE(float, erfcinvf, 4, Tails, erfcinvf(x), inverseOfErfc(x)) ONE(double, erfcinv, 6, Tails, erfcinv(x), inverseOfErfc(x))
  ONE(float, erfcxf, 4, Bessel, erfcxf(x), scaledErfc(x)) ONE(double, erfcx, 4, Bessel, erfcx(x), scaledErfc(x))
  ONE(float, normcdff, 5, Small, normcdff(x), erfcl(-x / sqrtl(2)) / 2)
  ONE(double, normcdf, 5, Small, normcdf(x), erfcl(-x / sqrtl(2)) / 2)
  ONE(float, normcdfinvf, 5, Unit, normcdfinvf(fabsf(x)), -sqrtl(2) * inverseOfErfc(2 * fabsl(x)))
  ONE(double, normcdfinv, 8, Unit, normcdfinv(fabs(x)), -sqrtl(2) * inverseOfErfc(2 * fabsl(x)))
  ONE(float, sinpif, 2, Trigonometric, sinpif(x), sinOfPi(x)) ONE(double, sinpi, 2, Trigonometric, sinpi(x), sinOfPi(x))
  ONE(float, cospif, 2, Trigonometric, cospif(x), cosOfPi(x)) ONE(double, cospi, 2, Trigonometric, cospi(x), cosOfPi(x))
  ONE(float, rcbrtf, 1, Any, rcbrtf(x), 1 / cbrtl(x)) ONE(double, rcbrt, 1, Any, rcbrt(x), 1 / cbrtl(x))
  ONE(float, rhypotf, 2, Any, rhypotf(x, y), 1 / norm(x, y, 0, 0)) ONE(double, rhypot, 1, Any, rhypot(x, y), 1 / norm(x, y, 0, 0))
  ONE(float, norm3df, 3, Any, norm3df(x, y, z), norm(x, y, z, 0)) ONE(double, norm3d, 2, Any, norm3d(x, y, z), norm(x, y, z, 0))
  ONE(float, rnorm3df, 2, Any, rnorm3df(x, y, z), 1 / norm(x, y, z, 0))
  ONE(double, rnorm3d, 1, Any, rnorm3d(x, y, z), 1 / norm(x, y, z, 0))
  ONE(float, norm4df, 3, Any, norm4df(x, y, z, x), norm(x, y, z, x))
  ONE(double, norm4d, 2, Any, norm4d(x, y, z, x), norm(x, y, z, x))
  ONE(float, rnorm4df, 2, Any, rnorm4df(x, y, z, x), 1 / norm(x, y, z, x))
  ONE(double, rnorm4d, 1, Any, rnorm4d(x, y, z, x), 1 / norm(x, y, z, x))
  ONE(float, nextafterf, 0, Any, nextafterf(x, y), static_cast<long double>(nextafterf(static_cast<float>(x), static_cast<float>(y))))
  ONE(double, nextafter, 0, Any, nextafter(x, y), static_cast<long double>(nextafter(static_cast<double>(x), static_cast<double>(y))))
  ONE(float, fracf, 0, Any, modff(x, &y), isinf(x) ? copysignl(0, x) : x - truncl(x))
  ONE(double, frac, 0, Any, modf(x, &y), isinf(x) ? copysignl(0, x) : x - truncl(x))
  ONE(float, wholef, 0, Any, (modff(x, &y), y), truncl(x)) ONE(double, whole, 0, Any, (modf(x, &y), y), truncl(x))
  ONE(float, sineOfPairf, 2, Trigonometric, (sincosf(x, &y, &z), y), sinl(x))
  ONE(double, sineOfPair, 2, Trigonometric, (sincos(x, &y, &z), y), sinl(x))
  ONE(float, cosineOfPairf, 2, Trigonometric, (sincosf(x, &y, &z), z), cosl(x))
  ONE(double, cosineOfPair, 2, Trigonometric, (sincos(x, &y, &z), z), cosl(x))
  ONE(float, significandf, 0, Small, [=] { int e; return frexpf(x, &e); }(), [=] { int e; return frexpl(x, &e); }())
  ONE(double, significand, 0, Small, [=] { int e; return frexp(x, &e); }(), [=] { int e; return frexpl(x, &e); }())
  ONE(float, exponentf, 0, Positive, isfinite(x) && x != 0 ? ilogbf(x) : 0, isfinite(x) && x != 0 ? ilogbl(x) : 0)
  ONE(double, exponent, 0, Positive, isfinite(x) && x != 0 ? ilogb(x) : 0, isfinite(x) && x != 0 ? ilogbl(x) : 0)
  ONE(float, remquof, 0, Any, [=] { int q; return remquof(x, y, &q); }(), remainderl(x, y))
  ONE(double, remquo, 0, Any, [=] { int q; return remquo(x, y, &q); }(), remainderl(x, y))
  ONE(float, lrintf, 0, Small, fabsf(x) < 100 ? lrintf(x) : 0, fabsl(x) < 100 ? rintl(x) : 0)
  ONE(double, llrint, 0, Small, fabs(x) < 100 ? llrint(x) : 0, fabsl(x) < 100 ? rintl(x) : 0)
  ONE(float, lroundf, 0, Small, fabsf(x) < 100 ? lroundf(x) : 0, fabsl(x) < 100 ? roundl(x) : 0)
  ONE(double, llround, 0, Small, fabs(x) < 100 ? llround(x) : 0, fabsl(x) < 100 ? roundl(x) : 0)
  ONE(float, scalbnf, 0, Any, scalbnf(x, -3), ldexpl(x, -3)) ONE(float, copysignf, 0, Any, copysignf(x, y), copysignl(x, y))
  ONE(double, copysign, 0, Any, copysign(x, y), copysignl(x, y)) ONE(double, scalbn, 0, Any, scalbn(x, -9), ldexpl(x, -9))
  ONE(float, scalblnf, 0, Any, scalblnf(x, SCALE(y)), ldexpl(x, SCALE(y)))
  ONE(double, scalbln, 0, Any, scalbln(x, SCALE(y)), ldexpl(x, SCALE(y)))
  ONE(float, ldexpByf, 0, Any, ldexpf(x, SCALE(y)), ldexpl(x, SCALE(y)))
  ONE(double, ldexpBy, 0, Any, ldexp(x, SCALE(y)), ldexpl(x, SCALE(y)))
  ONE(float, fdividef, 0, Any, fdividef(x, y), static_cast<long double>(static_cast<float>(x) / static_cast<float>(y)))
  ONE(float, sinpiOfPairf, 2, Trigonometric, (sincospif(x, &y, &z), y), sinOfPi(x))
  ONE(double, sinpiOfPair, 2, Trigonometric, (sincospi(x, &y, &z), y), sinOfPi(x))
  ONE(float, cospiOfPairf, 2, Trigonometric, (sincospif(x, &y, &z), z), cosOfPi(x))
  ONE(double, cospiOfPair, 2, Trigonometric, (sincospi(x, &y, &z), z), cosOfPi(x))
  // CUDA gives no bound for norms of arrays.
  ONE(float, normf, 4, Any, normf(5, Five<float>(x, y, z).values), norm(x, y, z, norm(x, y, 0, 0)))
  ONE(double, norm, 4, Any, norm(5, Five<double>(x, y, z).values), norm(x, y, z, norm(x, y, 0, 0)))
  ONE(float, rnormf, 4, Any, rnormf(5, Five<float>(x, y, z).values), 1 / norm(x, y, z, norm(x, y, 0, 0)))
  ONE(double, rnorm, 4, Any, rnorm(5, Five<double>(x, y, z).values), 1 / norm(x, y, z, norm(x, y, 0, 0)))
  WHOLE(lrint, rintl) WHOLE(llrint, rintl) WHOLE(lround, roundl) WHOLE(llround, roundl)
  ONE(float, ilogbf, 0, Any, ilogbf(x), exponentOf(x)) ONE(double, ilogb, 0, Any, ilogb(x), exponentOf(x))
  ONE(float, frexpExponentf, 0, Any,
      [=] { int e; frexpf(x, &e); return isfinite(x) ? e : 0; }(), isfinite(x) && x != 0 ? ilogbl(x) + 1 : 0)
  ONE(double, frexpExponent, 0, Any,
      [=] { int e; frexp(x, &e); return isfinite(x) ? e : 0; }(), isfinite(x) && x != 0 ? ilogbl(x) + 1 : 0)
  ONE(float, remquoQuotientf, 0, Any,
      [=] { int q; remquof(x, y, &q); return QUOTIENT(q); }(),
      [=] { int q; remquol(x, y, &q); return QUOTIENT(q); }())
  ONE(double, remquoQuotient, 0, Any,
      [=] { int q; remquo(x, y, &q); return QUOTIENT(q); }(),
      [=] { int q; remquol(x, y, &q); return QUOTIENT(q); }())
  ONE(float, nanf, 0, Any, nanf(""), NAN) ONE(double, nan, 0, Any, nan(""), NAN)
  ONE(float, classesf, 0, Any, CLASSES(x), CLASSES(x)) ONE(double, classes, 0, Any, CLASSES(x), CLASSES(x))
}
