// cvt between integers and floats and among floats, against exact arithmetic on the host. LANG-44.
#include <algorithm>
#include <cmath>

#include "support/float_checks.h"

namespace mulciber::test {
namespace {

const std::vector<std::string> integers = {"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"};

// Eight bits stand in a register of sixteen, but not beside a bf16.
std::string registerOf(const std::string& type, const std::string& other) {
  return "b" + std::to_string(std::max(bitsOf(type), other == "bf16" ? 8u : 16u));
}

// Out of range clamps. A NaN gives 0, but with 64 bits on either side the result's top bit alone, as an H200 does.
uint64_t toInteger(const std::string& to, const std::string& from, const std::string& mode, uint64_t v) {
  unsigned bits = bitsOf(to);
  bool isSigned = to[0] == 's';
  uint64_t result;
  double x = from == "bf16" ? toDouble(32, v << 16) : toDouble(bitsOf(from), v);
  if (std::isnan(x)) {
    result = bits == 64 || from == "f64" ? uint64_t(1) << (bits - 1) : 0;
  } else {
    x = mode == ".rni"   ? std::nearbyint(x)
        : mode == ".rzi" ? std::trunc(x)
        : mode == ".rmi" ? std::floor(x)
                         : std::ceil(x);
    double limit = std::ldexp(1.0, int(bits) - isSigned);
    uint64_t high = lowBits(~uint64_t(0), bits - isSigned), low = isSigned ? high + 1 : 0;
    if (x >= limit) result = high;
    else if (x < (isSigned ? -limit : 0)) result = low;
    else result = isSigned ? uint64_t(int64_t(x)) : uint64_t(x);
  }
  result = lowBits(result, bits);
  unsigned registerBits = std::max(bits, from == "bf16" ? 8u : 16u);
  return isSigned ? lowBits(uint64_t(signExtend(result, bits)), registerBits) : result;
}

TEST(ArithConvert, GivesIntegersOfFloats) {
  for (const std::string& to : integers)
    for (std::string from : {"f16", "bf16", "f32", "f64"})
      for (std::string mode : {".rni", ".rzi", ".rmi", ".rpi"})
        checkFloat(
            "cvt" + mode + "." + to + "." + from + " %d0, %a0;", registerOf(to, from), from,
            [=](const Inputs& x) { return toInteger(to, from, mode, x[0]); }, 400);
  checkFloat(
      "cvt.rpi.ftz.s32.f32 %d0, %a0;", "b32", "f32",
      [=](const Inputs& x) { return toInteger("s32", "f32", ".rpi", flushed(x[0])); }, 400);
}

TEST(ArithConvert, RoundsIntegersToFloats) {
  for (const std::string& from : integers)
    for (std::string to : {"f16", "bf16", "f32", "f64"})
      for (auto [suffix, rounding] : roundings) {
        Rounding mode = rounding;
        checkFloat(
            "cvt" + std::string(suffix) + "." + to + "." + from + " %d0, %a0;", to, registerOf(from, to),
            [=](const Inputs& x) {
              unsigned bits = bitsOf(from);
              uint64_t n = from[0] == 's' ? uint64_t(signExtend(x[0], bits)) : lowBits(x[0], bits);
              if (to != "bf16") return referenceFromInteger(bitsOf(to), mode, from[0] == 's', n);
              return roundToFormat(referenceFromInteger(64, Rounding::ToOdd, from[0] == 's', n), 16, 7, mode);
            },
            200);
      }
}

TEST(ArithConvert, RoundsFloatsToFloats) {
  for (std::string from : {"f32", "f64"})
    for (std::string to : {"f16", "bf16", "f32"})
      for (auto [suffix, rounding] : roundings) {
        if (from == to) continue;
        Rounding mode = rounding;
        checkFloat("cvt" + std::string(suffix) + "." + to + "." + from + " %d0, %a0;", to, from, [=](const Inputs& x) {
          if (to == "bf16") return roundToFormat(referenceConvert(bitsOf(from), 64, mode, x[0]), 16, 7, mode);
          return referenceConvert(bitsOf(from), bitsOf(to), mode, x[0]);
        });
      }
  for (std::string from : {"f16", "bf16"})
    for (std::string to : {"f32", "f64"})
      checkFloat("cvt." + to + "." + from + " %d0, %a0;", to, from, [=](const Inputs& x) {
        return from == "bf16" ? referenceConvert(32, bitsOf(to), Rounding::NearestEven, x[0] << 16)
                              : referenceConvert(16, bitsOf(to), Rounding::NearestEven, x[0]);
      });
  checkFloat("cvt.f64.f32 %d0, %a0;", "f64", "f32",
             [](const Inputs& x) { return referenceConvert(32, 64, Rounding::NearestEven, x[0]); });
  checkFloat("cvt.rn.ftz.f16.f32 %d0, %a0;", "f16", "f32",
             [](const Inputs& x) { return referenceConvert(32, 16, Rounding::NearestEven, flushed(x[0])); });
  checkFloat("cvt.rm.ftz.f32.f64 %d0, %a0;", "f32", "f64",
             [](const Inputs& x) { return flushed(referenceConvert(64, 32, Rounding::Down, x[0])); });
}

TEST(ArithConvert, RoundsToIntegralFloats) {
  for (std::string type : {"f16", "f32", "f64"})
    for (std::string mode : {".rni", ".rzi", ".rmi", ".rpi"})
      checkFloat("cvt" + mode + "." + type + "." + type + " %d0, %a0;", type, type, [=](const Inputs& x) {
        double v = toDouble(bitsOf(type), x[0]);
        double r = mode == ".rni"   ? std::nearbyint(v)
                   : mode == ".rzi" ? std::trunc(v)
                   : mode == ".rmi" ? std::floor(v)
                                    : std::ceil(v);
        return fromDouble(bitsOf(type), r);
      });
}

TEST(ArithConvert, Saturates) {
  auto unit = [](unsigned bits, uint64_t v) {
    double x = toDouble(bits, v);
    if (!(x > 0)) return uint64_t(0);
    return x >= 1 ? fromDouble(bits, 1) : v;
  };
  checkFloat("cvt.sat.f32.f32 %d0, %a0;", "f32", "f32", [=](const Inputs& x) { return unit(32, x[0]); });
  checkFloat("cvt.rn.sat.f32.f64 %d0, %a0;", "f32", "f64",
             [=](const Inputs& x) { return unit(32, referenceConvert(64, 32, Rounding::NearestEven, x[0])); });
  checkFloat("cvt.rn.satfinite.f16.f32 %d0, %a0;", "f16", "f32", [](const Inputs& x) {
    uint64_t v = referenceConvert(32, 16, Rounding::NearestEven, x[0]);
    return (v & 0x7FFF) == 0x7C00 ? v - 1 : v;
  });
  checkFloat("cvt.rn.relu.bf16.f32 %d0, %a0;", "bf16", "f32", [](const Inputs& x) {
    uint64_t v = roundToFormat(referenceConvert(32, 64, Rounding::NearestEven, x[0]), 16, 7, Rounding::NearestEven);
    return v & 0x8000 && !isNanBits(32, x[0]) ? uint64_t(0) : v;
  });
}

TEST(ArithConvert, PacksPairs) {
  checkFloat("cvt.rn.f16x2.f32 %d0, %a0, %a1;", "b32", "f32 f32", [](const Inputs& x) {
    auto half = [](uint64_t v) { return referenceConvert(32, 16, Rounding::NearestEven, v); };
    return half(x[0]) << 16 | half(x[1]);
  });
  checkFloat("cvt.rn.bf16x2.f32 %d0, %a0, %a1;", "b32", "f32 f32", [](const Inputs& x) {
    auto half = [](uint64_t v) { return isNanBits(32, v) ? 0x7FFF : (v + 0x7FFF + (v >> 16 & 1)) >> 16 & 0xFFFF; };
    return half(x[0]) << 16 | half(x[1]);
  });
  checkFloat("cvt.rz.bf16x2.f32 %d0, %a0, %a1;", "b32", "f32 f32", [](const Inputs& x) {
    auto half = [](uint64_t v) { return isNanBits(32, v) ? 0x7FFF : v >> 16; };
    return half(x[0]) << 16 | half(x[1]);
  });
  checkFloat("cvt.rna.tf32.f32 %d0, %a0;", "b32", "f32", [](const Inputs& x) {
    uint64_t v = x[0];
    if (isNanBits(32, v)) return v & 0xFFFFE000;  // as ptxas makes it: the bits cut off
    if ((v & 0x7FFFFFFF) == 0x7F800000) return v;
    return (v + 0x1000) & 0xFFFFE000;
  });
}

// What the random bits lift over the last place of bf16 counts there.
uint64_t atRandom(uint64_t v, uint64_t random, bool rectifies, bool isFinite) {
  if (isNanBits(32, v)) return 0x7FFF;
  if (rectifies && v >> 31) return 0;
  const uint64_t result = (v >> 16) + ((v & 0xFFFF) + random > 0xFFFF);
  return isFinite && (result & 0x7FFF) == 0x7F80 ? result - 1 : result;
}

TEST(ArithConvert, RoundsToBfloatsAtRandom) {
  for (bool rectifies : {false, true})
    for (bool isFinite : {false, true}) {
      const std::string suffix = std::string(rectifies ? ".relu" : "") + (isFinite ? ".satfinite" : "");
      checkFloat("cvt.rs" + suffix + ".bf16x2.f32 %d0, %a0, %a1, %a2;", "b32", "f32 f32 b32", [=](const Inputs& x) {
        return atRandom(x[0], x[2] >> 16, rectifies, isFinite) << 16 |
               atRandom(x[1], x[2] & 0xFFFF, rectifies, isFinite);
      });
    }
}

TEST(ArithConvert, RefusesToRoundToHalvesAtRandom) {
  const Snippet snippet("cvt.rs.f16x2.f32 %d0, %a0, %a1, %a2;", "b32", "f32 f32 b32");
  EXPECT_FALSE(snippet.isValid());
  EXPECT_NE(snippet.messages().find("known for bf16 alone"), std::string::npos) << snippet.messages();
}

struct Small {
  const char* type;
  unsigned bits, mantissa;
  int bias;
  uint64_t largest, nan;
};
constexpr Small smalls[] = {{"e4m3x2", 8, 3, 7, 0x7E, 0x7F},
                            {"e5m2x2", 8, 2, 15, 0x7B, 0x7F},
                            {"e2m3x2", 6, 3, 1, 0x1F, 0x1F},  // a NaN becomes the largest number
                            {"e3m2x2", 6, 2, 3, 0x1F, 0x1F}};

double smallToDouble(const Small& s, uint64_t v) {
  uint64_t magnitude = v & ((uint64_t(1) << (s.bits - 1)) - 1), exponent = magnitude >> s.mantissa;
  uint64_t fraction = magnitude & ((uint64_t(1) << s.mantissa) - 1);
  double x = exponent == 0
                 ? std::ldexp(double(fraction), 1 - s.bias - int(s.mantissa))
                 : std::ldexp(double(fraction + (uint64_t(1) << s.mantissa)), int(exponent) - s.bias - int(s.mantissa));
  return v >> (s.bits - 1) ? -x : x;
}

// The nearest code of even parity among ties, by trying all.
uint64_t nearestSmall(const Small& s, double x) {
  if (std::isnan(x)) return s.nan;
  uint64_t best = 0;
  bool isNegative = std::signbit(x);
  x = std::min(std::fabs(x), smallToDouble(s, s.largest));
  for (uint64_t code = 0; code <= s.largest; code++) {
    double d = std::fabs(smallToDouble(s, code) - x), e = std::fabs(smallToDouble(s, best) - x);
    if (d < e || (d == e && code % 2 == 0)) best = code;
  }
  return best | (isNegative ? uint64_t(1) << (s.bits - 1) : 0);
}

TEST(ArithConvert, NarrowsToEightBitsAndFewer) {
  for (const Small& s : smalls) {
    std::string type = s.type;
    checkFloat(
        "cvt.rn.satfinite." + type + ".f32 %d0, %a0, %a1;", "b16", "f32 f32",
        [=](const Inputs& x) { return nearestSmall(s, toDouble(32, x[0])) << 8 | nearestSmall(s, toDouble(32, x[1])); },
        1000);
    if (s.bits == 8)
      checkFloat(
          "cvt.rn.satfinite.relu." + type + ".f16x2 %d0, %a0;", "b16", "b32",
          [=](const Inputs& x) {
            auto one = [&](uint64_t half) {
              double v = toDouble(16, half & 0xFFFF);
              return nearestSmall(s, v <= 0 ? 0.0 : v);
            };
            return one(x[0] >> 16) << 8 | one(x[0]);
          },
          1000);
    Snippet up("cvt.rn.f16x2." + type + " %d0, %a0;", "b32", "b16");
    const uint64_t last = (uint64_t(1) << s.bits) - 1;
    for (uint64_t code = 0; code <= last; code++) {
      const uint64_t got = up.run({code << 8 | (last - code)})[0] >> 16;
      if (s.largest == s.nan || (code & 0x7F) <= s.largest) {
        EXPECT_EQ(got, fromDouble(16, smallToDouble(s, code))) << type << " " << code;
        EXPECT_EQ(up.run({code})[0] & 0xFFFF, got) << type << " " << code;  // as the other number
      } else if (s.mantissa == 2 && (code & 0x7F) == 0x7C) {
        EXPECT_EQ(got, code << 8);  // infinity
      } else {
        EXPECT_GT(got & 0x7FFF, 0x7C00u) << type << " " << code;
      }
    }
  }
}

}  // namespace
}  // namespace mulciber::test
