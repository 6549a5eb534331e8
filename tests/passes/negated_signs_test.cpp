#include "translator/passes/negated_signs.h"

#include "support/run_pass.h"
#include "translator/passes/cse.h"

namespace mulciber {
namespace {

std::string hidden(const std::string& text) {
  return test::runPass(text, [](ir::Function& function) {
    passes::hideNegated(function);
    passes::removeCommonSubexpressions(function);
  });
}

std::string kernel(const std::string& body) {
  return "kernel @k structured ssa {\nb0:\n  %0 = input i64 LaunchState\n  %1 = load i64 %0 [global align 8]\n" + body +
         "  store %0, %9 [global align 4]\n  ret\n}\n";
}
bool hides(const std::string& body) { return hidden(kernel(body)).find("GridDimY") != std::string::npos; }

TEST(NegatedSigns, TheNegatedNumberIsHidden) {
  EXPECT_EQ(hidden(kernel(R"(  %2 = neg i64 %1
  %3 = trunc i8 %2
  %9 = sext i32 %3
)")),
            R"(kernel @k structured ssa {
b0:
  %0 = input i32 GridDimY
  %1 = input i32 GridDimZ
  %2 = const i32 0xffff0000
  %3 = and i32 %0, %2
  %4 = const i32 16
  %5 = shr.u i32 %1, %4
  %6 = or i32 %3, %5
  %7 = zext i64 %6
  %8 = const i32 32
  %9 = shl i64 %7, %8
  %10 = or i64 %9, %7
  %11 = input i64 LaunchState
  %12 = load i64 %11 [global align 8]
  %13 = neg i64 %12
  %14 = xor i64 %13, %10
  %15 = trunc i8 %14
  %16 = sext i32 %15
  store %11, %16 [global align 4]
  ret
}
)");
}

TEST(NegatedSigns, AlsoByShiftsAndFields) {
  const std::string negation = "  %2 = trunc i16 %1\n  %3 = neg i16 %2\n  %4 = const i32 8\n";
  EXPECT_TRUE(hides(negation + "  %5 = shl i16 %3, %4\n  %6 = shr.s i16 %5, %4\n  %9 = sext i32 %6\n"));
  EXPECT_TRUE(hides(negation + "  %5 = zext i32 %3\n  %6 = const i32 0\n  %9 = bits.s i32 %5, %6, %4\n"));
}

TEST(NegatedSigns, WhatMayBeANegationToo) {
  const std::string narrow = "  %7 = trunc i8 %6\n  %9 = sext i32 %7\n";
  EXPECT_TRUE(hides("  %2 = const i64 0\n  %6 = sub i64 %2, %1\n" + narrow));
  EXPECT_TRUE(hides("  %2 = input i32 BlockDimX\n  %3 = trunc i32 %1\n  %6 = sub i32 %2, %3\n" + narrow));
  EXPECT_TRUE(hides("  %2 = const i64 0xffffffffffffffff\n  %6 = mul i64 %1, %2\n" + narrow));
  EXPECT_TRUE(hides("  %2 = not i64 %1\n  %3 = const i64 1\n  %6 = add i64 %2, %3\n" + narrow));
  EXPECT_TRUE(hides("  %2 = not i64 %1\n  %3 = const i64 0xffffffffffffffff\n  %6 = sub i64 %2, %3\n" + narrow));
  // Only the lowest eight bits matter.
  EXPECT_TRUE(hides("  %2 = const i64 0xf800\n  %6 = sub i64 %2, %1\n" + narrow));
}

TEST(NegatedSigns, AlsoNumbersOfSixteenBits) {
  EXPECT_TRUE(hides("  %2 = trunc i16 %1\n  %3 = neg i16 %2\n  %9 = sext i32 %3\n"));
  EXPECT_TRUE(hides("  %2 = trunc i16 %1\n  %3 = neg i16 %2\n  %9 = sext i64 %3\n"));
  EXPECT_FALSE(hides("  %2 = trunc i16 %1\n  %9 = sext i32 %2\n"));
}

TEST(NegatedSigns, OtherNumbersStay) {
  const std::string narrow = "  %7 = trunc i8 %6\n  %9 = sext i32 %7\n";
  EXPECT_FALSE(hides("  %2 = const i64 5\n  %6 = sub i64 %2, %1\n" + narrow));
  EXPECT_FALSE(hides("  %2 = const i64 5\n  %6 = mul i64 %2, %1\n" + narrow));
  EXPECT_FALSE(hides("  %6 = sub i64 %1, %1\n" + narrow));
  // All of the number.
  EXPECT_FALSE(hides("  %2 = trunc i32 %1\n  %3 = neg i32 %2\n  %9 = sext i64 %3\n"));
}

TEST(NegatedSigns, WhatIsTakenFromANumberWhoseLowBitsAreZeroIsNegated) {
  const auto shifted = [](const char* by) {
    return std::string("  %2 = const i32 ") + by +
           "\n  %3 = shl i64 %1, %2\n  %4 = load i64 %0 [global align 8]\n  %5 = sub i64 %3, %4\n"
           "  %6 = trunc i8 %5\n  %9 = sext i32 %6\n";
  };
  EXPECT_TRUE(hides(shifted("16")));
  EXPECT_TRUE(hides(shifted("8")));
  EXPECT_FALSE(hides(shifted("7")));
}

}  // namespace
}  // namespace mulciber
