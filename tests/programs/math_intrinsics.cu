// Every intrinsic of the CUDA math API for float and double: arithmetic and conversions in each rounding mode against
// the host's in the same mode, and the fast functions within the error that CUDA documents.
#include <cfenv>

#include "math_check.h"

// `operation` in one of the host's rounding modes. Nothing moves past volatile variables.
template <class T>
long double rounded(int mode, T (*operation)(T, T, T), long double x, long double y, long double z) {
  volatile T a = static_cast<T>(x), b = static_cast<T>(y), c = static_cast<T>(z);
  std::fesetround(mode);
  volatile T result = operation(a, b, c);
  std::fesetround(FE_TONEAREST);
  return result;
}

#define IN_MODE(suffix, mode, T, name, arguments, value)     \
  ONE(T, name##_##suffix, 0, Any, name##_##suffix arguments, \
      rounded<T>(                                            \
          mode, [](T a, T b, T c) -> T { return (void)a, (void)b, (void)c, value; }, x, y, z))
#define IN_MODES(T, name, arguments, value)             \
  IN_MODE(rn, FE_TONEAREST, T, name, arguments, value)  \
  IN_MODE(rz, FE_TOWARDZERO, T, name, arguments, value) \
  IN_MODE(ru, FE_UPWARD, T, name, arguments, value)     \
  IN_MODE(rd, FE_DOWNWARD, T, name, arguments, value)

void arithmetic() {
  IN_MODES(float, __fadd, (x, y), a + b)
  IN_MODES(double, __dadd, (x, y), a + b) IN_MODES(float, __fsub, (x, y), a - b) IN_MODES(double, __dsub, (x, y), a - b)
      IN_MODES(float, __fmul, (x, y), a* b) IN_MODES(double, __dmul, (x, y), a* b)
          IN_MODES(float, __fdiv, (x, y), a / b) IN_MODES(double, __ddiv, (x, y), a / b)
              IN_MODES(float, __fmaf, (x, y, z), std::fma(a, b, c))
                  IN_MODES(double, __fma, (x, y, z), std::fma(a, b, c))
                      IN_MODES(float, __fmaf_ieee, (x, y, z), std::fma(a, b, c)) IN_MODES(float, __frcp, (x), 1 / a)
                          IN_MODES(double, __drcp, (x), 1 / a) IN_MODES(float, __fsqrt, (x), std::sqrt(a))
                              IN_MODES(double, __dsqrt, (x), std::sqrt(a))
                                  ONE(float, __frsqrt_rn, 0, Any, __frsqrt_rn(x), 1 / sqrtl(x))
                                      ONE(float, __saturatef, 0, Any, __saturatef(x), x > 0 ? fminl(x, 1) : 0)
}

