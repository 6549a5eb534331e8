// What the programs of math functions share: arguments of every kind, and the error of results against the host's own
// in a wider format. With an argument they print a hash of each function's results instead, which tells devices apart
// that differ by a bit.
#pragma once

#include <algorithm>
#include <cmath>

#include "program.h"

constexpr int kCount = 4096;

template <class T, class F>
__global__ void apply(const T* a, const T* b, const T* c, T* out, F f) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kCount) out[i] = f(a[i], b[i], c[i]);
}

inline bool showHashes = false;

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

using Reference = long double (*)(long double x, long double y, long double z);

enum Domain { Any, Positive, Unit, Trigonometric, Small, Power, Bessel, Tails };

template <class T>
T sample(Random& random, Domain domain, int i) {
  static const T special[] = {0,
                              -static_cast<T>(0),
                              1,
                              -1,
                              static_cast<T>(0.5),
                              2,
                              std::numeric_limits<T>::infinity(),
                              -std::numeric_limits<T>::infinity(),
                              std::numeric_limits<T>::quiet_NaN(),
                              std::numeric_limits<T>::min(),
                              std::numeric_limits<T>::denorm_min(),
                              std::numeric_limits<T>::max(),
                              3,
                              10};
  if (i < 14 * 14 && (domain != Bessel || std::fabs(special[i % 14]) < 8)) return special[i % 14];
  const T unit = static_cast<T>(random.next()) / static_cast<T>(4294967296.0) +
                 static_cast<T>(random.next()) * static_cast<T>(0x1p-64);
  const T sign = random.next() & 1 ? 1 : -1;
  switch (domain) {
    case Positive: return std::ldexp(unit, static_cast<int>(random.next() % 60) - 30);
    case Unit: return sign * unit;
    case Trigonometric: return sign * unit * std::ldexp(static_cast<T>(1), static_cast<int>(random.next() % 30));
    case Small: return sign * unit * 10;
    case Power: return unit * 8;
    case Bessel: return unit * static_cast<T>(7.9);
    case Tails:
      return unit * (random.next() & 1 ? 2 : std::ldexp(static_cast<T>(1), -static_cast<int>(random.next() % 60)));
    default: return sign * std::ldexp(unit, static_cast<int>(random.next() % 40) - 20);
  }
}

// `tolerance` is for functions whose error is no number of units: the absolute error, infinite where CUDA states none.
template <class T, class F>
void run(const char* name, double bound, Domain domain, F f, Reference exact, Reference tolerance = nullptr) {
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
    const long double value = exact(a[i], b[i], c[i]);
    double off = distance<T>(got[i], value);
    if (tolerance && off > 0) {
      const long double allowed = tolerance(a[i], b[i], c[i]);
      if (std::isinf(allowed) || std::fabs(got[i] - value) <= allowed) off = 0;
    }
    if (off > worst) worst = off, at = i;
  }
  if (showHashes) {
    oneNan(got);
    return show(name, got, 0);
  }
  if (worst <= bound + 0.5) std::printf(tolerance ? "%s: within its error\n" : "%s: within %g ulp\n", name, bound);
  else
    std::printf("%s: off by %g ulp at %a %a %a: %a\n", name, worst, static_cast<double>(a[at]),
                static_cast<double>(b[at]), static_cast<double>(c[at]), static_cast<double>(got[at]));
}

#define DEVICE_FUNCTION(T, call)      \
  [] __device__(T x, T y, T z) -> T { \
    (void)x, (void)y, (void)z;        \
    return call;                      \
  }
#define REFERENCE(value)                                           \
  [](long double x, long double y, long double z) -> long double { \
    (void)x, (void)y, (void)z;                                     \
    return value;                                                  \
  }
#define ONE(T, name, bound, domain, call, reference) \
  run<T>(#name, bound, domain, DEVICE_FUNCTION(T, call), REFERENCE(reference));
