// Integer instructions against what the PTX manual says, on random and boundary inputs.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <sstream>

#include "support/arith_inputs.h"

namespace mulciber::test {
namespace {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

std::string registerType(unsigned bits) { return "b" + std::to_string(bits); }

// Every integer type: calls f(name, bits, isSigned).
template <typename Fn>
void forTypes(std::initializer_list<const char*> types, Fn f) {
  for (std::string type : types) f(type, static_cast<unsigned>(std::stoul(type.substr(1))), type[0] == 's');
}

int64_t clampTo(Int128 v, unsigned bits, bool isSigned) {
  Int128 low = isSigned ? -(Int128(1) << (bits - 1)) : 0, high = (Int128(1) << (isSigned ? bits - 1 : bits)) - 1;
  return static_cast<int64_t>(v < low ? low : v > high ? high : v);
}

struct Reading {
  unsigned bits;
  bool isSigned;
  Int128 operator()(uint64_t v) const { return isSigned ? Int128(signExtend(v, bits)) : Int128(lowBits(v, bits)); }
};

TEST(ArithInteger, AddsAndMultiplies) {
  forTypes({"u16", "u32", "u64", "s16", "s32", "s64"}, [](const std::string& type, unsigned bits, bool isSigned) {
    std::string r = registerType(bits);
    Reading n{bits, isSigned};
    auto low = [bits](Int128 v) { return Inputs{lowBits(uint64_t(v), bits)}; };
    auto high = [bits](Int128 v) { return Inputs{lowBits(uint64_t(v >> bits), bits)}; };
    check("add." + type + " %d0, %a0, %a1;", r, r + " " + r, [=](const Inputs& x) { return low(n(x[0]) + n(x[1])); });
    check("sub." + type + " %d0, %a0, %a1;", r, r + " " + r, [=](const Inputs& x) { return low(n(x[0]) - n(x[1])); });
    check("mul.lo." + type + " %d0, %a0, %a1;", r, r + " " + r,
          [=](const Inputs& x) { return low(Int128(Uint128(n(x[0])) * Uint128(n(x[1])))); });
    check("mul.hi." + type + " %d0, %a0, %a1;", r, r + " " + r, [=](const Inputs& x) {
      if (!isSigned && bits == 64) return Inputs{uint64_t(Uint128(x[0]) * x[1] >> 64)};
      return high(n(x[0]) * n(x[1]));
    });
    check("mad.lo." + type + " %d0, %a0, %a1, %a2;", r, r + " " + r + " " + r,
          [=](const Inputs& x) { return low(Int128(Uint128(n(x[0])) * Uint128(n(x[1]))) + n(x[2])); });
    check("mad.hi." + type + " %d0, %a0, %a1, %a2;", r, r + " " + r + " " + r, [=](const Inputs& x) {
      uint64_t product =
          !isSigned && bits == 64 ? uint64_t(Uint128(x[0]) * x[1] >> 64) : uint64_t((n(x[0]) * n(x[1])) >> bits);
      return Inputs{lowBits(product + x[2], bits)};
    });
    if (bits < 64) {
      std::string wide = registerType(2 * bits);
      check("mul.wide." + type + " %d0, %a0, %a1;", wide, r + " " + r,
            [=](const Inputs& x) { return Inputs{lowBits(uint64_t(n(x[0]) * n(x[1])), 2 * bits)}; });
      check("mad.wide." + type + " %d0, %a0, %a1, %a2;", wide, r + " " + r + " " + wide,
            [=](const Inputs& x) { return Inputs{lowBits(uint64_t(n(x[0]) * n(x[1])) + x[2], 2 * bits)}; });
    }
    check("sad." + type + " %d0, %a0, %a1, %a2;", r, r + " " + r + " " + r, [=](const Inputs& x) {
      Int128 d = n(x[0]) - n(x[1]);
      return low((d < 0 ? -d : d) + n(x[2]));
    });
    check("min." + type + " %d0, %a0, %a1;", r, r + " " + r,
          [=](const Inputs& x) { return low(std::min(n(x[0]), n(x[1]))); });
    check("max." + type + " %d0, %a0, %a1;", r, r + " " + r,
          [=](const Inputs& x) { return low(std::max(n(x[0]), n(x[1]))); });
    if (isSigned) {
      check("abs." + type + " %d0, %a0;", r, r, [=](const Inputs& x) { return low(n(x[0]) < 0 ? -n(x[0]) : n(x[0])); });
      check("neg." + type + " %d0, %a0;", r, r, [=](const Inputs& x) { return low(-n(x[0])); });
    }
  });
}

TEST(ArithInteger, DividesAndGivesAllOnesByZero) {
  forTypes({"u16", "u32", "u64", "s16", "s32", "s64"}, [](const std::string& type, unsigned bits, bool isSigned) {
    std::string r = registerType(bits), rr = r + " " + r;
    Reading n{bits, isSigned};
    auto low = [bits](Int128 v) { return Inputs{lowBits(uint64_t(v), bits)}; };
    check("div." + type + " %d0, %a0, %a1;", r, rr,
          [=](const Inputs& x) { return low(n(x[1]) == 0 ? Int128(-1) : n(x[0]) / n(x[1])); });
    check("rem." + type + " %d0, %a0, %a1;", r, rr,
          [=](const Inputs& x) { return low(n(x[1]) == 0 ? Int128(-1) : n(x[0]) % n(x[1])); });
    check("div." + type + " %d0, %a0, 7;", r, r, [=](const Inputs& x) { return low(n(x[0]) / 7); });
    check("rem." + type + " %d0, %a0, 0;", r, r, [=](const Inputs&) { return low(-1); });
  });
}

TEST(ArithInteger, Saturates) {
  Reading n{32, true};
  auto clamp = [](Int128 v) { return Inputs{lowBits(uint64_t(clampTo(v, 32, true)), 32)}; };
  check("add.sat.s32 %d0, %a0, %a1;", "b32", "b32 b32", [=](const Inputs& x) { return clamp(n(x[0]) + n(x[1])); });
  check("sub.sat.s32 %d0, %a0, %a1;", "b32", "b32 b32", [=](const Inputs& x) { return clamp(n(x[0]) - n(x[1])); });
  check("max.relu.s32 %d0, %a0, %a1;", "b32", "b32 b32",
        [=](const Inputs& x) { return clamp(std::max(std::max(n(x[0]), n(x[1])), Int128(0))); });
}

TEST(ArithInteger, MultipliesTwentyFourBits) {
  for (bool isSigned : {false, true}) {
    std::string type = isSigned ? "s32" : "u32";
    Reading n{24, isSigned};
    check("mul24.lo." + type + " %d0, %a0, %a1;", "b32", "b32 b32",
          [=](const Inputs& x) { return Inputs{lowBits(uint64_t(n(x[0]) * n(x[1])), 32)}; });
    check("mul24.hi." + type + " %d0, %a0, %a1;", "b32", "b32 b32",
          [=](const Inputs& x) { return Inputs{lowBits(uint64_t((n(x[0]) * n(x[1])) >> 16), 32)}; });
    check("mad24.lo." + type + " %d0, %a0, %a1, %a2;", "b32", "b32 b32 b32",
          [=](const Inputs& x) { return Inputs{lowBits(uint64_t(n(x[0]) * n(x[1])) + x[2], 32)}; });
    check("mad24.hi." + type + " %d0, %a0, %a1, %a2;", "b32", "b32 b32 b32",
          [=](const Inputs& x) { return Inputs{lowBits(uint64_t((n(x[0]) * n(x[1])) >> 16) + x[2], 32)}; });
  }
}

TEST(ArithInteger, WorksOnPairsOfHalves) {
  for (std::string op : {"add", "min", "max"}) {
    for (bool isSigned : {false, true}) {
      Reading n{16, isSigned};
      check(op + (isSigned ? ".s16x2" : ".u16x2") + " %d0, %a0, %a1;", "b32", "b32 b32", [=](const Inputs& x) {
        uint64_t result = 0;
        for (unsigned shift : {0, 16}) {
          Int128 a = n(x[0] >> shift), b = n(x[1] >> shift);
          Int128 v = op == "add" ? a + b : op == "min" ? std::min(a, b) : std::max(a, b);
          result |= lowBits(uint64_t(v), 16) << shift;
        }
        return Inputs{result};
      });
    }
  }
}

// 128-bit chains: LANG-48.
TEST(ArithInteger, CarriesBetweenWords) {
  auto join = [](uint64_t low, uint64_t high, unsigned bits) { return Uint128(high) << bits | low; };
  for (unsigned bits : {32u, 64u}) {
    std::string r = registerType(bits), rrrr = r + " " + r + " " + r + " " + r;
    for (std::string type : {"u", "s"}) {
      type += std::to_string(bits);
      auto split = [=](Uint128 v) { return Inputs{lowBits(uint64_t(v), bits), lowBits(uint64_t(v >> bits), bits)}; };
      check("add.cc." + type + " %d0, %a0, %a2; addc." + type + " %d1, %a1, %a3;", r + " " + r, rrrr,
            [=](const Inputs& x) { return split(join(x[0], x[1], bits) + join(x[2], x[3], bits)); });
      check("sub.cc." + type + " %d0, %a0, %a2; subc." + type + " %d1, %a1, %a3;", r + " " + r, rrrr,
            [=](const Inputs& x) { return split(join(x[0], x[1], bits) - join(x[2], x[3], bits)); });
      // The flag after a subtraction is the hardware's: set when nothing was borrowed.
      check("sub.cc." + type + " %d0, %a0, %a1; addc." + type + " %d1, 0, 0;", r + " " + r, r + " " + r,
            [=](const Inputs& x) {
              return Inputs{lowBits(x[0] - x[1], bits), uint64_t(x[0] >= x[1])};
            });
      // The carry out of three words shows the flag of addc.cc itself.
      check("add.cc." + type + " %d0, %a0, %a2; addc.cc." + type + " %d1, %a1, %a3; addc." + type + " %d2, 0, 0;",
            r + " " + r + " " + r, rrrr, [=](const Inputs& x) {
              Inputs result = split(join(x[0], x[1], bits) + join(x[2], x[3], bits));
              Uint128 middle = Uint128(x[1]) + x[3] + ((Uint128(x[0]) + x[2]) >> bits);
              result.push_back(uint64_t(middle >> bits));
              return result;
            });
    }
    std::string u = "u" + std::to_string(bits);
    check("mad.lo.cc." + u + " %d0, %a0, %a1, %a2; madc.hi." + u + " %d1, %a0, %a1, %a3;", r + " " + r, rrrr,
          [=](const Inputs& x) {
            Uint128 sum = Uint128(x[0]) * x[1] + join(x[2], x[3], bits);
            return Inputs{lowBits(uint64_t(sum), bits), lowBits(uint64_t(sum >> bits), bits)};
          });
  }
}

TEST(ArithInteger, TakesDotProducts) {
  for (bool signedA : {false, true}) {
    for (bool signedB : {false, true}) {
      std::string types = std::string(signedA ? ".s32" : ".u32") + (signedB ? ".s32" : ".u32");
      auto byte = [](uint64_t v, unsigned i, bool isSigned) { return int64_t(Reading{8, isSigned}(v >> (8 * i))); };
      auto word = [](uint64_t v, unsigned i, bool isSigned) { return int64_t(Reading{16, isSigned}(v >> (16 * i))); };
      check("dp4a" + types + " %d0, %a0, %a1, %a2;", "b32", "b32 b32 b32", [=](const Inputs& x) {
        int64_t sum = int64_t(x[2]);
        for (unsigned i = 0; i < 4; i++) sum += byte(x[0], i, signedA) * byte(x[1], i, signedB);
        return Inputs{lowBits(uint64_t(sum), 32)};
      });
      for (unsigned half : {0u, 2u})
        check(std::string(half ? "dp2a.hi" : "dp2a.lo") + types + " %d0, %a0, %a1, %a2;", "b32", "b32 b32 b32",
              [=](const Inputs& x) {
                int64_t sum = int64_t(x[2]);
                for (unsigned i = 0; i < 2; i++) sum += word(x[0], i, signedA) * byte(x[1], half + i, signedB);
                return Inputs{lowBits(uint64_t(sum), 32)};
              });
    }
  }
}

TEST(ArithInteger, Converts) {
  for (std::string to : {"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"}) {
    for (std::string from : {"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"}) {
      auto bitsOf = [](const std::string& type) { return static_cast<unsigned>(std::stoul(type.substr(1))); };
      unsigned toBits = bitsOf(to), fromBits = bitsOf(from);
      // A register of 16 bits at least; results are extended to it.
      unsigned toRegister = std::max(toBits, 16u), fromRegister = std::max(fromBits, 16u);
      Reading source{fromBits, from[0] == 's'};
      auto extend = [=](uint64_t v) {
        uint64_t narrow = lowBits(v, toBits);
        return Inputs{lowBits(to[0] == 's' ? uint64_t(signExtend(narrow, toBits)) : narrow, toRegister)};
      };
      std::string types = "." + to + "." + from + " %d0, %a0;";
      check("cvt" + types, registerType(toRegister), registerType(fromRegister),
            [=](const Inputs& x) { return extend(uint64_t(source(x[0]))); });
      bool holds = toBits > fromBits ? (to[0] == 's' || from[0] == 'u') : (to == from);
      if (!holds)
        check("cvt.sat" + types, registerType(toRegister), registerType(fromRegister),
              [=](const Inputs& x) { return extend(uint64_t(clampTo(source(x[0]), toBits, to[0] == 's'))); });
    }
  }
  check("cvt.pack.sat.s16.s32 %d0, %a0, %a1;", "b32", "b32 b32", [](const Inputs& x) {
    auto half = [](uint64_t v) { return lowBits(uint64_t(clampTo(signExtend(v, 32), 16, true)), 16); };
    return Inputs{half(x[0]) << 16 | half(x[1])};
  });
  check("cvt.pack.sat.u8.s32.b32 %d0, %a0, %a1, %a2;", "b32", "b32 b32 b32", [](const Inputs& x) {
    auto byte = [](uint64_t v) { return lowBits(uint64_t(clampTo(signExtend(v, 32), 8, false)), 8); };
    return Inputs{lowBits(x[2] << 16 | byte(x[0]) << 8 | byte(x[1]), 32)};
  });
}

}  // namespace
}  // namespace mulciber::test
