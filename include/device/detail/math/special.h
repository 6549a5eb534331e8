// Error functions, their inverses, and the gamma function. Those of float are computed in double.
#ifndef MULCIBER_DEVICE_MATH_SPECIAL_H
#define MULCIBER_DEVICE_MATH_SPECIAL_H

// e^(x^2) erfc(x) of x >= 0, by a polynomial in (x - 4) / (x + 4), which takes all of them to [-1, 1).
__device__ __forceinline__ double __mulciber_positive_erfcx(double x) {
  if (x > 0x1p30) return 0x1.20dd750429b6dp-1 / x;
  const double terms[] = {
      0x1.3ba5916e9fd7fp+0,   -0x1.1df1ad154a285p-3,  0x1.f7f5df66fc185p-7,   0x1.16ecefcfa4c49p-4,
      -0x1.9ddb23c3e0bffp-4,  0x1.7fee004e2011bp-4,   -0x1.0fb06dfee4d46p-4,  0x1.3079edf4ffcabp-5,
      -0x1.0962386d91a33p-6,  0x1.49c672e62161dp-8,   -0x1.8d4aaa9d1551ep-11, -0x1.a1df6091434eep-13,
      0x1.3be12c6b132f8p-13,  -0x1.99534eaf96198p-16, -0x1.78a751eade34ap-17, 0x1.7ef55ad97e63bp-18,
      0x1.400e3c4e94decp-22,  -0x1.b8c70d94101fbp-21, 0x1.316678fdee804p-24,  0x1.c87e4a4578e8bp-24,
      -0x1.18eb6584d445ep-26, -0x1.a7905462c7811p-27, 0x1.af96715a51bfbp-30,  0x1.fe31c84eeae9ap-31};
  // The quotient with its rest, because the polynomial is steep.
  const double below = x + 4, quotient = (x - 4) / below, rest = __mulciber_fma(-quotient, below, x - 4);
  const double t = quotient + rest / below;
  return __mulciber_polynomial(t, terms) / __mulciber_fma(2.0, x, 1.0);
}
// e^-(x^2) of a pair.
__device__ __forceinline__ double __mulciber_bell(__mulciber_pair<double> x) {
  const __mulciber_pair<double> square = x * x;
  return square.hi > 760 ? 0.0 : __mulciber_exp(-square.hi, -square.lo);
}
// The error function of a small number, by its series.
__device__ __forceinline__ double __mulciber_small_erf(double x) {
  const double z = x * x;
  double sum = 0, term = 1;
#pragma unroll
  for (int n = 1; n < 20; ++n) {
    term *= -z / n;
    sum += term / (2 * n + 1);
  }
  return __mulciber_fma(x * 0x1.20dd750429b6dp+0, sum,
                        __mulciber_fma(x, 0x1.1ae3a914fed80p-56, x * 0x1.20dd750429b6dp+0));
}
__device__ __forceinline__ double __mulciber_erfc(__mulciber_pair<double> x) {
  if (__mulciber_abs(x.hi) < 0.5) return 1 - (__mulciber_small_erf(x.hi) + 0x1.20dd750429b6dp+0 * x.lo);
  if (__mulciber_abs(x.hi) > 40) return x.hi > 0 ? 0.0 : 2.0;
  const double tail = __mulciber_bell(x) * __mulciber_positive_erfcx(__mulciber_abs(x.hi));
  return x.hi > 0 ? tail : 2 - tail;
}
MULCIBER_DEVICE double erfc(double x) { return x != x ? x : __mulciber_erfc({x, 0}); }
MULCIBER_DEVICE double erf(double x) {
  if (!(__mulciber_abs(x) > 0.75)) return x == 0 ? x : __mulciber_small_erf(x);
  return copysign(1 - __mulciber_erfc({__mulciber_abs(x), 0}), x);
}
MULCIBER_DEVICE double erfcx(double x) {
  if (!(x < 0)) return x != x ? x : __mulciber_positive_erfcx(x);
  if (x < -27) return MULCIBER_INFINITY;
  const __mulciber_pair<double> square = __mulciber_product(x, x);
  return 2 * __mulciber_exp(square.hi, square.lo) - __mulciber_positive_erfcx(-x);
}
MULCIBER_DEVICE double normcdf(double x) {
  if (!(__mulciber_abs(x) < 40)) return x != x ? x : x > 0 ? 1.0 : 0.0;
  return 0.5 * __mulciber_erfc(__mulciber_pair<double>{-x, 0} *
                               __mulciber_pair<double>{0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55});
}

