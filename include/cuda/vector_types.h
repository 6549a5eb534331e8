// CUDA's vector types, with the sizes and alignments they have on the device, and dim3.
#ifndef MULCIBER_CUDA_VECTOR_TYPES_H
#define MULCIBER_CUDA_VECTOR_TYPES_H
#define __VECTOR_TYPES_H__

#include "host_defines.h"

#define MULCIBER_VECTOR(name, type, members, alignment) \
  struct __attribute__((aligned(alignment))) name {     \
    type members;                                       \
  };                                                    \
  typedef struct name name;
#define MULCIBER_COMMA ,
#define MULCIBER_XY x MULCIBER_COMMA y
#define MULCIBER_XYZ MULCIBER_XY MULCIBER_COMMA z
#define MULCIBER_XYZW MULCIBER_XYZ MULCIBER_COMMA w
// Vectors of two and four elements are aligned to their size, up to 16 bytes; those of one and three to an element.
#define MULCIBER_VECTORS(name, type, align1, align2, align4) \
  MULCIBER_VECTOR(name##1, type, x, align1)                  \
  MULCIBER_VECTOR(name##2, type, MULCIBER_XY, align2)        \
  MULCIBER_VECTOR(name##3, type, MULCIBER_XYZ, align1)       \
  MULCIBER_VECTOR(name##4, type, MULCIBER_XYZW, align4)

MULCIBER_VECTORS(char, signed char, 1, 2, 4)
MULCIBER_VECTORS(uchar, unsigned char, 1, 2, 4)
MULCIBER_VECTORS(short, short, 2, 4, 8)
MULCIBER_VECTORS(ushort, unsigned short, 2, 4, 8)
MULCIBER_VECTORS(int, int, 4, 8, 16)
MULCIBER_VECTORS(uint, unsigned int, 4, 8, 16)
MULCIBER_VECTORS(long, long, sizeof(long), 2 * sizeof(long), 16)
MULCIBER_VECTORS(ulong, unsigned long, sizeof(long), 2 * sizeof(long), 16)
MULCIBER_VECTORS(longlong, long long, 8, 16, 16)
MULCIBER_VECTORS(ulonglong, unsigned long long, 8, 16, 16)
MULCIBER_VECTORS(float, float, 4, 8, 16)
MULCIBER_VECTORS(double, double, 8, 16, 16)

// The 256-bit vectors by their alignment, as CUDA 13 names them.
#define MULCIBER_WIDE_VECTORS(name, type)               \
  MULCIBER_VECTOR(name##4_16a, type, MULCIBER_XYZW, 16) \
  MULCIBER_VECTOR(name##4_32a, type, MULCIBER_XYZW, 32)
MULCIBER_WIDE_VECTORS(long, long)
MULCIBER_WIDE_VECTORS(ulong, unsigned long)
MULCIBER_WIDE_VECTORS(longlong, long long)
MULCIBER_WIDE_VECTORS(ulonglong, unsigned long long)
MULCIBER_WIDE_VECTORS(double, double)

#undef MULCIBER_WIDE_VECTORS
#undef MULCIBER_VECTORS
#undef MULCIBER_XYZW
#undef MULCIBER_XYZ
#undef MULCIBER_XY
#undef MULCIBER_COMMA
#undef MULCIBER_VECTOR

struct dim3 {
  unsigned int x, y, z;
#ifdef __cplusplus
  constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1) : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
#endif
};
typedef struct dim3 dim3;

#endif
