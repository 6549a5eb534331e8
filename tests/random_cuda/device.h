// What random kernels are made of: operations that are defined for all operands, and give the same however the compiler
// computes them.
#pragma once
#include <cstdint>
#include <cstring>
#if HALF
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif
#if GROUPS
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
#endif

typedef int8_t i8;
typedef uint8_t u8;
typedef int16_t i16;
typedef uint16_t u16;
typedef int32_t i32;
typedef uint32_t u32;
typedef long long i64;
typedef unsigned long long u64;
typedef __int128 i128;
typedef unsigned __int128 u128;
typedef float f32;
typedef double f64;
#define DEVICE static __device__ __forceinline__

template <class To, class From>
DEVICE To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "");
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}
DEVICE u128 join128(u64 high, u64 low) { return (u128)high << 64 | low; }

// Bits are looked at with one NaN for all: which one an operation gives is left open.
DEVICE u32 bits(f32 x) { return x != x ? 0x7fc00000u : same_bits<u32>(x); }
DEVICE u64 bits(f64 x) { return x != x ? 0x7ff8000000000000ull : same_bits<u64>(x); }
DEVICE f32 f32_of(u32 x) { return same_bits<f32>(x); }
DEVICE f64 f64_of(u64 x) { return same_bits<f64>(x); }
template <class T>
DEVICE T canon(T x) {
  return x;
}
DEVICE f32 canon(f32 x) { return f32_of(bits(x)); }
DEVICE f64 canon(f64 x) { return f64_of(bits(x)); }
// What is neither huge nor tiny stays, the rest becomes something of middling size.
DEVICE f32 settle(f32 x) {
  f32 size = fabsf(x);
  return size > 1e-8f && size < 1e8f ? x : f32_of((bits(x) * 0x01000193u & 0x83ffffffu) | 0x3c000000u);
}
DEVICE f64 settle(f64 x) {
  f64 size = fabs(x);
  return size > 1e-40 && size < 1e40
             ? x
             : f64_of((bits(x) * 0x00000100000001b3ull & 0x803fffffffffffffull) | 0x3fc0000000000000ull);
}

template <class T>
DEVICE u64 mixable(T x) {
  return (u64)x;
}
DEVICE u64 mixable(u128 x) { return (u64)x ^ (u64)(x >> 64) * 7; }
DEVICE u64 mixable(i128 x) { return mixable((u128)x); }
DEVICE u64 mixable(f32 x) { return bits(x); }
DEVICE u64 mixable(f64 x) { return bits(x); }

template <class T>
DEVICE T quotient(T a, T b) {
  return b == 0 || (T(-1) < T(0) && b == T(-1) && a == T(-a) && a != 0) ? a : T(a / b);
}
template <class T>
DEVICE T modulo(T a, T b) {
  return b == 0 || (T(-1) < T(0) && b == T(-1) && a == T(-a) && a != 0) ? a : T(a % b);
}
template <class T>
DEVICE T least(T a, T b) {
  return b < a ? b : a;
}
template <class T>
DEVICE T greatest(T a, T b) {
  return a < b ? b : a;
}

// The bytes of memory, read and written in any width.
template <class T>
DEVICE T peek(const void* memory, u32 index) {
  T value;
  memcpy(&value, (const char*)memory + index * sizeof(T), sizeof(T));
  return value;
}
template <class T>
DEVICE void poke(void* memory, u32 index, T value) {
  memcpy((char*)memory + index * sizeof(T), &value, sizeof(T));
}

// ---- single instructions
#define ASM_2(name, text, R, r, A, a, B, b)       \
  DEVICE R name(A x, B y) {                       \
    R z;                                          \
    asm(text " %0, %1, %2;" : r(z) : a(x), b(y)); \
    return z;                                     \
  }
#define ASM_3(name, text, R, r, A, a, B, b, C, c)           \
  DEVICE R name(A x, B y, C w) {                            \
    R z;                                                    \
    asm(text " %0, %1, %2, %3;" : r(z) : a(x), b(y), c(w)); \
    return z;                                               \
  }
