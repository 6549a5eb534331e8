// Arithmetic with a stated rounding, the hardware's approximations, and bits as numbers.
#ifndef MULCIBER_DEVICE_FLOATS_H
#define MULCIBER_DEVICE_FLOATS_H

#define MULCIBER_1(name, instruction, T, c)             \
  MULCIBER_DEVICE T name(T x) {                         \
    T result;                                           \
    asm(instruction " %0, %1;" : "=" c(result) : c(x)); \
    return result;                                      \
  }
#define MULCIBER_2(name, instruction, T, c)                       \
  MULCIBER_DEVICE T name(T x, T y) {                              \
    T result;                                                     \
    asm(instruction " %0, %1, %2;" : "=" c(result) : c(x), c(y)); \
    return result;                                                \
  }
#define MULCIBER_3(name, instruction, T, c)                                 \
  MULCIBER_DEVICE T name(T x, T y, T z) {                                   \
    T result;                                                               \
    asm(instruction " %0, %1, %2, %3;" : "=" c(result) : c(x), c(y), c(z)); \
    return result;                                                          \
  }
// Denormals are flushed where the compiler is told so, except by the functions that say IEEE.
#ifdef MULCIBER_FLUSHES
#define MULCIBER_FTZ ".ftz"
#define MULCIBER_F(function) function##_ftz_f
#else
#define MULCIBER_FTZ ""
#define MULCIBER_F(function) function##_f
#endif
// By its own names Clang leaves quotients and roots where the source has them, as nvcc does, and ptxas fuses no product
// with a sum behind one. With -ffast-math Clang 14 takes the names for approximations.
#if __clang_major__ >= 19
#define MULCIBER_NAMED_1(name, builtin, instruction, T, c) \
  MULCIBER_DEVICE T name(T x) { return builtin(x); }
#define MULCIBER_NAMED_2(name, builtin, instruction, T, c) \
  MULCIBER_DEVICE T name(T x, T y) { return builtin(x, y); }
