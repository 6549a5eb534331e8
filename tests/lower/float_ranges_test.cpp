// What is known of f32 values is true of them: random expressions, and those that the ranges are for.
#include <bit>
#include <cmath>
#include <optional>
#include <random>

#include "support/float_checks.h"
#include "translator/analyses/float_ranges.h"

namespace mulciber::test {
namespace {

using analyses::FloatRange;

// The value last written to %d0.
const ir::Instruction* resultOf(const ir::Function& function) {
  const ir::Instruction* result = nullptr;
  for (const ir::Block* block : function.blocks)
    for (const ir::Instruction* i : block->instructions)
      if (i->op == ir::Op::WriteVar && function.variables[i->payload].name == "%d0") result = i->operands[0];
  EXPECT_TRUE(result);
  return result;
}
FloatRange rangeOfResult(const Snippet& snippet) {
  const ir::Function& function = *snippet.program().functions[0];
  const ir::Instruction* result = resultOf(function);
  return result ? analyses::FloatRanges(function).rangeOf(result) : FloatRange{};
}

FloatRange rangeOf(const std::string& text, const char* inputs = "f32 f32") {
  Snippet snippet(text, "f32", inputs);
  EXPECT_TRUE(snippet.isValid()) << snippet.messages();
  return snippet.isValid() ? rangeOfResult(snippet) : FloatRange{};
}

void expectRange(const FloatRange& range, float low, float high, bool mayBeNan) {
  EXPECT_EQ(range.low, low);
  EXPECT_EQ(range.high, high);
  EXPECT_EQ(range.mayBeNan, mayBeNan);
}

TEST(FloatRanges, KnowWhatLibrariesOfMathematicsDo) {
  const float infinity = std::numeric_limits<float>::infinity();
  expectRange(rangeOf("mov.f32 %d0, %a0;"), -infinity, infinity, true);
  // expf: NaNs become zeros.
  expectRange(rangeOf("cvt.sat.f32.f32 %d0, %a0;"), 0, 1, false);
  expectRange(rangeOf("{ .reg .f32 s; cvt.sat.f32.f32 s, %a0; mul.f32 %d0, s, 0f437C0000; }"), 0, 252, false);
  // erfcf
  expectRange(rangeOf("{ .reg .f32 s; abs.f32 s, %a0; add.f32 %d0, s, 0f40800000; }"), 4, infinity, true);
  expectRange(rangeOf("{ .reg .f32 s; abs.f32 s, %a0; fma.rn.f32 %d0, 0f40000000, s, 0f3F800000; }"), 1, infinity,
              true);
  // What is left of a sum of squares may be denormal, and is then as good as zero.
  expectRange(rangeOf("{ .reg .f32 s; mul.f32 s, %a0, %a0; fma.rn.f32 %d0, %a1, %a1, s; }"), 0, infinity, true);
  expectRange(rangeOf("mov.f32 %d0, 0f00000001;"), 0, 0x1p-149f, false);
  expectRange(rangeOf("{ .reg .f32 s; cvt.rn.f32.u32 s, %a0; sub.f32 %d0, 0f00000000, s; }", "u32"), -0x1p32f, 0,
              false);
  // A zero times infinity.
  expectRange(rangeOf("{ .reg .f32 s; cvt.sat.f32.f32 s, %a0; mul.f32 %d0, s, 0f7F800000; }"), 0, infinity, true);
}

// One expression of registers f0, f1, ..., each of the ones before.
std::string randomExpression(std::mt19937& random) {
  auto pick = [&](auto&&... names) {
    const std::string list[] = {std::string(names)...};
    return list[random() % std::size(list)];
  };
  std::string text = "{ .reg .pred p; .reg .f32 f<20>; mov.f32 f0, %a0; abs.f32 f1, %a1;\n";
  constexpr int count = 12;
  for (int n = 2; n < count; ++n) {
    auto operand = [&]() -> std::string {
      if (random() % 3 == 0)
        return pick("0f3F800000", "0fC0800000", "0f00800000", "0f80000001", "0f00000000", "0f7F7FFFFF", "0f33000001",
                    "0f7F800000", "0f7FC00000", "0f437C0000");
      return "f" + std::to_string(random() % static_cast<unsigned>(n));
    };
    const std::string ftz = pick("", ".ftz"), rounding = pick(".rn", ".rz", ".rm", ".rp");
    const std::string result = " f" + std::to_string(n) + ", ", x = operand();
    switch (random() % 9) {
      case 0: text += "abs" + ftz + ".f32" + result + x; break;
      case 1: text += "neg" + ftz + ".f32" + result + x; break;
      case 2: text += pick("min", "max") + ftz + ".f32" + result + x + ", " + operand(); break;
      case 3: text += "cvt.sat" + ftz + ".f32.f32" + result + x; break;
      case 4: text += "mul" + rounding + ftz + ".f32" + result + x + ", " + x; break;
      case 5: text += "setp.lt.f32 p, f0, f1; selp.f32" + result + x + ", " + operand() + ", p"; break;
      case 6: text += pick("add", "sub", "mul") + rounding + ftz + ".f32" + result + x + ", " + operand(); break;
      default: text += "fma" + rounding + ftz + ".f32" + result + x + ", " + operand() + ", " + operand(); break;
    }
    text += ";\n";
  }
  return text + "mov.f32 %d0, f" + std::to_string(count - 1) + "; }";
}

TEST(FloatRanges, HoldForRandomExpressions) {
  std::mt19937 random(3);
  int narrow = 0;
  for (int n = 0; n < 400; ++n) {
    const std::string text = randomExpression(random);
    Snippet snippet(text, "f32", "f32 f32");
    ASSERT_TRUE(snippet.isValid()) << snippet.messages();
    const FloatRange range = rangeOfResult(snippet);
    narrow += range.low > -1e30f || range.high < 1e30f;
    FloatModel flushes;  // a device may flush where it is not asked to
    flushes.fmaKeepsDenormals32 = flushes.keepsDenormals32 = false;
    std::mt19937_64 values(static_cast<uint64_t>(n));
    for (int i = 0; i < 60; ++i) {
      const Inputs inputs{randomValue(values, "f32"), randomValue(values, "f32")};
      for (const FloatModel& model : {FloatModel{}, flushes}) {
        const float got = std::bit_cast<float>(static_cast<uint32_t>(snippet.run(inputs, model)[0]));
        const bool isIn = std::isnan(got) ? range.mayBeNan : got >= range.low && got <= range.high;
        ASSERT_TRUE(isIn) << text << "\n" << got << " is not from " << range.low << " to " << range.high;
      }
    }
  }
  EXPECT_GT(narrow, 100);
}

// A multiple of 2^-24 less than a constant of 2^0, or of 2^-48 less if a product is added to it: of few bits and of
// many, which cancel, of denormals, and where the device flushes.
TEST(FloatRanges, SumsAreMultiplesOfLessThanAConstant) {
  const auto multipleOf = [](const std::string& operation) {
    Snippet snippet(operation, "f32", "f32 f32");
    EXPECT_TRUE(snippet.isValid()) << snippet.messages();
    const ir::Function& function = *snippet.program().functions[0];
    const auto multiple = analyses::FloatRanges(function).multipleOfSum(resultOf(function));
    if (!multiple) return multiple;
    FloatModel flushes;
    flushes.fmaKeepsDenormals32 = flushes.keepsDenormals32 = false;
    std::mt19937_64 random(7);
    for (int n = 0; n < 4000; ++n) {
      Inputs inputs;
      for (int i = 0; i < 2; ++i)
        inputs.push_back(random() % 4
                             ? (random() & (random() % 2 ? 0x807F'FFFF : 0x8040'0003)) | (120 + random() % 10) << 23
                             : randomValue(random, "f32"));
      for (const FloatModel& model : {FloatModel{}, flushes}) {
        const float got = std::bit_cast<float>(static_cast<uint32_t>(snippet.run(inputs, model)[0]));
        if (!std::isfinite(got)) continue;
        const double units = std::ldexp(double{got}, -*multiple);
        EXPECT_EQ(units, std::trunc(units)) << operation << " " << got;
      }
    }
    return multiple;
  };
  EXPECT_EQ(multipleOf("add.f32 %d0, %a0, 0f3F800000;"), -24);
  EXPECT_EQ(multipleOf("sub.f32 %d0, 0fC1000001, %a0;"), -21);
  EXPECT_EQ(multipleOf("fma.rn.f32 %d0, %a0, %a1, 0f3F800000;"), -48);
  EXPECT_EQ(multipleOf("fma.rn.f32 %d0, %a0, %a1, 0fBF7FFFFF;"), -49);
  EXPECT_EQ(multipleOf("fma.rn.f32 %d0, %a0, 0f3F800000, %a1;"), std::nullopt);
  EXPECT_EQ(multipleOf("add.f32 %d0, %a0, %a1;"), std::nullopt);
  EXPECT_EQ(multipleOf("mul.f32 %d0, %a0, 0f3F800000;"), std::nullopt);
}

// A denormal number times 2^101 is less than a quarter of the last bit of 1.
TEST(FloatRanges, LargeAddendsAbsorbDenormalFactors) {
  const auto absorbs = [](const std::string& operation, size_t factor) {
    Snippet snippet("{ .reg .f32 s; cvt.sat.f32.f32 s, %a1; " + operation + "}", "f32", "f32 f32");
    EXPECT_TRUE(snippet.isValid()) << snippet.messages();
    const ir::Function& function = *snippet.program().functions[0];
    return analyses::FloatRanges(function).absorbsDenormal(resultOf(function), factor);
  };
  EXPECT_TRUE(absorbs("fma.rn.f32 %d0, %a0, s, 0f3F800000;", 0));
  EXPECT_FALSE(absorbs("fma.rn.f32 %d0, %a0, s, 0f3F800000;", 1));  // the other one may be anything
  EXPECT_FALSE(absorbs("fma.rn.f32 %d0, %a0, s, %a1;", 0));
  EXPECT_TRUE(absorbs("fma.rn.f32 %d0, %a0, 0fF2000000, 0f3F800000;", 0));
  EXPECT_FALSE(absorbs("fma.rn.f32 %d0, %a0, 0f72000001, 0f3F800000;", 0));
  EXPECT_FALSE(absorbs("fma.rn.f32 %d0, %a0, 0f7F800000, 0f3F800000;", 0));
}

}  // namespace
}  // namespace mulciber::test