// An integer made of a number's bits, and a number rounded to an integer that has the nearest value.
template <class Integer, class T>
Integer bitsOf(T value) {
  Integer bits;
  static_assert(sizeof(bits) == sizeof(value));
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
long long bitsOfPair(float low, float high) {
  return static_cast<long long>(bitsOf<uint32_t>(high)) << 32 | bitsOf<uint32_t>(low);
}
template <class Integer, class T>
T nearestInteger(T value) {
  using Limits = std::numeric_limits<Integer>;
  const T whole = std::nearbyint(value);
  return std::min<T>(std::max<T>(whole, static_cast<T>(Limits::min())), static_cast<T>(Limits::max()));
}

// What becomes of NaNs differs from type to type; the instructions' own tests have it.
#define TO_INTEGER(T, from, to, Integer)                     \
  NOT_OF_NAN(T, __##from##2##to, rn, FE_TONEAREST, Integer)  \
  NOT_OF_NAN(T, __##from##2##to, rz, FE_TOWARDZERO, Integer) \
  NOT_OF_NAN(T, __##from##2##to, ru, FE_UPWARD, Integer)     \
  NOT_OF_NAN(T, __##from##2##to, rd, FE_DOWNWARD, Integer)
#define NOT_OF_NAN(T, name, suffix, mode, Integer)                   \
  ONE(T, name##_##suffix, 0, Any, isnan(x) ? 0 : name##_##suffix(x), \
      isnan(x) ? 0                                                   \
               : rounded<T>(                                         \
                     mode, [](T a, T, T) { return nearestInteger<Integer>(a); }, x, y, z))
#define BITS_OF_PAIR (static_cast<long long>(__float_as_int(y)) << 32 | __float_as_uint(x))

void conversions() {
  TO_INTEGER(float, float, int, int)
  TO_INTEGER(float, float, uint, unsigned) TO_INTEGER(float, float, ll, long long)
      TO_INTEGER(float, float, ull, unsigned long long) TO_INTEGER(double, double, int, int)
          TO_INTEGER(double, double, uint, unsigned) TO_INTEGER(double, double, ll, long long)
              TO_INTEGER(double, double, ull, unsigned long long)
                  IN_MODES(float, __int2float, (__float_as_int(x)), static_cast<float>(bitsOf<int>(a)))
                      IN_MODES(float, __uint2float, (__float_as_uint(x)), static_cast<float>(bitsOf<unsigned>(a)))
                          IN_MODES(float, __ll2float, (BITS_OF_PAIR), static_cast<float>(bitsOfPair(a, b)))
                              IN_MODES(float, __ull2float, (BITS_OF_PAIR),
                                       static_cast<float>(static_cast<unsigned long long>(bitsOfPair(a, b))))
                                  IN_MODES(double, __ll2double, (__double_as_longlong(x)),
                                           static_cast<double>(bitsOf<long long>(a)))
                                      IN_MODES(double, __ull2double, (__double_as_longlong(x)),
                                               static_cast<double>(bitsOf<unsigned long long>(a)))
                                          IN_MODES(double, __double2float, (x), static_cast<float>(a))
                                              IN_MODE(rn, FE_TONEAREST, double, __int2double, (__double2loint(x)),
                                                      static_cast<int>(bitsOf<long long>(a)))
                                                  IN_MODE(rn, FE_TONEAREST, double, __uint2double, (__double2hiint(x)),
                                                          static_cast<unsigned>(bitsOf<long long>(a) >> 32))
                                                      ONE(double, __hiloint2double, 0, Any,
                                                          __hiloint2double(__double2hiint(x), __double2loint(x)), x)
                                                          ONE(double, __longlong_as_double, 0, Any,
                                                              __longlong_as_double(__double_as_longlong(x)), x)
                                                              ONE(float, __int_as_float, 0, Any,
                                                                  __int_as_float(__float_as_int(x)), x)
                                                                  ONE(float, __uint_as_float, 0, Any,
                                                                      __uint_as_float(__float_as_uint(x)), x)
}

// Units of the last place of a float, and half a one for the rounding.
long double units(double count, long double exact) {
  int exponent = 0;
  std::frexp(exact, &exponent);
  return std::ldexp(count + 0.5L, std::max(exponent, std::numeric_limits<float>::min_exponent) - 24);
}
const long double kAny = INFINITY;

// Logarithms have an absolute error near one. Those of no normal number are left out.
long double errorOfLog(long double x, long double near, double count, long double exact) {
  if (!(x >= std::numeric_limits<float>::min()) || std::isinf(x)) return kAny;
  return x >= 0.5L && x <= 2 ? near : units(count, exact);
}
// Made of the others: exp2(y * log2(x)), and the quotient of sine and cosine.
long double errorOfPower(long double x, long double y) {
  if (!(x >= std::numeric_limits<float>::min()) || std::isinf(x)) return kAny;
  const long double log = std::log2(x), exponent = y * log, value = std::exp2(exponent);
  if (!(std::fabs(exponent) < 125)) return kAny;
  const long double error = std::fabs(y) * errorOfLog(x, 0x1p-22L, 2, log) + std::fabs(exponent) * 0x1p-24L;
  return value * error * 0.7L + units(2, value);
}
long double errorOfTangent(long double x) {
  const long double cosine = std::fabs(std::cos(x)), sine = std::fabs(std::sin(x));
  if (!(std::fabs(x) <= 3.14159L) || cosine < 0x1p-8L) return kAny;
  return (std::exp2(-21.41L) + sine / cosine * std::exp2(-21.19L)) / cosine * 1.01L + units(2, sine / cosine);
}

#define FAST(name, domain, call, reference, error) \
  run<float>(#name, 0, domain, DEVICE_FUNCTION(float, call), REFERENCE(reference), REFERENCE(error));

void fast() {
  FAST(__fdividef, Any, __fdividef(x, y), x / y, fabsl(y) >= 0x1p-126L && fabsl(y) <= 0x1p126L ? units(2, x / y) : kAny)
  FAST(__expf, Small, __expf(x), expl(x), units(2 + floor(fabsl(1.173L * x)), expl(x)))
  FAST(__exp10f, Small, __exp10f(x), powl(10, x), units(2 + floor(fabsl(2.97L * x)), powl(10, x)))
  FAST(__logf, Positive, __logf(x), logl(x), errorOfLog(x, exp2l(-21.41L), 3, logl(x)))
  FAST(__log2f, Positive, __log2f(x), log2l(x), errorOfLog(x, 0x1p-22L, 2, log2l(x)))
  FAST(__log10f, Positive, __log10f(x), log10l(x), errorOfLog(x, 0x1p-24L, 3, log10l(x)))
  FAST(__powf, Power, __powf(x, y), powl(x, y), errorOfPower(x, y))
  FAST(__sinf, Small, __sinf(x), sinl(x), fabsl(x) <= 3.14159L ? exp2l(-21.41L) : kAny)
  FAST(__cosf, Small, __cosf(x), cosl(x), fabsl(x) <= 3.14159L ? exp2l(-21.19L) : kAny)
  FAST(__sineOfPairf, Small, (__sincosf(x, &y, &z), y), sinl(x), fabsl(x) <= 3.14159L ? exp2l(-21.41L) : kAny)
  FAST(__cosineOfPairf, Small, (__sincosf(x, &y, &z), z), cosl(x), fabsl(x) <= 3.14159L ? exp2l(-21.19L) : kAny)
  FAST(__tanf, Small, __tanf(x), tanl(x), errorOfTangent(x))
  FAST(__tanhf, Small, __tanhf(x), tanhl(x), fabsl(tanhl(x)) * 0x1p-11L)
}

int main(int argc, char**) {
  showHashes = argc > 1;
  arithmetic();
  conversions();
  fast();
}