#define PRMT(mode) ASM_3(prmt_##mode, "prmt.b32." #mode, u32, "=r", u32, "r", u32, "r", u32, "r")
PRMT(f4e)
PRMT(b4e)
PRMT(rc8)
PRMT(ecl) PRMT(ecr) PRMT(rc16)
    // Natively the wide forms do not reduce position and length to 8 bits.
    DEVICE u32 bfe(u32 x, u32 at, u32 count) {
  u32 z;
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(z) : "r"(x), "r"(at & 63), "r"(count & 63));
  return z;
}
DEVICE i32 bfe(i32 x, u32 at, u32 count) {
  i32 z;
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(z) : "r"(x), "r"(at & 63), "r"(count & 63));
  return z;
}
DEVICE u64 bfe(u64 x, u32 at, u32 count) {
  u64 z;
  asm("bfe.u64 %0, %1, %2, %3;" : "=l"(z) : "l"(x), "r"(at & 127), "r"(count & 127));
  return z;
}
DEVICE i64 bfe(i64 x, u32 at, u32 count) {
  i64 z;
  asm("bfe.s64 %0, %1, %2, %3;" : "=l"(z) : "l"(x), "r"(at & 127), "r"(count & 127));
  return z;
}
DEVICE u32 bfi(u32 x, u32 y, u32 at, u32 count) {
  u32 z;
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(z) : "r"(x), "r"(y), "r"(at & 63), "r"(count & 63));
  return z;
}
DEVICE u64 bfi(u64 x, u64 y, u32 at, u32 count) {
  u64 z;
  asm("bfi.b64 %0, %1, %2, %3, %4;" : "=l"(z) : "l"(x), "l"(y), "r"(at & 127), "r"(count & 127));
  return z;
}
DEVICE u32 bfind(u32 x) {
  u32 z;
  asm("bfind.u32 %0, %1;" : "=r"(z) : "r"(x));
  return z;
}
DEVICE u32 bfind(i32 x) {
  u32 z;
  asm("bfind.s32 %0, %1;" : "=r"(z) : "r"(x));
  return z;
}
DEVICE u32 bfind(u64 x) {
  u32 z;
  asm("bfind.u64 %0, %1;" : "=r"(z) : "l"(x));
  return z;
}
DEVICE u32 bfind(i64 x) {
  u32 z;
  asm("bfind.s64 %0, %1;" : "=r"(z) : "l"(x));
  return z;
}
DEVICE u32 bfind_shift(u32 x) {
  u32 z;
  asm("bfind.shiftamt.u32 %0, %1;" : "=r"(z) : "r"(x));
  return z;
}
ASM_2(bmsk_clamp, "bmsk.clamp.b32", u32, "=r", u32, "r", u32, "r")
ASM_2(bmsk_wrap, "bmsk.wrap.b32", u32, "=r", u32, "r", u32, "r")
ASM_2(szext_clamp, "szext.clamp.u32", u32, "=r", u32, "r", u32, "r")
ASM_2(szext_wrap, "szext.wrap.s32", i32, "=r", i32, "r", u32, "r")
template <int table>
DEVICE u32 lop3(u32 x, u32 y, u32 w) {
  u32 z;
  asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(z) : "r"(x), "r"(y), "r"(w), "n"(table));
  return z;
}
DEVICE u32 add_carry(u32 a, u32 b, u32 c, u32 d) {
  u32 low, high;
  asm("add.cc.u32 %0, %2, %4; addc.u32 %1, %3, %5;" : "=&r"(low), "=r"(high) : "r"(a), "r"(b), "r"(c), "r"(d));
  return low * 5 ^ high;
}
DEVICE u32 sub_borrow(u32 a, u32 b, u32 c, u32 d) {
  u32 low, high;
  asm("sub.cc.u32 %0, %2, %4; subc.u32 %1, %3, %5;" : "=&r"(low), "=r"(high) : "r"(a), "r"(b), "r"(c), "r"(d));
  return low * 5 ^ high;
}
DEVICE u32 mad_carry(u32 a, u32 b, u32 c, u32 d) {
  u32 low, high;
  asm("mad.lo.cc.u32 %0, %2, %3, %4; madc.hi.u32 %1, %2, %3, %5;"
      : "=&r"(low), "=r"(high)
      : "r"(a), "r"(b), "r"(c), "r"(d));
  return low * 5 ^ high;
}
ASM_2(mul_wide, "mul.wide.u32", u64, "=l", u32, "r", u32, "r")
ASM_2(mul_wide, "mul.wide.s32", i64, "=l", i32, "r", i32, "r")
ASM_3(mad_wide, "mad.wide.u32", u64, "=l", u32, "r", u32, "r", u64, "l")
ASM_3(mad_wide, "mad.wide.s32", i64, "=l", i32, "r", i32, "r", i64, "l")
ASM_3(mad_hi_s32, "mad.hi.s32", i32, "=r", i32, "r", i32, "r", i32, "r")
ASM_2(add_sat, "add.sat.s32", i32, "=r", i32, "r", i32, "r")
ASM_2(sub_sat, "sub.sat.s32", i32, "=r", i32, "r", i32, "r")
#define SATURATE_SMALL(T, t, From, from, letter)                                                            \
  DEVICE T saturate_##T(From x) {                                                                           \
    i32 z;                                                                                                  \
    asm("{ .reg ." #t " small; cvt." from " small, %1; cvt.s32." #t " %0, small; }" : "=r"(z) : letter(x)); \
    return (T)z;                                                                                            \
  }