#else
#define MULCIBER_NAMED_1(name, builtin, instruction, T, c) MULCIBER_1(name, instruction, T, c)
#define MULCIBER_NAMED_2(name, builtin, instruction, T, c) MULCIBER_2(name, instruction, T, c)
#endif
// PTX says rm and rp where CUDA says rd and ru.
#define MULCIBER_ROUNDED(r, p)                                                                           \
  MULCIBER_2(__fadd_##r, "add." #p MULCIBER_FTZ ".f32", float, "f")                                      \
  MULCIBER_2(__fsub_##r, "sub." #p MULCIBER_FTZ ".f32", float, "f")                                      \
  MULCIBER_2(__fmul_##r, "mul." #p MULCIBER_FTZ ".f32", float, "f")                                      \
  MULCIBER_NAMED_2(__fdiv_##r, MULCIBER_F(__nvvm_div_##p), "div." #p MULCIBER_FTZ ".f32", float, "f")    \
  MULCIBER_3(__fmaf_##r, "fma." #p MULCIBER_FTZ ".f32", float, "f")                                      \
  MULCIBER_3(__fmaf_ieee_##r, "fma." #p ".f32", float, "f")                                              \
  MULCIBER_NAMED_1(__frcp_##r, MULCIBER_F(__nvvm_rcp_##p), "rcp." #p MULCIBER_FTZ ".f32", float, "f")    \
  MULCIBER_NAMED_1(__fsqrt_##r, MULCIBER_F(__nvvm_sqrt_##p), "sqrt." #p MULCIBER_FTZ ".f32", float, "f") \
  MULCIBER_2(__dadd_##r, "add." #p ".f64", double, "d")                                                  \
  MULCIBER_2(__dsub_##r, "sub." #p ".f64", double, "d")                                                  \
  MULCIBER_2(__dmul_##r, "mul." #p ".f64", double, "d")                                                  \
  MULCIBER_NAMED_2(__ddiv_##r, __nvvm_div_##p##_d, "div." #p ".f64", double, "d")                        \
  MULCIBER_3(__fma_##r, "fma." #p ".f64", double, "d")                                                   \
  MULCIBER_NAMED_1(__drcp_##r, __nvvm_rcp_##p##_d, "rcp." #p ".f64", double, "d")                        \
  MULCIBER_NAMED_1(__dsqrt_##r, __nvvm_sqrt_##p##_d, "sqrt." #p ".f64", double, "d")
MULCIBER_ROUNDED(rn, rn)
MULCIBER_ROUNDED(rz, rz)
MULCIBER_ROUNDED(ru, rp)
MULCIBER_ROUNDED(rd, rm)
#undef MULCIBER_ROUNDED
#undef MULCIBER_NAMED_1
#undef MULCIBER_NAMED_2
#undef MULCIBER_F

// The hardware's approximations.
MULCIBER_1(__sinf, "sin.approx" MULCIBER_FTZ ".f32", float, "f")
MULCIBER_1(__cosf, "cos.approx" MULCIBER_FTZ ".f32", float, "f")
MULCIBER_1(__log2f, "lg2.approx" MULCIBER_FTZ ".f32", float, "f")
MULCIBER_1(__mulciber_exp2, "ex2.approx" MULCIBER_FTZ ".f32", float, "f")
MULCIBER_1(__mulciber_rsqrt, "rsqrt.approx" MULCIBER_FTZ ".f32", float, "f")
MULCIBER_1(__mulciber_rcp, "rcp.approx" MULCIBER_FTZ ".f32", float, "f")
MULCIBER_1(__mulciber_sqrt, "sqrt.approx" MULCIBER_FTZ ".f32", float, "f")
MULCIBER_1(__tanhf, "tanh.approx.f32", float, "f")
MULCIBER_2(__fdividef, "div.approx" MULCIBER_FTZ ".f32", float, "f")
MULCIBER_DEVICE float __tanf(float x) { return __fdividef(__sinf(x), __cosf(x)); }
MULCIBER_DEVICE float __expf(float x) { return __mulciber_exp2(__fmul_rn(x, 0x1.715476p+0f)); }
MULCIBER_DEVICE float __exp10f(float x) { return __mulciber_exp2(__fmul_rn(x, 0x1.a934fp+1f)); }
MULCIBER_DEVICE float __exp2f(float x) { return __mulciber_exp2(x); }
MULCIBER_DEVICE float __logf(float x) { return __fmul_rn(__log2f(x), 0x1.62e43p-1f); }
MULCIBER_DEVICE float __log10f(float x) { return __fmul_rn(__log2f(x), 0x1.344136p-2f); }
MULCIBER_DEVICE float __powf(float x, float y) { return __mulciber_exp2(__fmul_rn(y, __log2f(x))); }
MULCIBER_DEVICE void __sincosf(float x, float* sine, float* cosine) { *sine = __sinf(x), *cosine = __cosf(x); }
MULCIBER_DEVICE float __frsqrt_rn(float x) {
  // One approximation, then the neighbour whose square's reciprocal is nearest, decided in double.
  return static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(x)));
}
MULCIBER_BOTH float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }

#undef MULCIBER_1
#undef MULCIBER_2
#undef MULCIBER_3

template <class To, class From>
__host__ __device__ __forceinline__ To __mulciber_as(From from) {
  static_assert(sizeof(To) == sizeof(From), "the same bits");
  To to;
  __builtin_memcpy(&to, &from, sizeof(to));
  return to;
}
MULCIBER_BOTH int __float_as_int(float x) { return __mulciber_as<int>(x); }
MULCIBER_BOTH unsigned __float_as_uint(float x) { return __mulciber_as<unsigned>(x); }
MULCIBER_BOTH float __int_as_float(int x) { return __mulciber_as<float>(x); }
MULCIBER_BOTH float __uint_as_float(unsigned x) { return __mulciber_as<float>(x); }
MULCIBER_BOTH long long __double_as_longlong(double x) { return __mulciber_as<long long>(x); }
MULCIBER_BOTH double __longlong_as_double(long long x) { return __mulciber_as<double>(x); }
MULCIBER_BOTH int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
MULCIBER_BOTH int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
MULCIBER_BOTH double __hiloint2double(int high, int low) {
  return __mulciber_as<double>(static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32 |
                               static_cast<unsigned>(low));
}

#endif
