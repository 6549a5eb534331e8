// Complex numbers as vectors of two.
#ifndef MULCIBER_DEVICE_CUCOMPLEX_H
#define MULCIBER_DEVICE_CUCOMPLEX_H

#include <cmath>

#include "vector_types.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

// Products are contracted as nvcc contracts them: with the first of each pair of them.
#define MULCIBER_COMPLEX(T, Element, f, name)                                                 \
  __host__ __device__ static inline T make_##name(Element x, Element y) { return T{x, y}; }   \
  __host__ __device__ static inline Element cuCreal##f(T a) { return a.x; }                   \
  __host__ __device__ static inline Element cuCimag##f(T a) { return a.y; }                   \
  __host__ __device__ static inline T cuConj##f(T a) { return T{a.x, -a.y}; }                 \
  __host__ __device__ static inline T cuCadd##f(T a, T b) { return T{a.x + b.x, a.y + b.y}; } \
  __host__ __device__ static inline T cuCsub##f(T a, T b) { return T{a.x - b.x, a.y - b.y}; } \
  __host__ __device__ static inline T cuCmul##f(T a, T b) {                                   \
    return T{fma##f(a.x, b.x, -(a.y * b.y)), fma##f(a.x, b.y, a.y * b.x)};                    \
  }                                                                                           \
  __host__ __device__ static inline Element cuCabs##f(T a) { return hypot##f(a.x, a.y); }     \
  /* Scaled by the sum of the divisor's parts, against overflow. */                           \
  __host__ __device__ static inline T cuCdiv##f(T a, T b) {                                   \
    const Element scale = 1 / (fabs##f(b.x) + fabs##f(b.y));                                  \
    const T x = {a.x * scale, a.y * scale}, y = {b.x * scale, b.y * scale};                   \
    const Element inverse = 1 / (y.x * y.x + y.y * y.y);                                      \
    return T{(x.x * y.x + x.y * y.y) * inverse, (x.y * y.x - x.x * y.y) * inverse};           \
  }                                                                                           \
  __host__ __device__ static inline T cuCfma##f(T a, T b, T c) { return cuCadd##f(cuCmul##f(a, b), c); }
MULCIBER_COMPLEX(cuFloatComplex, float, f, cuFloatComplex)
MULCIBER_COMPLEX(cuDoubleComplex, double, , cuDoubleComplex)
#undef MULCIBER_COMPLEX
#define make_cuComplex make_cuFloatComplex

#endif
