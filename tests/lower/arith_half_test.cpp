// f16, bf16 and their pairs, f32x2, and min, max, signs and tests of every float type. MATH-16.
#include <algorithm>
#include <cmath>

#include "support/float_checks.h"

namespace mulciber::test {
namespace {

uint64_t exactHalf(bool isBfloat, FloatOp op, uint64_t a, uint64_t b, uint64_t c) {
  if (!isBfloat) return referenceFloat(op, 16, Rounding::NearestEven, a, b, c);
  auto wide = [](uint64_t v) { return referenceConvert(32, 64, Rounding::NearestEven, (v & 0xFFFF) << 16); };
  return roundToFormat(referenceFloat(op, 64, Rounding::ToOdd, wide(a), wide(b), wide(c)), 16, 7,
                       Rounding::NearestEven);
}

const std::vector<std::pair<std::string, FloatOp>> arithmetic = {
    {"add", FloatOp::Add}, {"sub", FloatOp::Sub}, {"mul", FloatOp::Mul}, {"fma", FloatOp::Fma}};

TEST(ArithHalf, ComputesOnSixteenBits) {
  for (bool isBfloat : {false, true})
    for (const auto& [name, op] : arithmetic) {
      FloatOp which = op;
      unsigned count = op == FloatOp::Fma ? 3 : 2;
      std::string type = isBfloat ? "bf16" : "f16";
      auto exact = [=](const Inputs& x, unsigned shift) {
        auto part = [&](size_t i) { return i < x.size() ? x[i] >> shift & 0xFFFF : 0; };
        return exactHalf(isBfloat, which, part(0), part(1), part(2));
      };
      checkFloat(name + ".rn." + type + registers(count), type, repeated(type, count),
                 [=](const Inputs& x) { return exact(x, 0); });
      checkPairs(name + ".rn." + type + "x2" + registers(count), isBfloat, count,
                 [=](const Inputs& x, unsigned shift) { return exact(x, shift); });
      if (!isBfloat) {
        auto flush = [](uint64_t v) { return isDenormalBits(16, v) ? v & 0x8000 : v; };
        checkFloat(name + ".rn.ftz.f16" + registers(count), "f16", repeated("f16", count), [=](Inputs x) {
          for (uint64_t& v : x) v = flush(v);
          return flush(exact(x, 0));
        });
        checkFloat(name + ".rn.sat.f16" + registers(count), "f16", repeated("f16", count), [=](const Inputs& x) {
          uint64_t v = exact(x, 0);
          double d = toDouble(16, v);
          return !(d > 0) ? uint64_t(0) : d > 1 ? uint64_t(0x3C00) : v;
        });
      }
      if (which == FloatOp::Fma)
        checkFloat("fma.rn.relu." + type + registers(3), type, repeated(type, 3), [=](const Inputs& x) {
          uint64_t v = exact(x, 0);
          return v & 0x8000 && !isNan(type, v) ? uint64_t(0) : v;
        });
    }
}

// Sums whose product alone lies in the middle between two numbers, so that the smallest addend decides; and those with
// products that are too large or too small for f32.
TEST(ArithHalf, RoundsBfloatSumsNextToTies) {
  std::mt19937_64 random(31);
  auto number = [&](int exponent) {
    return (random() % 2) << 15 | uint64_t(std::clamp(exponent + 127, 0, 255)) << 7 | (random() & 0x7F);
  };
  std::vector<Inputs> list;
  while (list.size() < 3000) {
    const int size = list.size() % 2 ? int(random() % 8) : int(random() % 250) - 140;
    const int factor = int(random() % 254) - 127;
    const uint64_t x = number(factor), y = number(size - factor);
    const uint64_t digits = ((x & 0x7F) | 0x80) * ((y & 0x7F) | 0x80);
    const bool isMiddle = (digits & (digits >> 15 ? 0xFF : 0x7F)) == (digits >> 15 ? 0x80 : 0x40);
    if (!isMiddle && random() % 64) continue;
    list.push_back({x, y, number(isMiddle ? size - 8 - int(random() % 40) : size)});
  }
  for (uint64_t x : {0x5F80, 0xDF80, 0x7F7F, 0x0001, 0x8001, 0x0100})  // 2^64, the largest, tiny ones
    for (uint64_t y : {0x5F80, 0x7F7F, 0x0001, 0x0080, 0x3F80})
      for (uint64_t z : {0x0000, 0x8000, 0x0001, 0x8001, 0xFF00, 0x7F00, 0xFF7F, 0xFF80, 0x7F80})
        list.push_back({x, y, z});
  for (const Device& device : devices()) {
    Snippet snippet("fma.rn.bf16 %d0, %a0, %a1, %a2;", "b16", "b16 b16 b16", device.profile);
    ASSERT_TRUE(snippet.isValid()) << snippet.messages();
    passes::LegalizeFloats pass;
    snippet.apply(pass, device.profile);
    for (const Inputs& x : list) {
      const uint64_t got = snippet.run(x, device.model)[0], want = exactHalf(true, FloatOp::Fma, x[0], x[1], x[2]);
      ASSERT_TRUE(got == want || (isNan("bf16", got) && isNan("bf16", want)))
          << device.name << std::hex << " " << x[0] << " " << x[1] << " " << x[2] << " gives " << got << ", not "
          << want;
    }
  }
}

TEST(ArithHalf, ComputesOnPairsOfSingles) {
  Snippet snippet("fma.rz.f32x2 %d0, %a0, %a1, %a2;", "b64", "b64 b64 b64");
  std::mt19937_64 random(5);
  for (int n = 0; n < 500; n++) {
    Inputs x;
    for (int i = 0; i < 3; i++) x.push_back(randomFloat(random, 32, 23) << 32 | randomFloat(random, 32, 23));
    uint64_t got = snippet.run(x)[0];
    for (unsigned shift : {0u, 32u}) {
      auto part = [&](uint64_t v) { return v >> shift & 0xFFFFFFFF; };
      uint64_t want = referenceFloat(FloatOp::Fma, 32, Rounding::TowardZero, part(x[0]), part(x[1]), part(x[2]));
      if (isNanBits(32, want)) EXPECT_TRUE(isNanBits(32, part(got)));
      else EXPECT_EQ(part(got), want);
    }
  }
}

uint64_t extremum(const std::string& type, bool isMin, bool nanWins, bool magnitudes, uint64_t a, uint64_t b) {
  unsigned bits = bitsOf(type);
  uint64_t sign = uint64_t(1) << (bits - 1), signs = (a ^ b) & sign;
  auto number = [&](uint64_t v) { return type == "bf16" ? toDouble(32, v << 16) : toDouble(bits, v); };
  uint64_t nan = sign - 1, result;
  if (magnitudes) {
    a &= ~sign;
    b &= ~sign;
  }
  bool aNan = isNan(type, a), bNan = isNan(type, b);
  if ((aNan && bNan) || (nanWins && (aNan || bNan))) return nan;
  if (aNan) result = b;
  else if (bNan) result = a;
  else if (number(a) == number(b)) result = isMin ? a | b : a & b;
  else result = (number(a) < number(b)) == isMin ? a : b;
  return magnitudes ? (result & ~sign) | signs : result;
}

TEST(ArithHalf, FindsMinimaAndMaxima) {
  for (std::string type : {"f16", "bf16", "f32", "f64"})
    for (bool isMin : {true, false}) {
      std::string op = isMin ? "min" : "max";
      checkFloat(op + "." + type + registers(2), type, repeated(type, 2),
                 [=](const Inputs& x) { return extremum(type, isMin, false, false, x[0], x[1]); });
      if (type == "f64") continue;
      checkFloat(op + ".NaN." + type + registers(2), type, repeated(type, 2),
                 [=](const Inputs& x) { return extremum(type, isMin, true, false, x[0], x[1]); });
      checkFloat(op + ".NaN.xorsign.abs." + type + registers(2), type, repeated(type, 2),
                 [=](const Inputs& x) { return extremum(type, isMin, true, true, x[0], x[1]); });
    }
  checkFloat("min.ftz.f32 %d0, %a0, %a1;", "f32", "f32 f32",
             [](const Inputs& x) { return extremum("f32", true, false, false, flushed(x[0]), flushed(x[1])); });
  checkFloat("max.f32 %d0, %a0, %a1, %a2;", "f32", "f32 f32 f32", [](const Inputs& x) {
    return extremum("f32", false, false, false, extremum("f32", false, false, false, x[0], x[1]), x[2]);
  });
}

// Where the driver gives the one NaN of two NaNs by itself, and where a number among the operands rules it out, nothing
// is left to do. The driver takes the extremum of a value and itself, or of it and a NaN, for the value.
TEST(ArithHalf, FindsMinimaInOneOperation) {
  TargetProfile nvidia = Snippet::defaultProfile(), other = nvidia;
  nvidia.exactMinMax = nvidia.nvidiaNan = true;
  other.exactMinMax = other.nvidiaNan = false;
  auto asksForNans = [](const std::string& text, const std::string& type, const TargetProfile& profile) {
    Snippet snippet(text, type, type + " " + type, profile);
    EXPECT_TRUE(snippet.isValid()) << text << snippet.messages();
    return snippet.print().find("isnan") != std::string::npos;
  };
  for (std::string type : {"f16", "f32", "f64"}) {
    EXPECT_FALSE(asksForNans("min." + type + " %d0, %a0, %a1;", type, nvidia));
    EXPECT_TRUE(asksForNans("min." + type + " %d0, %a0, %a1;", type, other));
  }
  for (const char* text :
       {"max.NaN.f32 %d0, %a0, %a1;", "max.xorsign.abs.f32 %d0, %a0, %a1;", "max.ftz.f32 %d0, %a0, %a0;",
        "max.f32 %d0, %a0, 0f7FC00001;", "max.f32 %d0, 0fFF800001, %a0;", "max.NaN.f32 %d0, %a0, 0f3F800000;"})
    EXPECT_TRUE(asksForNans(text, "f32", nvidia)) << text;
  for (const char* text : {"max.f32 %d0, %a0, 0f3F800000;", "min.f32 %d0, 0fFF800000, %a0;"})
    EXPECT_FALSE(asksForNans(text, "f32", other)) << text;
}

TEST(ArithHalf, ChangesSignsAndTests) {
  for (std::string type : {"f16", "bf16", "f32", "f64"}) {
    uint64_t sign = uint64_t(1) << (bitsOf(type) - 1);
    checkFloat("neg." + type + " %d0, %a0;", type, type, [=](const Inputs& x) { return x[0] ^ sign; });
    checkFloat("abs." + type + " %d0, %a0;", type, type, [=](const Inputs& x) { return x[0] & ~sign; });
  }
  checkFloat("neg.ftz.f32 %d0, %a0;", "f32", "f32", [](const Inputs& x) { return flushed(x[0]) ^ 0x80000000; });
  checkFloat("copysign.f32 %d0, %a0, %a1;", "f32", "f32 f32",
             [](const Inputs& x) { return (x[0] & 0x80000000) | (x[1] & 0x7FFFFFFF); });
  for (std::string type : {"f32", "f64"}) {
    unsigned bits = bitsOf(type);
    auto test = [&](const std::string& what, const std::function<bool(uint64_t, double)>& holds) {
      checkFloat("testp." + what + "." + type + " %d0, %a0;", "pred", type,
                 [=](const Inputs& x) { return uint64_t(holds(x[0], toDouble(bits, x[0]))); });
    };
    test("finite", [](uint64_t, double v) { return std::isfinite(v); });
    test("infinite", [](uint64_t, double v) { return std::isinf(v); });
    test("number", [](uint64_t, double v) { return !std::isnan(v); });
    test("notanumber", [](uint64_t, double v) { return std::isnan(v); });
    test("normal", [=](uint64_t v, double d) { return std::isfinite(d) && !isDenormalBits(bits, v); });
    test("subnormal", [=](uint64_t v, double) { return isDenormalBits(bits, v); });
  }
}

TEST(ArithHalf, Compares) {
  auto holds = [](const std::string& op, double a, double b) {
    bool unordered = std::isnan(a) || std::isnan(b);
    if (op == "num") return !unordered;
    if (op == "nan") return unordered;
    if (unordered) return op.size() == 3;
    std::string base = op.substr(0, 2);
    if (base == "eq") return a == b;
    if (base == "ne") return a != b;
    if (base == "lt") return a < b;
    if (base == "le") return a <= b;
    return base == "gt" ? a > b : a >= b;
  };
  for (std::string type : {"f16", "bf16", "f32", "f64"})
    for (std::string op :
         {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"}) {
      auto number = [=](uint64_t v) { return type == "bf16" ? toDouble(32, v << 16) : toDouble(bitsOf(type), v); };
      checkFloat(
          "setp." + op + "." + type + " %d0, %a0, %a1;", "pred", repeated(type, 2),
          [=](const Inputs& x) { return uint64_t(holds(op, number(x[0]), number(x[1]))); }, 300);
      if (type == "f32") {
        checkFloat(
            "setp." + op + ".ftz.f32 %d0, %a0, %a1;", "pred", "f32 f32",
            [=](const Inputs& x) { return uint64_t(holds(op, number(flushed(x[0])), number(flushed(x[1])))); }, 300);
        checkFloat(
            "set." + op + ".u32.f32 %d0, %a0, %a1;", "b32", "f32 f32",
            [=](const Inputs& x) { return holds(op, number(x[0]), number(x[1])) ? 0xFFFFFFFFu : 0; }, 100);
      }
    }
  Snippet pair("setp.lt.f16x2 %d0|%d1, %a0, %a1;", "pred pred", "b32 b32");
  EXPECT_EQ(pair.run({0x3C000000, 0x38003C00}), (Inputs{1, 0}));
  Snippet both("set.gt.f16x2.f16x2 %d0, %a0, %a1;", "b32", "b32 b32");
  EXPECT_EQ(both.run({0x3C000000, 0x38003C00}), (Inputs{0x3C000000}));
  checkFloat("slct.f32.f32 %d0, %a0, %a1, %a2;", "f32", "f32 f32 f32",
             [](const Inputs& x) { return toDouble(32, x[2]) >= 0 ? x[0] : x[1]; });
}

TEST(ArithHalf, SaturatesToTheUnitInterval) {
  for (auto [name, op] : {std::pair{"add.sat", FloatOp::Add}, {"mul.sat", FloatOp::Mul}}) {
    FloatOp which = op;
    checkFloat(name + std::string(".f32 %d0, %a0, %a1;"), "f32", "f32 f32", [=](const Inputs& x) {
      uint64_t v = referenceFloat(which, 32, Rounding::NearestEven, x[0], x[1], 0);
      double d = toDouble(32, v);
      return !(d > 0) ? uint64_t(0) : d > 1 ? uint64_t(0x3F800000) : v;
    });
  }
}

}  // namespace
}  // namespace mulciber::test
