// Integer functions.
#ifndef MULCIBER_DEVICE_INTEGERS_H
#define MULCIBER_DEVICE_INTEGERS_H

MULCIBER_DEVICE int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
MULCIBER_DEVICE int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
MULCIBER_DEVICE int __popc(unsigned x) { return __builtin_popcount(x); }
MULCIBER_DEVICE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
MULCIBER_DEVICE int __ffs(int x) { return __builtin_ffs(x); }
MULCIBER_DEVICE int __ffsll(long long x) { return __builtin_ffsll(x); }
MULCIBER_DEVICE unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
MULCIBER_DEVICE unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }

MULCIBER_DEVICE unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  unsigned result;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(x), "r"(y), "r"(selector & 0x7777));
  return result;
}

MULCIBER_DEVICE int __mulhi(int x, int y) { return static_cast<int>((static_cast<long long>(x) * y) >> 32); }
MULCIBER_DEVICE unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<unsigned long long>(x) * y) >> 32);
}
MULCIBER_DEVICE long long __mul64hi(long long x, long long y) {
  long long result;
  asm("mul.hi.s64 %0, %1, %2;" : "=l"(result) : "l"(x), "l"(y));
  return result;
}
MULCIBER_DEVICE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  unsigned long long result;
  asm("mul.hi.u64 %0, %1, %2;" : "=l"(result) : "l"(x), "l"(y));
  return result;
}
MULCIBER_DEVICE int __mul24(int x, int y) {
  return static_cast<int>((static_cast<unsigned>(x) << 8 >> 8 ^ 0x800000u) - 0x800000u) *
         static_cast<int>((static_cast<unsigned>(y) << 8 >> 8 ^ 0x800000u) - 0x800000u);
}
MULCIBER_DEVICE unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffff) * (y & 0xffffff); }
MULCIBER_DEVICE unsigned __sad(int x, int y, unsigned z) {
  return z + (x > y ? static_cast<unsigned>(x) - static_cast<unsigned>(y)
                    : static_cast<unsigned>(y) - static_cast<unsigned>(x));
}
MULCIBER_DEVICE unsigned __usad(unsigned x, unsigned y, unsigned z) { return z + (x > y ? x - y : y - x); }
MULCIBER_DEVICE int __hadd(int x, int y) { return (x & y) + ((x ^ y) >> 1); }
MULCIBER_DEVICE int __rhadd(int x, int y) { return (x | y) - ((x ^ y) >> 1); }
MULCIBER_DEVICE unsigned __uhadd(unsigned x, unsigned y) { return (x & y) + ((x ^ y) >> 1); }
MULCIBER_DEVICE unsigned __urhadd(unsigned x, unsigned y) { return (x | y) - ((x ^ y) >> 1); }
MULCIBER_DEVICE unsigned __fns(unsigned mask, unsigned base, int offset) { return __nvvm_fns(mask, base, offset); }

