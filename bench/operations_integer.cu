// Each kernel repeats one operation of integers.
#include "operations.h"

using Wide = unsigned __int128;

int main(int argc, char** argv) {
  operations::Sweep sweep("integer operations", argc, argv);
  using u8 = unsigned char;
  using u16 = unsigned short;
  using u64 = unsigned long long;
  using i64 = long long;

  sweep.chain<unsigned>(
      "u32 add", 2, STEP { x += y, y += x; });
  sweep.chain<unsigned>(
      "u32 sub and xor", 2, STEP { x -= y, y ^= x; });
  sweep.chain<unsigned>(
      "u32 mul", 4, STEP { x *= y, y *= x | 1; });
  sweep.chain<unsigned>(
      "u32 mad", 2, STEP { x = x * y + z; });
  sweep.chain<int>(
      "i32 mul24", 2, STEP { x = __mul24(x, y) + z; });
  sweep.chain<unsigned>(
      "u32 mulhi", 6, STEP { x = __umulhi(x, y) ^ y; });
  sweep.chain<int>(
      "i32 mulhi", 6, STEP { x = __mulhi(x, y) ^ y; });
  sweep.chain<unsigned, 1>(
      "u32 div", 18, STEP { x = x / (y | 1) ^ y, y += z; });
  sweep.chain<unsigned, 1>(
      "u32 rem", 18, STEP { x = x % (y | 1) + z, y += x; });
  sweep.chain<int, 1>(
      "i32 div", 24, STEP { x = x / (y | 1) ^ y, y += z; });
  sweep.chain<int, 1>(
      "i32 rem", 24, STEP { x = x % (y | 1) ^ y, y += z; });
  sweep.chain<int, 1>(
      "i32 div and rem", 26, STEP { x = x / (y | 1) ^ x % (y | 1), y += z; });
  sweep.chain<unsigned, 1>(
      "u32 div, uniform", 18, STEP { x = x / z ^ y; });
  sweep.chain<unsigned>(
      "u32 div by 7", 6, STEP { x = x / 7 ^ y; });
  sweep.chain<int>(
      "i32 div by 7", 6, STEP { x = x / 7 ^ y; });
  sweep.chain<int>(
      "i32 rem by 10", 8, STEP { x = x % 10 + y, y += z; });
  sweep.chain<int>(
      "i32 div by 8", 4, STEP { x = x / 8 ^ y; });

  sweep.chain<u64>(
      "u64 add", 4, STEP { x += y, y += x; });
  sweep.chain<u64>(
      "u64 mul", 8, STEP { x = x * y + z; });
  sweep.chain<u64>(
      "u32 by u32 to u64", 4, STEP { x = u64(unsigned(x)) * unsigned(y) + (x >> 32); });
  sweep.chain<i64>(
      "i32 by i32 to i64", 4, STEP { x = i64(int(x)) * int(y) + z; });
  sweep.chain<u64>(
      "u64 mulhi", 24, STEP { x = __umul64hi(x, y) ^ y; });
  sweep.chain<i64>(
      "i64 mulhi", 28, STEP { x = __mul64hi(x, y) ^ y; });
  sweep.chain<u64, 1>(
      "u64 div", 110, STEP { x = x / (y | 1) ^ y, y += z; });
  sweep.chain<u64, 1>(
      "u64 div by 32 bits", 110, STEP { x = x / (unsigned(y) | 1) ^ y, y += z; });
  sweep.chain<i64, 1>(
      "i64 div", 120, STEP { x = x / (y | 1) ^ y, y += z; });
  sweep.chain<i64, 1>(
      "i64 rem", 120, STEP { x = x % (y | 1) ^ y, y += z; });
  sweep.chain<u64, 1>(
      "u64 div of 32 bits", 50, STEP { x = (x & 0xffffffff) / (y & 0xffff | 1) ^ y, y += z; });
  sweep.chain<u64>(
      "u64 div by 7", 26, STEP { x = x / 7 ^ y; });
  sweep.chain<i64>(
      "i64 rem by 1000", 34, STEP { x = x % 1000 + y, y += z; });
  sweep.chain<u64>(
      "u64 shifts", 8, STEP { x = (x << (y & 63)) ^ y, y = y >> (x & 63) ^ x; });
  sweep.chain<i64>(
      "i64 shift right", 5, STEP { x = x >> (y & 63) ^ y; });
  sweep.chain<u64>(
      "u64 rotate by 23", 3, STEP { x = (x << 23 | x >> 41) ^ y; });
  sweep.chain<u64>(
      "u64 rotate", 8, STEP { x = (x << (y & 63) | x >> (-y & 63)) ^ y; });
  sweep.chain<i64>(
      "i64 min and max", 10, STEP { x = min(x, y) + z, y = max(x, y) ^ x; });
  sweep.chain<u64>(
      "u64 compare and select", 6, STEP { x = x < y ? x + z : x - y; });
  sweep.chain<u64>(
      "u64 and, or, xor", 4, STEP { x = (x & y) ^ (x | z), y ^= x; });
  sweep.chain<Wide>(
      "u128 add", 8, STEP { x += y, y ^= x; });
  sweep.chain<Wide>(
      "u128 mul", 26, STEP { x = x * y + z; });
  sweep.chain<Wide>(
      "u64 by u64 to u128", 16, STEP { x = Wide(u64(x)) * u64(y) + (x >> 64); });
  sweep.chain<Wide>(
      "u128 shift", 14, STEP { x = x >> (int(y) & 127) ^ y; });
  sweep.chain<Wide, 1>(
      "u128 div", 310, STEP { x = x / (y >> 40 | 1) ^ y, y += z; });
  sweep.chain<unsigned>(
      "add with carry, 3 words", 4, STEP {
        asm("{ add.cc.u32 %0, %0, %1; addc.cc.u32 %1, %1, %2; addc.u32 %0, %0, 0; }" : "+r"(x), "+r"(y) : "r"(z));
      });
  sweep.chain<unsigned>(
      "mad with carry", 8, STEP {
        unsigned low;
        asm("{ mad.lo.cc.u32 %0, %1, %2, %3; madc.hi.u32 %1, %1, %2, %3; }" : "=r"(low), "+r"(x) : "r"(y), "r"(z));
        y ^= low;
      });

  sweep.chain<unsigned>(
      "u32 shifts", 6, STEP { x = (x << (y & 31)) ^ y, y = y >> (x & 31) ^ x; });
  sweep.chain<int>(
      "i32 shift right", 3, STEP { x = x >> (y & 31) ^ y; });
  sweep.chain<unsigned>(
      "u32 shifts beyond 31", 8, STEP {
        asm("{ shl.b32 %0, %0, %1; xor.b32 %0, %0, %1; shr.u32 %1, %1, %0; xor.b32 %1, %1, %0; }" : "+r"(x), "+r"(y));
      });
  sweep.chain<unsigned>(
      "u32 rotate by 7", 2, STEP { x = (x << 7 | x >> 25) ^ y; });
  sweep.chain<unsigned>(
      "u32 rotate", 3, STEP { x = __funnelshift_l(x, x, y) ^ y; });
  sweep.chain<unsigned>(
      "funnel shift left", 3, STEP { x = __funnelshift_l(x, y, z) ^ y; });
  sweep.chain<unsigned>(
      "funnel shift right", 3, STEP { x = __funnelshift_r(x, y, x) ^ y; });
  sweep.chain<unsigned>(
      "funnel shift, clamped", 3, STEP { x = __funnelshift_rc(x, y, x & 63) ^ y; });
  sweep.chain<unsigned>(
      "three-input logic", 2, STEP { x = (x & y) ^ (~x & z), y ^= x; });
  sweep.chain<unsigned>(
      "popc", 10, STEP { x = __popc(x) ^ y, y += z; });
  sweep.chain<u64>(
      "popcll", 20, STEP { x = __popcll(x) ^ y, y += z; });
  sweep.chain<unsigned>(
      "clz", 10, STEP { x = __clz(x) ^ y, y += z; });
  sweep.chain<u64>(
      "clzll", 20, STEP { x = __clzll(x) ^ y, y += z; });
  sweep.chain<unsigned>(
      "ffs", 14, STEP { x = __ffs(x) ^ y, y += z; });
  sweep.chain<u64>(
      "ffsll", 24, STEP { x = __ffsll(x) ^ y, y += z; });
  sweep.chain<int>(
      "bfind of signed", 10, STEP {
        int bit;
        asm("bfind.s32 %0, %1;" : "=r"(bit) : "r"(x));
        x = bit ^ y, y += z;
      });
  sweep.chain<unsigned>(
      "brev", 10, STEP { x = __brev(x) + y; });
  sweep.chain<u64>(
      "brevll", 20, STEP { x = __brevll(x) + y; });
  sweep.chain<unsigned>(
      "nth bit set", 60, STEP { x = __fns(x, 0, y & 7 | 1) ^ y, y += z; });
  sweep.chain<unsigned>(
      "byte_perm, constant", 3, STEP { x = __byte_perm(x, y, 0x4172) + y; });
  sweep.chain<unsigned>(
      "byte_perm", 3, STEP { x = __byte_perm(x, y, x) + z; });
  sweep.chain<unsigned>(
      "byte swap", 8, STEP { x = (x >> 24 | (x >> 8 & 0xff00) | (x << 8 & 0xff0000) | x << 24) + y; });
  sweep.chain<unsigned>(
      "bytes extracted", 8, STEP { x = (x & 255) * (x >> 8 & 255) + (x >> 16 & 255) * (x >> 24) + y; });
  sweep.chain<unsigned>(
      "bfe", 6, STEP {
        unsigned field;
        asm("bfe.u32 %0, %1, %2, %3;" : "=r"(field) : "r"(x), "r"(y & 31), "r"(z));
        x = field ^ y, y += z;
      });
  sweep.chain<int>(
      "bfe of signed", 8, STEP {
        int field;
        asm("bfe.s32 %0, %1, %2, %3;" : "=r"(field) : "r"(x), "r"(y & 31), "r"(z));
        x = field ^ y, y += z;
      });
  sweep.chain<unsigned>(
      "bfi", 6, STEP {
        asm("bfi.b32 %0, %1, %0, %2, %3;" : "+r"(x) : "r"(y), "r"(x & 31), "r"(z));
      });
  sweep.chain<unsigned>(
      "bit fields of a struct", 2, STEP {
        struct Fields {
          unsigned a : 5, b : 11, c : 16;
        } fields;
        memcpy(&fields, &x, 4);
        fields.b += y, fields.a ^= fields.c;
        memcpy(&x, &fields, 4);
      });

  sweep.chain<int>(
      "i32 min and max", 4, STEP { x = min(x, y) + z, y = max(x, y) ^ x; });
  sweep.chain<int>(
      "i32 clamp", 4, STEP { x = min(max(x + y, -1000000), 1000000) * 3; });
  sweep.chain<int>(
      "i32 abs", 3, STEP { x = abs(x) - y; });
  sweep.chain<int>(
      "sad", 3, STEP { x = __sad(x, y, z); });
  sweep.chain<unsigned>(
      "usad", 3, STEP { x = __usad(x, y, x); });
  sweep.chain<int>(
      "hadd and rhadd", 6, STEP { x = __hadd(x, y) ^ z, y = __rhadd(x, y) + z; });
  sweep.chain<int>(
      "i32 add, saturated", 6, STEP {
        asm("add.sat.s32 %0, %0, %1; sub.sat.s32 %1, %1, %2;" : "+r"(x), "+r"(y) : "r"(x ^ z));
      });
  sweep.chain<int>(
      "dp4a", 2, STEP { x = __dp4a(x, y, z); });
  sweep.chain<unsigned>(
      "dp4a of unsigned", 2, STEP { x = __dp4a(x, y, x); });
  sweep.chain<int>(
      "dp2a", 2, STEP { x = __dp2a_lo(x, y, z), y = __dp2a_hi(x, y, z); });
  sweep.chain<unsigned>(
      "vadd4", 6, STEP { x = __vadd4(x, y) ^ z; });
  sweep.chain<unsigned>(
      "vsub4", 6, STEP { x = __vsub4(x, y) ^ z; });
  sweep.chain<unsigned>(
      "vaddss4", 30, STEP { x = __vaddss4(x, y) ^ z; });
  sweep.chain<unsigned>(
      "vabsdiffu4", 8, STEP { x = __vabsdiffu4(x, y) ^ z; });
  sweep.chain<unsigned>(
      "vavgu4", 6, STEP { x = __vavgu4(x, y) ^ z; });
  sweep.chain<unsigned>(
      "vmaxs4", 20, STEP { x = __vmaxs4(x, y) ^ z; });
  sweep.chain<unsigned>(
      "vcmpgtu4", 8, STEP { x = __vcmpgtu4(x, y) ^ z; });
  sweep.chain<unsigned>(
      "vseteq4", 8, STEP { x = __vseteq4(x, y) ^ y; });
  sweep.chain<unsigned>(
      "vsadu4", 6, STEP { x = __vsadu4(x, y) ^ z; });
  sweep.chain<unsigned>(
      "vadd2", 2, STEP { x = __vadd2(x, y) ^ z; });
  sweep.chain<unsigned>(
      "vmaxs2", 5, STEP { x = __vmaxs2(x, y) ^ z; });
  sweep.chain<int>(
      "viaddmax", 3, STEP { x = __viaddmax_s32(x, y, z); });
  sweep.chain<int>(
      "vimax3", 3, STEP { x = __vimax3_s32(x, y, z) ^ y; });
  sweep.chain<unsigned>(
      "viaddmax, 2 x 16", 4, STEP { x = __viaddmax_s16x2(x, y, z); });
  sweep.chain<int>(
      "vibmin", 5, STEP {
        bool first;
        x = __vibmin_s32(x, y, &first) + first;
      });
  sweep.chain<int>(
      "vadd of bytes", 6, STEP {
        asm("vadd.s32.u32.s32 %0, %1.b0, %2.b2;" : "=r"(x) : "r"(x), "r"(y));
        y ^= x;
      });

  sweep.chain<u8>(
      "u8 add and mul", 5, STEP { x = x * y + z, y += x; });
  sweep.chain<signed char>(
      "i8 compare and shift", 6, STEP { x = x < y ? x - y : x >> 1, y += z; });
  sweep.chain<short>(
      "i16 mul and add", 4, STEP { x = x * y + z; });
  sweep.chain<u16>(
      "u16 div", 18, STEP { x = x / (y | 1) ^ y, y += z; });
  sweep.chain<u16>(
      "u16 rotate", 5, STEP { x = (x << 5 | x >> 11) ^ y; });
  sweep.chain<u16>(
      "u16 min and max", 5, STEP { x = min(x, y) + z, y = max(x, y) ^ x; });

  sweep.latency<unsigned>(
      "latency, u32 add", 9, STEP { x += y, y += x; });
  sweep.latency<unsigned>(
      "latency, u32 mad", 5, STEP { x = x * y + z; });
  sweep.latency<unsigned>(
      "latency, u32 shift", 10, STEP { x = x >> (y & 3) ^ y; });
  sweep.latency<unsigned>(
      "latency, popc", 25, STEP { x = __popc(x) ^ y; });
  sweep.latency<unsigned>(
      "latency, u32 div", 100, STEP { x = x / (y | 1) ^ y; });
  sweep.latency<int>(
      "latency, i32 rem", 110, STEP { x = x % (y | 1) ^ y; });
  sweep.latency<u64>(
      "latency, u64 mul", 20, STEP { x = x * y + z; });
  sweep.latency<i64>(
      "latency, i64 div", 400, STEP { x = x / (y | 1) ^ y; });
  sweep.latency<int>(
      "latency, i32 min", 9, STEP { x = min(x, y) + z; });
  sweep.latency<unsigned>(
      "latency, byte_perm", 9, STEP { x = __byte_perm(x, y, x) + z; });
  sweep.latency<unsigned>(
      "latency, compare and select", 13, STEP { x = x < y ? x + z : x - y; });
}
