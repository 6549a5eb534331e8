// bfloat16: the upper half of a float.
#ifndef MULCIBER_DEVICE_CUDA_BF16_H
#define MULCIBER_DEVICE_CUDA_BF16_H
#define __CUDA_BF16_H__

#include "detail/narrow.h"

MULCIBER_NARROW_TYPES(__nv_bfloat16, __nv_bfloat162, bfloat16)

MULCIBER_BOTH float __mulciber_bfloat16_value(unsigned short bits) {
  return __mulciber_as<float>(static_cast<unsigned>(bits) << 16);
}
MULCIBER_BOTH __nv_bfloat16 __mulciber_bfloat16_of(float x, __mulciber_rounding rounding) {
  const unsigned bits = __mulciber_as<unsigned>(x), magnitude = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
  __nv_bfloat16 result;
  result.__x = static_cast<unsigned short>(
      magnitude > 0x7f800000
          ? 0x7fff
          : sign | __mulciber_rounded(magnitude >> 16, magnitude & 0xffff, 0x8000, sign != 0, rounding));
  return result;
}
// A float has more than twice the digits: rounding its sums and products again changes nothing.
#define MULCIBER_BY_FLOAT(name, value)                                                         \
  MULCIBER_DEVICE __nv_bfloat16 __mulciber_bfloat16_##name(__nv_bfloat16 a, __nv_bfloat16 b) { \
    const float x = __mulciber_bfloat16_value(a.__x), y = __mulciber_bfloat16_value(b.__x);    \
    return __mulciber_bfloat16_of(value, __mulciber_rn);                                       \
  }
MULCIBER_BY_FLOAT(add, __fadd_rn(x, y))
MULCIBER_BY_FLOAT(subtract, __fsub_rn(x, y))
MULCIBER_BY_FLOAT(multiply, __fmul_rn(x, y))
#undef MULCIBER_BY_FLOAT
#define MULCIBER_BFLOAT_2(name, instruction)                                                   \
  MULCIBER_DEVICE __nv_bfloat16 __mulciber_bfloat16_##name(__nv_bfloat16 a, __nv_bfloat16 b) { \
    __nv_bfloat16 result;                                                                      \
    asm(instruction " %0, %1, %2;" : "=h"(result.__x) : "h"(a.__x), "h"(b.__x));               \
    return result;                                                                             \
  }
#define MULCIBER_BFLOAT_3(name, instruction)                                                                    \
  MULCIBER_DEVICE __nv_bfloat16 __mulciber_bfloat16_##name(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) { \
    __nv_bfloat16 result;                                                                                       \
    asm(instruction " %0, %1, %2, %3;" : "=h"(result.__x) : "h"(a.__x), "h"(b.__x), "h"(c.__x));                \
    return result;                                                                                              \
  }
MULCIBER_BFLOAT_3(fma, "fma.rn.bf16")
MULCIBER_BFLOAT_3(fma_relu, "fma.rn.relu.bf16")
MULCIBER_BFLOAT_2(smaller, "min.bf16")
MULCIBER_BFLOAT_2(larger, "max.bf16")
MULCIBER_BFLOAT_2(smaller_nan, "min.NaN.bf16")
MULCIBER_BFLOAT_2(larger_nan, "max.NaN.bf16")
#undef MULCIBER_BFLOAT_2
#undef MULCIBER_BFLOAT_3

MULCIBER_NARROW(__nv_bfloat16, __nv_bfloat162, bfloat16)
MULCIBER_NARROW_ATOMIC(__nv_bfloat16)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#endif
