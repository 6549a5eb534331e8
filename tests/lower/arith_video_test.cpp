// SIMD video instructions against what the PTX manual says, the scalar ones against what an H200 makes of them.
// LANG-41.
#include <algorithm>
#include <cmath>

#include "support/arith_inputs.h"

namespace mulciber::test {
namespace {

int64_t part(uint64_t v, unsigned first, unsigned bits, bool isSigned) {
  uint64_t field = lowBits(v >> first, bits);
  return isSigned ? signExtend(field, bits) : int64_t(field);
}

int64_t clamp(int64_t v, unsigned bits, bool isSigned) {
  int64_t high = int64_t(lowBits(~uint64_t(0), bits - isSigned)), low = isSigned ? -high - 1 : 0;
  return std::min(std::max(v, low), high);
}

// Scalar instructions: of a part of the register negative numbers become the largest; whole unsigned numbers wrap.
int64_t saturate(int64_t v, unsigned bits, bool isSigned) {
  if (bits < 32) return int64_t(std::min(uint64_t(v), lowBits(~uint64_t(0), bits - isSigned)));
  return isSigned ? clamp(v, 32, true) : std::max<int64_t>(v, 0);
}

int64_t combine(const std::string& op, int64_t a, int64_t b) {
  if (op == "vadd") return a + b;
  if (op == "vsub") return a - b;
  if (op == "vabsdiff") return std::abs(a - b);
  if (op == "vavrg") return (a + b + (a + b >= 0)) >> 1;
  if (op == "vmin") return std::min(a, b);
  if (op == "vmax") return std::max(a, b);
  return a < b;  // vset
}

std::string sign(bool isSigned) { return isSigned ? ".s32" : ".u32"; }

TEST(ArithVideo, ComputesOnSelectedParts) {
  for (std::string op : {"vadd", "vsub", "vabsdiff", "vmin", "vmax"})
    for (unsigned signs = 0; signs < 8; signs++) {
      bool d = signs & 1, a = signs & 2, b = signs & 4;
      std::string types = sign(d) + sign(a) + sign(b);
      check(
          op + types + " %d0, %a0.b1, %a1.h1;", "b32", "b32 b32",
          [=](const Inputs& x) {
            return Inputs{lowBits(uint64_t(combine(op, part(x[0], 8, 8, a), part(x[1], 16, 16, b))), 32)};
          },
          40);
      check(
          op + types + ".sat %d0, %a0, %a1;", "b32", "b32 b32",
          [=](const Inputs& x) {
            return Inputs{
                lowBits(uint64_t(saturate(combine(op, part(x[0], 0, 32, a), part(x[1], 0, 32, b)), 32, d)), 32)};
          },
          40);
      check(
          op + types + ".add %d0, %a0.h0, %a1, %a2;", "b32", "b32 b32 b32",
          [=](const Inputs& x) {
            return Inputs{lowBits(uint64_t(combine(op, part(x[0], 0, 16, a), part(x[1], 0, 32, b))) + x[2], 32)};
          },
          40);
      check(
          op + types + " %d0.h1, %a0, %a1, %a2;", "b32", "b32 b32 b32",
          [=](const Inputs& x) {  // the upper half of the result
            int64_t v = combine(op, part(x[0], 0, 32, a), part(x[1], 0, 32, b));
            return Inputs{(x[2] & 0xFFFF) | (uint64_t(v) & 0xFFFF0000)};
          },
          40);
      check(
          op + types + ".sat %d0.b2, %a0, %a1.b0, %a2;", "b32", "b32 b32 b32",
          [=](const Inputs& x) {
            int64_t v = saturate(combine(op, part(x[0], 0, 32, a), part(x[1], 0, 8, b)), 8, d);
            return Inputs{(x[2] & ~uint64_t(0xFF0000)) | lowBits(uint64_t(v), 8) << 16};
          },
          40);
    }
}

TEST(ArithVideo, ComparesShiftsAndMultiplies) {
  for (unsigned signs = 0; signs < 4; signs++) {
    bool a = signs & 1, b = signs & 2;
    check("vset" + sign(a) + sign(b) + ".lt %d0, %a0.h1, %a1;", "b32", "b32 b32",
          [=](const Inputs& x) { return Inputs{uint64_t(part(x[0], 16, 16, a) < part(x[1], 0, 32, b))}; });
    for (bool d : {false, true}) {
      check("vshl" + sign(d) + sign(a) + ".u32.sat.clamp %d0, %a0, %a1;", "b32", "b32 b32", [=](const Inputs& x) {
        uint64_t n = std::min<uint64_t>(x[1], 32);
        int64_t v = signExtend(lowBits(uint64_t(part(x[0], 0, 32, a)) << n, 34), 34);  // what ptxas keeps
        return Inputs{lowBits(uint64_t(clamp(v, 32, d)), 32)};
      });
      check("vshr" + sign(d) + sign(a) + ".u32.wrap %d0, %a0.b3, %a1;", "b32", "b32 b32",
            [=](const Inputs& x) { return Inputs{lowBits(uint64_t(part(x[0], 24, 8, a) >> (x[1] & 31)), 32)}; });
    }
    bool isSigned = a || b;
    check("vmad" + sign(isSigned) + sign(a) + sign(b) + ".shr7 %d0, %a0.h0, %a1.h1, %a2;", "b32", "b32 b32 b32",
          [=](const Inputs& x) {
            int64_t v = part(x[0], 0, 16, a) * part(x[1], 16, 16, b) + part(x[2], 0, 32, true);
            return Inputs{lowBits(uint64_t(v >> 7), 32)};
          });
    check("vmad.s32" + sign(a) + sign(b) + ".sat %d0, %a0.h0, %a1, -%a2;", "b32", "b32 b32 b32", [=](const Inputs& x) {
      return Inputs{lowBits(
          uint64_t(clamp(part(x[0], 0, 16, a) * part(x[1], 0, 32, true) - part(x[2], 0, 32, true), 32, true)), 32)};
    });
  }
}

TEST(ArithVideo, ComputesOnHalvesAndBytes) {
  for (unsigned lanes : {2u, 4u})
    for (std::string op : {"vadd", "vsub", "vabsdiff", "vavrg", "vmin", "vmax"})
      for (unsigned signs = 0; signs < 8; signs++) {
        bool d = signs & 1, a = signs & 2, b = signs & 4;
        unsigned bits = 32 / lanes;
        std::string name = op + std::to_string(lanes) + sign(d) + sign(a) + sign(b);
        auto value = [=](const Inputs& x, unsigned i) {
          return combine(op, part(x[0], i * bits, bits, a), part(x[1], i * bits, bits, b));
        };
        check(
            name + " %d0, %a0, %a1, %a2;", "b32", "b32 b32 b32",
            [=](const Inputs& x) {
              uint64_t result = 0;
              for (unsigned i = 0; i < lanes; i++) result |= lowBits(uint64_t(value(x, i)), bits) << (i * bits);
              return Inputs{result};
            },
            30);
        check(
            name + ".sat %d0, %a0, %a1, %a2;", "b32", "b32 b32 b32",
            [=](const Inputs& x) {
              uint64_t result = 0;
              for (unsigned i = 0; i < lanes; i++)
                result |= lowBits(uint64_t(clamp(value(x, i), bits, d)), bits) << (i * bits);
              return Inputs{result};
            },
            30);
        check(
            name + ".add %d0, %a0, %a1, %a2;", "b32", "b32 b32 b32",
            [=](const Inputs& x) {
              uint64_t sum = x[2];
              for (unsigned i = 0; i < lanes; i++) sum += uint64_t(value(x, i));
              return Inputs{lowBits(sum, 32)};
            },
            30);
      }
  // Lanes may be picked from both operands, and results from c.
  check("vadd2.s32.s32.s32 %d0.h1, %a0.h30, %a1.h21, %a2;", "b32", "b32 b32 b32", [](const Inputs& x) {
    uint64_t sum = lowBits(uint64_t(part(x[1], 16, 16, true) + part(x[1], 0, 16, true)), 16);
    return Inputs{sum << 16 | (x[2] & 0xFFFF)};
  });
  check("vset4.u32.u32.lt.add %d0, %a0, %a1, %a2;", "b32", "b32 b32 b32", [](const Inputs& x) {
    uint64_t sum = x[2];
    for (unsigned i = 0; i < 4; i++) sum += part(x[0], 8 * i, 8, false) < part(x[1], 8 * i, 8, false);
    return Inputs{lowBits(sum, 32)};
  });
}

}  // namespace
}  // namespace mulciber::test
