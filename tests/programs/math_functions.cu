// Every function of the CUDA math API against the host's own in a wider format, within the error that CUDA documents.
// With an argument it prints a hash of each function's results as well, which tells devices apart that differ by a bit.
#include <cmath>

#include "program.h"

constexpr int kCount = 4096;

template <class T, class F>
__global__ void apply(const T* a, const T* b, const T* c, T* out, F f) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kCount) out[i] = f(a[i], b[i], c[i]);
}

bool showHashes = false;

// The distance in units of the last place of `T` at the exact value.
template <class T>
double distance(T got, long double exact) {
  if (std::isnan(got) || std::isnan(exact)) return std::isnan(got) && std::isnan(exact) ? 0 : INFINITY;
  const T nearest = static_cast<T>(exact);
  if (got == nearest) return 0;
  if (std::isinf(got) || std::isinf(nearest)) return INFINITY;
  int exponent = 0;
  std::frexp(exact, &exponent);
  const int digits = std::numeric_limits<T>::digits, lowest = std::numeric_limits<T>::min_exponent;
  return static_cast<double>(std::fabs(static_cast<long double>(got) - exact) *
                             std::ldexp(1.0L, digits - std::max(exponent, lowest)));
}

enum Domain { Any, Positive, Unit, Trigonometric, Small, Power };

template <class T>
T sample(Random& random, Domain domain, int i) {
  static const T special[] = {0, -static_cast<T>(0), 1, -1, static_cast<T>(0.5), 2, std::numeric_limits<T>::infinity(),
                              -std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN(),
                              std::numeric_limits<T>::min(), std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::max(), 3, 10};
  if (i < 14 * 14) return special[i % 14];
  const T unit = static_cast<T>(random.next()) / static_cast<T>(4294967296.0) + static_cast<T>(random.next()) * static_cast<T>(0x1p-64);
  const T sign = random.next() & 1 ? 1 : -1;
  switch (domain) {
    case Positive: return std::ldexp(unit, static_cast<int>(random.next() % 60) - 30);
    case Unit: return sign * unit;
    case Trigonometric: return sign * unit * std::ldexp(static_cast<T>(1), static_cast<int>(random.next() % 30));
    case Small: return sign * unit * 10;
    case Power: return unit * 8;
    default: return sign * std::ldexp(unit, static_cast<int>(random.next() % 40) - 20);
  }
}

template <class T, class F>
void run(const char* name, double bound, Domain domain, F f, long double (*exact)(long double, long double, long double)) {
  Random random;
  std::vector<T> a(kCount), b(kCount), c(kCount);
  for (int i = 0; i < kCount; ++i) {
    a[i] = sample<T>(random, domain, i);
    b[i] = sample<T>(random, domain, i < 196 ? i / 14 : i);
    c[i] = sample<T>(random, domain, i < 196 ? i / 3 : i);
  }
  DeviceArray<T> da(a), db(b), dc(c), out(kCount);
  apply<<<kCount / 128, 128>>>(da.get(), db.get(), dc.get(), out.get(), f);
  finish();
  std::vector<T> got = out.host();
  double worst = 0;
  int at = 0;
  for (int i = 0; i < kCount; ++i) {
    const double off = distance<T>(got[i], exact(a[i], b[i], c[i]));
    if (off > worst) worst = off, at = i;
  }
  if (worst <= bound + 0.5) std::printf("%s: within %g ulp\n", name, bound);
  else std::printf("%s: off by %g ulp at %a %a %a: %a\n", name, worst, static_cast<double>(a[at]), static_cast<double>(b[at]),
                   static_cast<double>(c[at]), static_cast<double>(got[at]));
  if (!showHashes) return;
  oneNan(got);
  show(name, got, 0);
}

#define ONE(T, name, bound, domain, call, reference)                         \
  run<T>(#name, bound, domain,                                              \
         [] __device__(T x, T y, T z) -> T {                                \
           (void)x, (void)y, (void)z;                                       \
           return call;                                                     \
         },                                                                 \
         [](long double x, long double y, long double z) -> long double {   \
           (void)x, (void)y, (void)z;                                       \
           return reference;                                                \
         });
#define BOTH(function, single, wide, domain)                                \
  ONE(float, function##f, single, domain, function##f(x), function##l(x)) \
  ONE(double, function, wide, domain, function(x), function##l(x))
#define BOTH2(function, single, wide, domain)                                     \
  ONE(float, function##f, single, domain, function##f(x, y), function##l(x, y)) \
  ONE(double, function, wide, domain, function(x, y), function##l(x, y))

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
  ONE(float, fdividef, 0, Any, x / y, static_cast<long double>(static_cast<float>(x) / static_cast<float>(y)))
  ONE(double, divide, 0, Any, x / y, static_cast<long double>(static_cast<double>(x) / static_cast<double>(y)))
  ONE(float, ldexpf, 0, Any, ldexpf(x, 5), ldexpl(x, 5)) ONE(double, ldexp, 0, Any, ldexp(x, -7), ldexpl(x, -7))
  ONE(float, scalbnf, 0, Any, scalbnf(x, -3), ldexpl(x, -3)) ONE(float, copysignf, 0, Any, copysignf(x, y), copysignl(x, y))
}