SATURATE_SMALL(i8, s8, i32, "sat.s8.s32", "r")
SATURATE_SMALL(u8, u8, i32, "sat.u8.s32", "r")
SATURATE_SMALL(i16, s16, i64, "sat.s16.s64", "l")
SATURATE_SMALL(u16, u16, i32, "sat.u16.s32", "r") SATURATE_SMALL(i16, s16, f32, "rni.s16.f32", "f")
    SATURATE_SMALL(u8, u8, f32, "rzi.u8.f32", "f") SATURATE_SMALL(u16, u16, f64, "rpi.u16.f64", "d")
        SATURATE_SMALL(i8, s8, f64, "rmi.s8.f64", "d") DEVICE u32 saturate_u32(i64 x) {
  u32 z;
  asm("cvt.sat.u32.s64 %0, %1;" : "=r"(z) : "l"(x));
  return z;
}
DEVICE i32 saturate_i32(i64 x) {
  i32 z;
  asm("cvt.sat.s32.s64 %0, %1;" : "=r"(z) : "l"(x));
  return z;
}
DEVICE i32 saturate_i32(u64 x) {
  i32 z;
  asm("cvt.sat.s32.u64 %0, %1;" : "=r"(z) : "l"(x));
  return z;
}
#define VIDEO(name, text, R, A, B, C) ASM_3(video_##name, text, R, "=r", A, "r", B, "r", C, "r")
VIDEO(add, "vadd.s32.s32.u32.sat.add", i32, i32, u32, i32)
VIDEO(sub, "vsub.s32.u32.s32.min", i32, u32, i32, i32)
VIDEO(absdiff, "vabsdiff.u32.s32.u32.add", u32, i32, u32, u32)
VIDEO(max, "vmax.s32.s32.u32.max", i32, i32, u32, i32)
VIDEO(mad, "vmad.s32.u32.s32.sat", i32, u32, i32, i32)
VIDEO(shl, "vshl.u32.u32.u32.wrap.add", u32, u32, u32, u32)
VIDEO(set, "vset.s32.u32.lt.add", u32, i32, u32, u32)

