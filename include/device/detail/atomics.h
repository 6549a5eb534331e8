// Atomic functions: of the device, and with _block and _system of those scopes.
#ifndef MULCIBER_DEVICE_ATOMICS_H
#define MULCIBER_DEVICE_ATOMICS_H

#define MULCIBER_ATOMIC_IN(scope, suffix, name, operation, T, R, c)                                            \
  __device__ __forceinline__ T name##suffix(T* address, T value) {                                             \
    R bits, old;                                                                                               \
    __builtin_memcpy(&bits, &value, sizeof(T));                                                                \
    asm volatile("atom" scope "." operation " %0, [%1], %2;" : "=" c(old) : "l"(address), c(bits) : "memory"); \
    __builtin_memcpy(&value, &old, sizeof(T));                                                                 \
    return value;                                                                                              \
  }
#define MULCIBER_ATOMIC(name, operation, T, R, c)              \
  MULCIBER_ATOMIC_IN("", , name, operation, T, R, c)           \
  MULCIBER_ATOMIC_IN(".cta", _block, name, operation, T, R, c) \
  MULCIBER_ATOMIC_IN(".sys", _system, name, operation, T, R, c)

#define MULCIBER_ATOMICS_32(T, kind)                             \
  MULCIBER_ATOMIC(atomicAdd, "add.u32", T, unsigned, "r")        \
  MULCIBER_ATOMIC(atomicMin, "min." kind "32", T, unsigned, "r") \
  MULCIBER_ATOMIC(atomicMax, "max." kind "32", T, unsigned, "r") \
  MULCIBER_ATOMIC(atomicAnd, "and.b32", T, unsigned, "r")        \
  MULCIBER_ATOMIC(atomicOr, "or.b32", T, unsigned, "r")          \
  MULCIBER_ATOMIC(atomicXor, "xor.b32", T, unsigned, "r")        \
  MULCIBER_ATOMIC(atomicExch, "exch.b32", T, unsigned, "r")
MULCIBER_ATOMICS_32(int, "s")
MULCIBER_ATOMICS_32(unsigned, "u")
#undef MULCIBER_ATOMICS_32
#define MULCIBER_ATOMICS_64(T, kind)                                       \
  MULCIBER_ATOMIC(atomicMin, "min." kind "64", T, unsigned long long, "l") \
  MULCIBER_ATOMIC(atomicMax, "max." kind "64", T, unsigned long long, "l") \
  MULCIBER_ATOMIC(atomicAnd, "and.b64", T, unsigned long long, "l")        \
  MULCIBER_ATOMIC(atomicOr, "or.b64", T, unsigned long long, "l")          \
  MULCIBER_ATOMIC(atomicXor, "xor.b64", T, unsigned long long, "l")
MULCIBER_ATOMICS_64(long long, "s")
MULCIBER_ATOMICS_64(unsigned long long, "u")
#undef MULCIBER_ATOMICS_64
MULCIBER_ATOMIC(atomicAdd, "add.u64", unsigned long long, unsigned long long, "l")
MULCIBER_ATOMIC(atomicExch, "exch.b64", unsigned long long, unsigned long long, "l")
MULCIBER_ATOMIC(atomicExch, "exch.b32", float, unsigned, "r")
MULCIBER_ATOMIC(atomicAdd, "add.f32", float, float, "f")
MULCIBER_ATOMIC(atomicAdd, "add.f64", double, double, "d")
MULCIBER_ATOMIC(atomicInc, "inc.u32", unsigned, unsigned, "r")
MULCIBER_ATOMIC(atomicDec, "dec.u32", unsigned, unsigned, "r")
#undef MULCIBER_ATOMIC
#undef MULCIBER_ATOMIC_IN

// A difference is the sum with the negated number.
#define MULCIBER_SUBTRACT(suffix)                                                            \
  __device__ __forceinline__ int atomicSub##suffix(int* address, int value) {                \
    return atomicAdd##suffix(address, static_cast<int>(0u - static_cast<unsigned>(value)));  \
  }                                                                                          \
  __device__ __forceinline__ unsigned atomicSub##suffix(unsigned* address, unsigned value) { \
    return atomicAdd##suffix(address, 0u - value);                                           \
  }
MULCIBER_SUBTRACT()
MULCIBER_SUBTRACT(_block)
MULCIBER_SUBTRACT(_system)
#undef MULCIBER_SUBTRACT

#define MULCIBER_COMPARE_IN(scope, suffix, type, T, c)                             \
  __device__ __forceinline__ T atomicCAS##suffix(T* address, T compare, T value) { \
    T old;                                                                         \
    asm volatile("atom" scope ".cas." type " %0, [%1], %2, %3;"                    \
                 : "=" c(old)                                                      \
                 : "l"(address), c(compare), c(value)                              \
                 : "memory");                                                      \
    return old;                                                                    \
  }
#define MULCIBER_COMPARE(type, T, c)              \
  MULCIBER_COMPARE_IN("", , type, T, c)           \
  MULCIBER_COMPARE_IN(".cta", _block, type, T, c) \
  MULCIBER_COMPARE_IN(".sys", _system, type, T, c)
MULCIBER_COMPARE("b16", unsigned short, "h")
MULCIBER_COMPARE("b32", int, "r")
MULCIBER_COMPARE("b32", unsigned, "r")
MULCIBER_COMPARE("b64", unsigned long long, "l")
#undef MULCIBER_COMPARE
#undef MULCIBER_COMPARE_IN

#endif
