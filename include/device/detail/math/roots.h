// Cube roots and lengths of vectors.
#ifndef MULCIBER_DEVICE_MATH_ROOTS_H
#define MULCIBER_DEVICE_MATH_ROOTS_H

// x = m 8^third, with m from a half to four.
MULCIBER_T T __mulciber_cube_parts(T x, int* third) {
  int exponent;
  const T part = __mulciber_split(__mulciber_abs(x), &exponent);
  *third = exponent >= 0 ? exponent / 3 : -((2 - exponent) / 3);
  return __mulciber_scaled(part, exponent - 3 * *third);
}
MULCIBER_T T __mulciber_cube_estimate(T m, float power) {
  return static_cast<T>(__mulciber_exp2(static_cast<float>(power * __mulciber_log2(static_cast<float>(m)))));
}
MULCIBER_T T __mulciber_cbrt(T x) {
  if (x == 0 || !__mulciber_finite(x)) return x;
  int third;
  const T m = __mulciber_cube_parts(x, &third);
  T y = __mulciber_cube_estimate(m, 1.0f / 3);
  if (sizeof(T) == 8) y = y - (y * y * y - m) / (3 * y * y);
  // The cube with twice the digits says what is wrong with y.
  const __mulciber_pair<T> cube = __mulciber_product(y, y) * __mulciber_pair<T>{y, 0};
  y = y - ((cube.hi - m) + cube.lo) / (3 * y * y);
  return __mulciber_signed(__mulciber_scaled(y, third), x);
}
MULCIBER_T T __mulciber_rcbrt(T x) {
  if (x == 0 || !__mulciber_finite(x))
    return x != x ? x : __mulciber_signed(x == 0 ? __mulciber_infinity<T>() : T(0), x);
  int third;
  const T m = __mulciber_cube_parts(x, &third);
  T y = __mulciber_cube_estimate(m, -1.0f / 3);
  if (sizeof(T) == 8) y = y + y * (1 - m * y * y * y) * static_cast<T>(1.0 / 3);
  const __mulciber_pair<T> one = __mulciber_product(y, y) * __mulciber_product(y, m);
  y = y + y * ((1 - one.hi) - one.lo) * static_cast<T>(1.0 / 3);
  return __mulciber_signed(__mulciber_scaled(y, -third), x);
}

// The length of a vector, or its reciprocal. Elements are scaled by the exponent of the largest, and their squares
// summed with twice the digits.
MULCIBER_T T __mulciber_length(int count, const T* elements, bool isInverse) {
  T largest = 0;
  bool isNan = false;
  for (int i = 0; i < count; ++i) {
    const T magnitude = __mulciber_abs(elements[i]);
    isNan = isNan || magnitude != magnitude;
    if (magnitude > largest) largest = magnitude;
  }
  if (largest == __mulciber_infinity<T>()) return isInverse ? T(0) : largest;
  if (isNan) return __mulciber_nan<T>();
  if (largest == 0) return isInverse ? __mulciber_infinity<T>() : T(0);
  int exponent;
  __mulciber_split(largest, &exponent);
  __mulciber_pair<T> sum = {0, 0};
  for (int i = 0; i < count; ++i) {
    const T element = __mulciber_scaled(elements[i], -exponent);
    sum = sum + __mulciber_product(element, element);
  }
  const T root = __mulciber_root(sum.hi);
  if (!isInverse) {
    const T rest = __mulciber_fma(-root, root, sum.hi) + sum.lo;
    return __mulciber_scaled(root + rest / (2 * root), exponent);
  }
  const T inverse = 1 / root;
  const __mulciber_pair<T> one = __mulciber_product(inverse, inverse) * sum;
  return __mulciber_scaled(inverse + inverse * (static_cast<T>(0.5) * ((1 - one.hi) - one.lo)), -exponent);
}

MULCIBER_FUNCTION(cbrt)
MULCIBER_FUNCTION(rcbrt)
#define MULCIBER_LENGTHS(T, f)                                                                    \
  MULCIBER_DEVICE T norm##f(int count, const T* v) { return __mulciber_length(count, v, false); } \
  MULCIBER_DEVICE T rnorm##f(int count, const T* v) { return __mulciber_length(count, v, true); } \
  MULCIBER_DEVICE T hypot##f(T x, T y) {                                                          \
    const T v[] = {x, y};                                                                         \
    return __mulciber_length(2, v, false);                                                        \
  }                                                                                               \
  MULCIBER_DEVICE T rhypot##f(T x, T y) {                                                         \
    const T v[] = {x, y};                                                                         \
    return __mulciber_length(2, v, true);                                                         \
  }                                                                                               \
  MULCIBER_DEVICE T norm3d##f(T x, T y, T z) {                                                    \
    const T v[] = {x, y, z};                                                                      \
    return __mulciber_length(3, v, false);                                                        \
  }                                                                                               \
  MULCIBER_DEVICE T rnorm3d##f(T x, T y, T z) {                                                   \
    const T v[] = {x, y, z};                                                                      \
    return __mulciber_length(3, v, true);                                                         \
  }                                                                                               \
  MULCIBER_DEVICE T norm4d##f(T x, T y, T z, T w) {                                               \
    const T v[] = {x, y, z, w};                                                                   \
    return __mulciber_length(4, v, false);                                                        \
  }                                                                                               \
  MULCIBER_DEVICE T rnorm4d##f(T x, T y, T z, T w) {                                              \
    const T v[] = {x, y, z, w};                                                                   \
    return __mulciber_length(4, v, true);                                                         \
  }
MULCIBER_LENGTHS(float, f)
MULCIBER_LENGTHS(double, )
#undef MULCIBER_LENGTHS

#endif
