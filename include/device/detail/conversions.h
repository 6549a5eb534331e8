// Conversions between integers and floating point, with a stated rounding.
#ifndef MULCIBER_DEVICE_CONVERSIONS_H
#define MULCIBER_DEVICE_CONVERSIONS_H

#define MULCIBER_CONVERT(name, instruction, To, toClass, From, fromClass) \
  MULCIBER_DEVICE To name(From x) {                                       \
    To result;                                                            \
    asm(instruction " %0, %1;" : "=" toClass(result) : fromClass(x));     \
    return result;                                                        \
  }
#define MULCIBER_ROUNDING(r, p, whole)                                                                          \
  MULCIBER_CONVERT(__float2int_##r, "cvt." #whole MULCIBER_FTZ ".s32.f32", int, "r", float, "f")                \
  MULCIBER_CONVERT(__float2uint_##r, "cvt." #whole MULCIBER_FTZ ".u32.f32", unsigned, "r", float, "f")          \
  MULCIBER_CONVERT(__float2ll_##r, "cvt." #whole MULCIBER_FTZ ".s64.f32", long long, "l", float, "f")           \
  MULCIBER_CONVERT(__float2ull_##r, "cvt." #whole MULCIBER_FTZ ".u64.f32", unsigned long long, "l", float, "f") \
  MULCIBER_CONVERT(__double2int_##r, "cvt." #whole ".s32.f64", int, "r", double, "d")                           \
  MULCIBER_CONVERT(__double2uint_##r, "cvt." #whole ".u32.f64", unsigned, "r", double, "d")                     \
  MULCIBER_CONVERT(__double2ll_##r, "cvt." #whole ".s64.f64", long long, "l", double, "d")                      \
  MULCIBER_CONVERT(__double2ull_##r, "cvt." #whole ".u64.f64", unsigned long long, "l", double, "d")            \
  MULCIBER_CONVERT(__double2float_##r, "cvt." #p MULCIBER_FTZ ".f32.f64", float, "f", double, "d")              \
  MULCIBER_CONVERT(__int2float_##r, "cvt." #p ".f32.s32", float, "f", int, "r")                                 \
  MULCIBER_CONVERT(__uint2float_##r, "cvt." #p ".f32.u32", float, "f", unsigned, "r")                           \
  MULCIBER_CONVERT(__ll2float_##r, "cvt." #p ".f32.s64", float, "f", long long, "l")                            \
  MULCIBER_CONVERT(__ull2float_##r, "cvt." #p ".f32.u64", float, "f", unsigned long long, "l")                  \
  MULCIBER_CONVERT(__ll2double_##r, "cvt." #p ".f64.s64", double, "d", long long, "l")                          \
  MULCIBER_CONVERT(__ull2double_##r, "cvt." #p ".f64.u64", double, "d", unsigned long long, "l")
MULCIBER_ROUNDING(rn, rn, rni)
MULCIBER_ROUNDING(rz, rz, rzi)
MULCIBER_ROUNDING(ru, rp, rpi)
MULCIBER_ROUNDING(rd, rm, rmi)
#undef MULCIBER_ROUNDING
#undef MULCIBER_CONVERT
MULCIBER_BOTH double __int2double_rn(int x) { return x; }
MULCIBER_BOTH double __uint2double_rn(unsigned x) { return x; }

#endif
