// half: 16 bits, five of them an exponent.
#ifndef MULCIBER_DEVICE_CUDA_FP16_H
#define MULCIBER_DEVICE_CUDA_FP16_H
#define __CUDA_FP16_H__

#include "detail/narrow.h"

MULCIBER_NARROW_TYPES(__half, __half2, half)

MULCIBER_BOTH float __mulciber_half_value(unsigned short bits) {
  const unsigned sign = static_cast<unsigned>(bits & 0x8000) << 16, magnitude = bits & 0x7fff;
  if (magnitude > 0x7c00) return __mulciber_as<float>(0x7fffffffu);
  if (magnitude == 0x7c00) return __mulciber_as<float>(sign | 0x7f800000);
  // The exponent is moved by a product, which makes denormals normal.
  return __mulciber_as<float>(sign | magnitude << 13) * 0x1p112f;
}
MULCIBER_BOTH __half __mulciber_half_of(float x, __mulciber_rounding rounding) {
  const unsigned bits = __mulciber_as<unsigned>(x), magnitude = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
  __half result;
  if (magnitude > 0x7f800000) {
    result.__x = 0x7fff;
  } else if (magnitude >= 0x47800000) {  // 65536 and more
    const bool isInfinite = magnitude == 0x7f800000 || __mulciber_rounded(0, 1, 0, sign != 0, rounding) != 0;
    result.__x = static_cast<unsigned short>(sign | (isInfinite ? 0x7c00 : 0x7bff));
  } else {
    const int exponent = static_cast<int>(magnitude >> 23);
    const bool isDenormal = exponent < 113;
    const unsigned digits =
        isDenormal ? (magnitude & 0x7fffff) | (exponent != 0 ? 0x800000 : 0) : magnitude - 0x38000000;
    const int shift = isDenormal ? (126 - exponent < 31 ? 126 - exponent : 31) : 13;
    result.__x = static_cast<unsigned short>(sign | __mulciber_rounded(digits >> shift, digits & ((1u << shift) - 1),
                                                                       1u << (shift - 1), sign != 0, rounding));
  }
  return result;
}
#define MULCIBER_HALF_2(name, instruction)                                       \
  MULCIBER_DEVICE __half __mulciber_half_##name(__half a, __half b) {            \
    __half result;                                                               \
    asm(instruction " %0, %1, %2;" : "=h"(result.__x) : "h"(a.__x), "h"(b.__x)); \
    return result;                                                               \
  }
#define MULCIBER_HALF_3(name, instruction)                                                       \
  MULCIBER_DEVICE __half __mulciber_half_##name(__half a, __half b, __half c) {                  \
    __half result;                                                                               \
    asm(instruction " %0, %1, %2, %3;" : "=h"(result.__x) : "h"(a.__x), "h"(b.__x), "h"(c.__x)); \
    return result;                                                                               \
  }
MULCIBER_HALF_2(add, "add.rn.f16")
MULCIBER_HALF_2(subtract, "sub.rn.f16")
MULCIBER_HALF_2(multiply, "mul.rn.f16")
MULCIBER_HALF_3(fma, "fma.rn.f16")
MULCIBER_HALF_3(fma_relu, "fma.rn.relu.f16")
MULCIBER_HALF_2(smaller, "min.f16")
MULCIBER_HALF_2(larger, "max.f16")
MULCIBER_HALF_2(smaller_nan, "min.NaN.f16")
MULCIBER_HALF_2(larger_nan, "max.NaN.f16")
#undef MULCIBER_HALF_2
#undef MULCIBER_HALF_3

MULCIBER_NARROW(__half, __half2, half)
MULCIBER_NARROW_ATOMIC(__half)
__device__ __forceinline__ __half2 atomicAdd(__half2* address, __half2 value) {
  unsigned bits, old;
  __builtin_memcpy(&bits, &value, 4);
  asm volatile("atom.add.noftz.f16x2 %0, [%1], %2;" : "=r"(old) : "l"(address), "r"(bits) : "memory");
  __builtin_memcpy(&value, &old, 4);
  return value;
}
#define CUDART_INF_FP16 __ushort_as_half(0x7C00u)
#define CUDART_NAN_FP16 __ushort_as_half(0x7FFFu)
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000u)
#define CUDART_ONE_FP16 __ushort_as_half(0x3C00u)
#ifndef CUDA_NO_HALF
typedef __half half;
typedef __half2 half2;
#endif

#endif
