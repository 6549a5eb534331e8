// make_int4 and its kin.
#ifndef MULCIBER_CUDA_VECTOR_FUNCTIONS_H
#define MULCIBER_CUDA_VECTOR_FUNCTIONS_H
#define __VECTOR_FUNCTIONS_H__

#include "vector_types.h"

#define MULCIBER_MAKE(name, type)                                                            \
  __host__ __device__ static inline name##1 make_##name##1(type x) {                         \
    name##1 v = {x};                                                                         \
    return v;                                                                                \
  }                                                                                          \
  __host__ __device__ static inline name##2 make_##name##2(type x, type y) {                 \
    name##2 v = {x, y};                                                                      \
    return v;                                                                                \
  }                                                                                          \
  __host__ __device__ static inline name##3 make_##name##3(type x, type y, type z) {         \
    name##3 v = {x, y, z};                                                                   \
    return v;                                                                                \
  }                                                                                          \
  __host__ __device__ static inline name##4 make_##name##4(type x, type y, type z, type w) { \
    name##4 v = {x, y, z, w};                                                                \
    return v;                                                                                \
  }

MULCIBER_MAKE(char, signed char)
MULCIBER_MAKE(uchar, unsigned char)
MULCIBER_MAKE(short, short)
MULCIBER_MAKE(ushort, unsigned short)
MULCIBER_MAKE(int, int)
MULCIBER_MAKE(uint, unsigned int)
MULCIBER_MAKE(long, long)
MULCIBER_MAKE(ulong, unsigned long)
MULCIBER_MAKE(longlong, long long)
MULCIBER_MAKE(ulonglong, unsigned long long)
MULCIBER_MAKE(float, float)
MULCIBER_MAKE(double, double)

#undef MULCIBER_MAKE

#endif