#define MULCIBER_SHIFT(name, instruction)                                                 \
  MULCIBER_DEVICE unsigned name(unsigned low, unsigned high, unsigned shift) {            \
    unsigned result;                                                                      \
    asm(instruction " %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(shift)); \
    return result;                                                                        \
  }
MULCIBER_SHIFT(__funnelshift_l, "shf.l.wrap.b32")
MULCIBER_SHIFT(__funnelshift_lc, "shf.l.clamp.b32")
MULCIBER_SHIFT(__funnelshift_r, "shf.r.wrap.b32")
MULCIBER_SHIFT(__funnelshift_rc, "shf.r.clamp.b32")
#undef MULCIBER_SHIFT

// Sums of products of parts; the vectors' elements are the bytes and halves of a word.
#define MULCIBER_DOT(name, instruction, Result, A, B)                              \
  __device__ __forceinline__ Result name(A a, B b, Result sum) {                   \
    unsigned x, y;                                                                 \
    Result result;                                                                 \
    static_assert(sizeof(a) == 4 && sizeof(b) == 4, "words");                      \
    __builtin_memcpy(&x, &a, 4), __builtin_memcpy(&y, &b, 4);                      \
    asm(instruction " %0, %1, %2, %3;" : "=r"(result) : "r"(x), "r"(y), "r"(sum)); \
    return result;                                                                 \
  }
MULCIBER_DOT(__dp4a, "dp4a.s32.s32", int, int, int)
MULCIBER_DOT(__dp4a, "dp4a.u32.u32", unsigned, unsigned, unsigned)
MULCIBER_DOT(__dp4a, "dp4a.s32.s32", int, char4, char4)
MULCIBER_DOT(__dp4a, "dp4a.u32.u32", unsigned, uchar4, uchar4)
MULCIBER_DOT(__dp2a_lo, "dp2a.lo.s32.s32", int, int, int)
MULCIBER_DOT(__dp2a_lo, "dp2a.lo.u32.u32", unsigned, unsigned, unsigned)
MULCIBER_DOT(__dp2a_lo, "dp2a.lo.s32.s32", int, short2, char4)
MULCIBER_DOT(__dp2a_lo, "dp2a.lo.u32.u32", unsigned, ushort2, uchar4)
MULCIBER_DOT(__dp2a_hi, "dp2a.hi.s32.s32", int, int, int)
MULCIBER_DOT(__dp2a_hi, "dp2a.hi.u32.u32", unsigned, unsigned, unsigned)
MULCIBER_DOT(__dp2a_hi, "dp2a.hi.s32.s32", int, short2, char4)
MULCIBER_DOT(__dp2a_hi, "dp2a.hi.u32.u32", unsigned, ushort2, uchar4)
#undef MULCIBER_DOT

// min and max, which CUDA has on the host too.
#define MULCIBER_MIN_MAX(T)                                                               \
  __host__ __device__ __forceinline__ constexpr T min(T x, T y) { return x < y ? x : y; } \
  __host__ __device__ __forceinline__ constexpr T max(T x, T y) { return x < y ? y : x; }
MULCIBER_MIN_MAX(int)
MULCIBER_MIN_MAX(unsigned)
MULCIBER_MIN_MAX(long)
MULCIBER_MIN_MAX(unsigned long)
MULCIBER_MIN_MAX(long long)
MULCIBER_MIN_MAX(unsigned long long)
#undef MULCIBER_MIN_MAX
#define MULCIBER_MIXED(S, U)                                                                          \
  __host__ __device__ __forceinline__ constexpr U min(S x, U y) { return min(static_cast<U>(x), y); } \
  __host__ __device__ __forceinline__ constexpr U min(U x, S y) { return min(x, static_cast<U>(y)); } \
  __host__ __device__ __forceinline__ constexpr U max(S x, U y) { return max(static_cast<U>(x), y); } \
  __host__ __device__ __forceinline__ constexpr U max(U x, S y) { return max(x, static_cast<U>(y)); }
MULCIBER_MIXED(int, unsigned)
MULCIBER_MIXED(long, unsigned long)
MULCIBER_MIXED(long long, unsigned long long)
#undef MULCIBER_MIXED

#define MULCIBER_NAMED(T, name)                                 \
  MULCIBER_BOTH T name##max(T x, T y) { return x < y ? y : x; } \
  MULCIBER_BOTH T name##min(T x, T y) { return x < y ? x : y; }
MULCIBER_NAMED(unsigned, u)
MULCIBER_NAMED(long long, ll)
MULCIBER_NAMED(unsigned long long, ull)
#undef MULCIBER_NAMED

MULCIBER_DEVICE int abs(int x) { return x < 0 ? static_cast<int>(0u - static_cast<unsigned>(x)) : x; }
MULCIBER_DEVICE long long llabs(long long x) {
  return x < 0 ? static_cast<long long>(0ull - static_cast<unsigned long long>(x)) : x;
}
MULCIBER_DEVICE long labs(long x) { return static_cast<long>(llabs(x)); }

// Clang before 19 calls divisions of 128 bits by these names, after it has dropped what nobody calls: they are kept.
#if __clang_major__ < 19
struct MulciberDivision {
  unsigned __int128 quotient, remainder;
};
static __device__ __attribute__((noinline)) MulciberDivision mulciberDivide(unsigned __int128 value,
                                                                            unsigned __int128 divisor) {
  const auto zeros = [](unsigned __int128 x) {
    const auto high = static_cast<long long>(x >> 64);
    return high ? __clzll(high) : 64 + __clzll(static_cast<long long>(x));
  };
  MulciberDivision result = {0, value};
  if (value < divisor) return result;
  const int first = zeros(divisor) - zeros(value);
  divisor <<= first;
  for (int bit = first; bit >= 0; --bit, divisor >>= 1) {
    result.quotient <<= 1;
    if (result.remainder < divisor) continue;
    result.remainder -= divisor, result.quotient |= 1;
  }
  return result;
}
#define MULCIBER_WIDE extern "C" __device__ __attribute__((used)) inline
MULCIBER_WIDE unsigned __int128 __udivti3(unsigned __int128 x, unsigned __int128 y) {
  return mulciberDivide(x, y).quotient;
}
MULCIBER_WIDE unsigned __int128 __umodti3(unsigned __int128 x, unsigned __int128 y) {
  return mulciberDivide(x, y).remainder;
}
static __device__ unsigned __int128 mulciberSigned(unsigned __int128 x, bool isNegative) { return isNegative ? -x : x; }
MULCIBER_WIDE __int128 __divti3(__int128 x, __int128 y) {
  const auto parts = mulciberDivide(mulciberSigned(x, x < 0), mulciberSigned(y, y < 0));
  return mulciberSigned(parts.quotient, (x < 0) != (y < 0));
}
MULCIBER_WIDE __int128 __modti3(__int128 x, __int128 y) {
  return mulciberSigned(mulciberDivide(mulciberSigned(x, x < 0), mulciberSigned(y, y < 0)).remainder, x < 0);
}
#undef MULCIBER_WIDE
#endif

#endif