// ---- lanes
DEVICE u32 lane_index() {
  u32 lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
// The lane of a mask with that many others below it, counted round.
DEVICE u32 member(u32 mask, u32 count) {
  for (count %= (u32)__popc(mask); count > 0; --count) mask &= mask - 1;
  return (u32)__ffs((i32)mask) - 1;
}
// Shuffles. A lane whose source does not take part reads itself.
template <class T>
DEVICE T shuffled(u32 mask, T value, u32 from) {
  return __shfl_sync(mask, value, (i32)member(mask, from));
}
template <class T>
DEVICE T shuffled_within(u32 mask, T value, u32 from, u32 width) {
  u32 lane = lane_index(), source = (lane & (0u - width)) | (from & (width - 1));
  return __shfl_sync(mask, value, (i32)(mask >> source & 1 ? from : lane), (i32)width);
}
template <class T>
DEVICE T shuffled_up(u32 mask, T value, u32 distance, u32 width) {
  u32 lane = lane_index(), source = (lane & (width - 1)) < distance ? lane : lane - distance;
  return __shfl_up_sync(mask, value, mask >> source & 1 ? distance : 0, (i32)width);
}
template <class T>
DEVICE T shuffled_down(u32 mask, T value, u32 distance, u32 width) {
  u32 lane = lane_index(), source = (lane & (width - 1)) + distance < width ? lane + distance : lane;
  return __shfl_down_sync(mask, value, mask >> source & 1 ? distance : 0, (i32)width);
}
template <class T>
DEVICE T shuffled_xor(u32 mask, T value, u32 bits, u32 width) {
  u32 lane = lane_index(), end = (lane & (0u - width)) + width, source = (lane ^ bits) < end ? lane ^ bits : lane;
  return __shfl_xor_sync(mask, value, (i32)(mask >> source & 1 ? bits : 0), (i32)width);
}
template <class T>
DEVICE u32 matching_all(u32 mask, T value) {
  i32 all;
  u32 lanes = __match_all_sync(mask, value, &all);
  return lanes * 2 + (u32)all;
}

// ---- atomics whose outcome does not depend on who comes first
DEVICE void add_by_swap(u32* at, u32 value) {
  u32 old = *(volatile u32*)at, seen;
  while ((seen = atomicCAS(at, old, old + value)) != old) old = seen;
}
DEVICE void multiply_by_swap(u64* at, u64 value) {
  u64 old = *(volatile u64*)at, seen;
  while ((seen = atomicCAS(at, old, old * (value | 1))) != old) old = seen;
}
DEVICE void xor_by_swap(u16* at, u16 value) {
  u16 old = *(volatile u16*)at, seen;
  while ((seen = atomicCAS(at, old, (u16)(old ^ value))) != old) old = seen;
}

#if HALF
typedef __half f16;
typedef __nv_bfloat16 bf16;
DEVICE f16 to_f16(f32 x) { return __float2half_rn(x); }
DEVICE bf16 to_bf16(f32 x) { return __float2bfloat16_rn(x); }
DEVICE u16 bits(f16 x) { return __hisnan(x) ? 0x7fff : __half_as_ushort(x); }
DEVICE u16 bits(bf16 x) { return __hisnan(x) ? 0x7fff : __bfloat16_as_ushort(x); }
DEVICE f16 f16_of(u16 x) { return __ushort_as_half(x); }
DEVICE bf16 bf16_of(u16 x) { return __ushort_as_bfloat16(x); }
DEVICE f16 canon(f16 x) { return f16_of(bits(x)); }
DEVICE bf16 canon(bf16 x) { return bf16_of(bits(x)); }
DEVICE u64 mixable(f16 x) { return bits(x); }
DEVICE u64 mixable(bf16 x) { return bits(x); }
DEVICE f16 f16_pair(f16 a, f16 b, f16 c) {
  __half2 x = __halves2half2(a, b), y = __hfma2(x, __lowhigh2highlow(x), __halves2half2(c, a));
  return __hadd_rn(__low2half(y), __high2half(__hmul2_rn(y, x)));
}
DEVICE bf16 bf16_pair(bf16 a, bf16 b, bf16 c) {
  __nv_bfloat162 x = __halves2bfloat162(a, b), y = __hfma2(x, __halves2bfloat162(b, a), __halves2bfloat162(c, c));
  return __hadd_rn(__low2bfloat16(y), __high2bfloat16(__hfma2(y, x, x)));
}
#endif

#if GROUPS
template <u32 width>
DEVICE auto tile() {
  return cg::tiled_partition<width>(cg::this_thread_block());
}
template <u32 width, class T>
DEVICE T tile_sum(T value) {
  return cg::reduce(tile<width>(), value, cg::plus<T>());
}
template <u32 width, class T>
DEVICE T tile_least(T value) {
  return cg::reduce(tile<width>(), value, cg::less<T>());
}
template <u32 width, class T>
DEVICE T tile_running(T value) {
  return cg::inclusive_scan(tile<width>(), value, cg::plus<T>());
}
template <u32 width, class T>
DEVICE T tile_turned(T value, u32 by) {
  auto lanes = tile<width>();
  return lanes.shfl(value, (lanes.thread_rank() + by) % width);
}
template <u32 width>
DEVICE u32 tile_votes(bool vote) {
  auto lanes = tile<width>();
  return lanes.ballot(vote) * 4 + lanes.any(vote) * 2 + lanes.all(vote) + lanes.meta_group_rank() * 7;
}
DEVICE u32 labelled_sum(u32 value, u32 label) {
  auto lanes = cg::labeled_partition(tile<32>(), label);
  return cg::reduce(lanes, value, cg::plus<u32>()) + lanes.thread_rank() * 3 + lanes.size();
}
DEVICE u32 sides_mixed(u32 value, bool side) {
  auto lanes = cg::binary_partition(tile<32>(), side);
  return cg::reduce(lanes, value, cg::bit_xor<u32>()) + lanes.thread_rank() * 3 + lanes.size();
}
DEVICE void count_together(u32* at) {
  auto lanes = cg::coalesced_threads();
  if (lanes.thread_rank() == 0) atomicAdd(at, lanes.size());
}
#endif