// Solves erfc(y) = x, with x from 0 to 1: of a small x by its logarithm, with Newton's method, else with Halley's.
__device__ __forceinline__ double __mulciber_upper_erfcinv(double x) {
  if (x == 0) return MULCIBER_INFINITY;
  const double target = log(x), logarithm = target + log(2 - x), t = 4.3307467508 + 0.5 * logarithm;
  double y = sqrt(sqrt(t * t - logarithm * 6.8027210884) - t);  // within a few thousandths
#pragma unroll 1
  for (int i = 0; i < 4; ++i) {
    if (x < 0.01) {
      const double scaled = __mulciber_positive_erfcx(y);
      const __mulciber_pair<double> square = __mulciber_product(y, y);
      y += (log(scaled) - square.hi - target - square.lo) * scaled * 0x1.c5bf891b4ef6bp-1;
    } else {
      const double step = (__mulciber_erfc({y, 0}) - x) / (0x1.20dd750429b6dp+0 * __mulciber_bell({y, 0}));
      y += step / (1 + y * step);
    }
  }
  return y;
}
MULCIBER_DEVICE double erfinv(double x) {
  const double magnitude = __mulciber_abs(x);
  if (!(magnitude <= 1)) return MULCIBER_NAN;
  if (magnitude > 0.5) return copysign(__mulciber_upper_erfcinv(1 - magnitude), x);
  if (magnitude < 0x1p-30) return x * 0x1.c5bf891b4ef6bp-1;
  double y = x * 0x1.c5bf891b4ef6bp-1;
#pragma unroll 1
  for (int i = 0; i < 4; ++i) {
    const double step = (x - __mulciber_small_erf(y)) / (0x1.20dd750429b6dp+0 * __mulciber_bell({y, 0}));
    y += step / (1 - y * step);
  }
  return y;
}
MULCIBER_DEVICE double erfcinv(double x) {
  if (!(x >= 0 && x <= 2)) return MULCIBER_NAN;
  if (x > 1.5) return -__mulciber_upper_erfcinv(2 - x);
  return x < 0.5 ? __mulciber_upper_erfcinv(x) : erfinv(1 - x);
}
MULCIBER_DEVICE double normcdfinv(double x) { return -0x1.6a09e667f3bcdp+0 * erfcinv(2 * x); }

