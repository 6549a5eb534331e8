// Numbers as an unevaluated sum of two, for float and for double, and what the functions below share. Operations that
// must round on their own have functions, because Clang contracts those of operators.
#ifndef MULCIBER_DEVICE_MATH_PAIRS_H
#define MULCIBER_DEVICE_MATH_PAIRS_H

#define MULCIBER_T   \
  template <class T> \
  __device__ __forceinline__

template <class T>
struct __mulciber_pair {
  T hi, lo;
};

__device__ __forceinline__ float __mulciber_fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
__device__ __forceinline__ double __mulciber_fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
__device__ __forceinline__ float __mulciber_add(float x, float y) { return __fadd_rn(x, y); }
__device__ __forceinline__ double __mulciber_add(double x, double y) { return __dadd_rn(x, y); }
__device__ __forceinline__ float __mulciber_times(float x, float y) { return __fmul_rn(x, y); }
__device__ __forceinline__ double __mulciber_times(double x, double y) { return __dmul_rn(x, y); }
__device__ __forceinline__ float __mulciber_abs(float x) { return __builtin_fabsf(x); }
__device__ __forceinline__ double __mulciber_abs(double x) { return __builtin_fabs(x); }
__device__ __forceinline__ float __mulciber_rint(float x) { return __builtin_rintf(x); }
__device__ __forceinline__ double __mulciber_rint(double x) { return __builtin_rint(x); }
__device__ __forceinline__ float __mulciber_root(float x) { return __fsqrt_rn(x); }
__device__ __forceinline__ double __mulciber_root(double x) { return __dsqrt_rn(x); }
__device__ __forceinline__ float __mulciber_split(float x, int* exponent) { return frexpf(x, exponent); }
__device__ __forceinline__ double __mulciber_split(double x, int* exponent) { return frexp(x, exponent); }
__device__ __forceinline__ float __mulciber_scaled(float x, int n) { return ldexpf(x, n); }
__device__ __forceinline__ double __mulciber_scaled(double x, int n) { return ldexp(x, n); }
__device__ __forceinline__ float __mulciber_signed(float x, float sign) { return copysignf(x, sign); }
__device__ __forceinline__ double __mulciber_signed(double x, double sign) { return copysign(x, sign); }
__device__ __forceinline__ int __mulciber_whole(float x) { return __float2int_rn(x); }
__device__ __forceinline__ int __mulciber_whole(double x) { return __double2int_rn(x); }
MULCIBER_T T __mulciber_infinity() { return static_cast<T>(MULCIBER_INFINITYF); }
MULCIBER_T T __mulciber_nan() { return sizeof(T) == 4 ? static_cast<T>(MULCIBER_NANF) : static_cast<T>(MULCIBER_NAN); }
MULCIBER_T bool __mulciber_finite(T x) { return __mulciber_abs(x) < __mulciber_infinity<T>(); }

// A constant in each format: its nearest number, and what is missing.
MULCIBER_T __mulciber_pair<T> __mulciber_constant(double hi, double lo) {
  if (sizeof(T) == 8) return {static_cast<T>(hi), static_cast<T>(lo)};
  const float nearest = static_cast<float>(hi);
  return {static_cast<T>(nearest), static_cast<T>(hi - static_cast<double>(nearest))};
}
#define MULCIBER_LN2 __mulciber_constant<T>(0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56)
#define MULCIBER_LN10 __mulciber_constant<T>(0x1.26bb1bbb55516p+1, -0x1.f48ad494ea3e9p-53)
#define MULCIBER_LOG10_2 __mulciber_constant<T>(0x1.34413509f79ffp-2, -0x1.9dc1da994fd21p-59)
#define MULCIBER_LOG2_E __mulciber_constant<T>(0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56)
#define MULCIBER_LOG10_E __mulciber_constant<T>(0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57)
#define MULCIBER_PI __mulciber_constant<T>(0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53)

// |x| >= |y|, or x is zero and y too.
MULCIBER_T __mulciber_pair<T> __mulciber_ordered_sum(T x, T y) {
  const T sum = __mulciber_add(x, y);
  return {sum, __mulciber_add(y, -__mulciber_add(sum, -x))};
}
MULCIBER_T __mulciber_pair<T> __mulciber_sum(T x, T y) {
  const T sum = __mulciber_add(x, y), other = __mulciber_add(sum, -x);
  return {sum, __mulciber_add(__mulciber_add(x, -__mulciber_add(sum, -other)), __mulciber_add(y, -other))};
}
MULCIBER_T __mulciber_pair<T> __mulciber_product(T x, T y) {
  const T product = __mulciber_times(x, y);
  return {product, __mulciber_fma(x, y, -product)};
}
MULCIBER_T __mulciber_pair<T> operator+(__mulciber_pair<T> x, __mulciber_pair<T> y) {
  const __mulciber_pair<T> sum = __mulciber_sum(x.hi, y.hi);
  return __mulciber_ordered_sum(sum.hi, sum.lo + (x.lo + y.lo));
}
MULCIBER_T __mulciber_pair<T> operator*(__mulciber_pair<T> x, __mulciber_pair<T> y) {
  const __mulciber_pair<T> product = __mulciber_product(x.hi, y.hi);
  return __mulciber_ordered_sum(product.hi, product.lo + __mulciber_fma(x.hi, y.lo, x.lo * y.hi));
}
MULCIBER_T __mulciber_pair<T> operator/(__mulciber_pair<T> x, __mulciber_pair<T> y) {
  const T quotient = x.hi / y.hi;
  const T rest = __mulciber_fma(-quotient, y.hi, x.hi) + __mulciber_fma(-quotient, y.lo, x.lo);
  return __mulciber_ordered_sum(quotient, rest / y.hi);
}

// A polynomial, the constant term first.
template <class T, int count>
__device__ __forceinline__ T __mulciber_polynomial(T x, const T (&terms)[count]) {
  T sum = terms[count - 1];
#pragma unroll
  for (int i = count - 2; i >= 0; --i) sum = __mulciber_fma(sum, x, terms[i]);
  return sum;
}
// With terms for each format.
template <int floats, int doubles>
__device__ __forceinline__ float __mulciber_fitted(float x, const float (&terms)[floats], const double (&)[doubles]) {
  return __mulciber_polynomial(x, terms);
}
template <int floats, int doubles>
__device__ __forceinline__ double __mulciber_fitted(double x, const float (&)[floats], const double (&terms)[doubles]) {
  return __mulciber_polynomial(x, terms);
}

#endif