// The gamma function of [1, 2], by its reciprocal.
__device__ __forceinline__ double __mulciber_small_gamma(double x) {
  const double terms[] = {0x1.20dd750429b6dp+0,   -0x1.514d3d90584b3p-5, -0x1.0da5a671c048ap-1,  0x1.669be41a93895p-3,
                          0x1.a18540be32cbep-5,   -0x1.5955cc39724a7p-5, 0x1.b16203e5e17c6p-8,   0x1.15f7f0610025dp-9,
                          -0x1.232bd8786df3dp-10, 0x1.3f845ff2fb698p-13, 0x1.a963c500df877p-16,  -0x1.d24ca6840c13dp-17,
                          0x1.2166ed116ca46p-19,  0x1.f1b67cc2eaa3bp-25, -0x1.7f0109dc8f425p-24, 0x1.25ea1288fd935p-26,
                          -0x1.d1c7639649ac5p-31, -0x1.30f7474caadf0p-32};
  return 1 / __mulciber_polynomial(x - 1.5, terms);
}
// What Stirling's formula lacks, of x >= 8.
__device__ __forceinline__ double __mulciber_stirling(double x) {
  const double terms[] = {1.0 / 12,        -1.0 / 360, 1.0 / 1260,       -1.0 / 1680,     1.0 / 1188,
                          -691.0 / 360360, 1.0 / 156,  -3617.0 / 122400, 43867.0 / 244188};
  const double inverse = 1 / x;
  return inverse * __mulciber_polynomial(inverse * inverse, terms);
}
// (x - 1/2) ln x - x + ln(2 pi) / 2.
__device__ __forceinline__ __mulciber_pair<double> __mulciber_stirling_logarithm(double x) {
  const __mulciber_pair<double> power = __mulciber_log(__mulciber_pair<double>{x, 0}) * __mulciber_sum(x, -0.5);
  return power +
         (__mulciber_pair<double>{0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55} + __mulciber_pair<double>{-x, 0});
}
__device__ __forceinline__ double __mulciber_positive_gamma(double x) {
  if (x > 172) return MULCIBER_INFINITY;
  if (x > 12) {
    const __mulciber_pair<double> logarithm = __mulciber_stirling_logarithm(x);
    return __mulciber_exp(logarithm.hi, logarithm.lo + __mulciber_stirling(x));
  }
  __mulciber_pair<double> factor = {1, 0};
  while (x > 2) x -= 1, factor = factor * __mulciber_pair<double>{x, 0};
  if (x < 1) return __mulciber_small_gamma(x + 1) / x;
  return factor.hi * __mulciber_small_gamma(x) + factor.lo;
}
MULCIBER_DEVICE double tgamma(double x) {
  if (x != x) return x;
  if (x == 0) return copysign(MULCIBER_INFINITY, x);
  if (__mulciber_abs(x) < 0x1p-60) return 1 / x;
  if (x > 0) return __mulciber_positive_gamma(x);
  if (x == __builtin_trunc(x)) return MULCIBER_NAN;
  const double sine = sinpi(x), magnitude = -x;
  if (magnitude > 184) return copysign(0, sine);
  // Gamma(-x) of a large x overflows where the quotient does not.
  if (magnitude > 150) {
    const __mulciber_pair<double> logarithm = __mulciber_stirling_logarithm(magnitude);
    return -0x1.921fb54442d18p+1 / (magnitude * sine) *
           __mulciber_exp(-logarithm.hi, -(logarithm.lo + __mulciber_stirling(magnitude)));
  }
  return -0x1.921fb54442d18p+1 / (magnitude * sine * __mulciber_positive_gamma(magnitude));
}
// ln Gamma has zeros at 1 and 2, which are factors.
__device__ __forceinline__ double __mulciber_small_lgamma(double x) {
  if (x < 1.5) {
    const double terms[] = {0x1.1bb801c40f517p-1, -0x1.bcffe8e38ca75p-3,  0x1.018440cead85ap-3, -0x1.5b748bd865491p-4,
                            0x1.faa9818cf4a31p-5, -0x1.8289ea6d06009p-5,  0x1.2fa403dc3de61p-5, -0x1.e6d5729b6df76p-6,
                            0x1.8c29ea8aed2efp-6, -0x1.46200e7b15120p-6,  0x1.0ef52a9391065p-6, -0x1.c5aae2724d6a2p-7,
                            0x1.7e32368cf6702p-7, -0x1.43be8f2ac5c12p-7,  0x1.13bba9794ff95p-7, -0x1.d74696e13a3ccp-8,
                            0x1.8ff8b420b80fbp-8, -0x1.57ebd6b48eb12p-8,  0x1.443d9b560167dp-8, -0x1.196c8f7af5522p-8,
                            0x1.044a5764e9595p-9, -0x1.bafd1aa4213fdp-10, 0x1.6f827bf3e9653p-8, -0x1.4323858be44f2p-8};
    return (x - 1) * (x - 2) * __mulciber_polynomial(x - 1.1, terms);
  }
  const double terms[] = {0x1.992dfc9539d9bp-2,  -0x1.5fc498795de96p-4,  0x1.9dff298b209a7p-6,  -0x1.155963451c754p-7,
                          0x1.8e9b025b97f62p-9,  -0x1.2b1a505b7333dp-10, 0x1.ce0fe413cc3a6p-12, -0x1.6c4b7acb7c015p-13,
                          0x1.2399869768cabp-14, -0x1.d84449c7436f5p-16, 0x1.81f180560e583p-17, -0x1.3dba9e6a9e82bp-18,
                          0x1.072aa8b27f7f0p-19, -0x1.b6448e5c92c18p-21, 0x1.6e738f91b1d30p-22, -0x1.326f844a587f3p-23,
                          0x1.0203790e1144bp-24, -0x1.c581b77ef167dp-26, 0x1.802666ad427f5p-27, -0x1.db90649c04141p-29,
                          0x1.93598ffa412eap-30, -0x1.a610f383309a8p-30, 0x1.68f459ec85d4fp-31};
  return (x - 1) * (x - 2) * __mulciber_polynomial(x - 2.25, terms);
}
__device__ __forceinline__ double __mulciber_positive_lgamma(double x) {
  if (x == MULCIBER_INFINITY) return x;
  if (x >= 8) {
    if (x > 0x1p60) return x * (log(x) - 1);
    const __mulciber_pair<double> logarithm = __mulciber_stirling_logarithm(x);
    return logarithm.hi + (logarithm.lo + __mulciber_stirling(x));
  }
  if (x < 0x1p-60) return -log(x);
  if (x < 0.7) return __mulciber_small_lgamma(x + 1) - log(x);
  if (x <= 3) return __mulciber_small_lgamma(x);
  double factor = 1;
  while (x > 3) x -= 1, factor *= x;
  return log(factor) + __mulciber_small_lgamma(x);
}
MULCIBER_DEVICE double lgamma(double x) {
  if (x != x) return x;
  if (x > 0) return __mulciber_positive_lgamma(x);
  if (x == __builtin_trunc(x) || !__finite(x)) return MULCIBER_INFINITY;
  if (x > -0x1p-60) return -log(-x);
  return log(0x1.921fb54442d18p+1 / __mulciber_abs(x * sinpi(x))) - __mulciber_positive_lgamma(-x);
}

#define MULCIBER_BY_DOUBLE(name) \
  MULCIBER_DEVICE float name##f(float x) { return static_cast<float>(name(static_cast<double>(x))); }
MULCIBER_BY_DOUBLE(erf)
MULCIBER_BY_DOUBLE(erfc)
MULCIBER_BY_DOUBLE(erfcx)
MULCIBER_BY_DOUBLE(erfinv)
MULCIBER_BY_DOUBLE(erfcinv)
MULCIBER_BY_DOUBLE(normcdf)
MULCIBER_BY_DOUBLE(normcdfinv)
MULCIBER_BY_DOUBLE(tgamma)
MULCIBER_BY_DOUBLE(lgamma)

#endif
