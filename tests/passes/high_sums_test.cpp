#include "translator/passes/high_sums.h"

#include "support/run_pass.h"

namespace mulciber {
namespace {

bool isHidden(const std::string& text) {
  return test::runPass(text, passes::hideHighSums).find("GridDimY") != std::string::npos;
}

// A kernel whose loop makes %9, of the loaded %1 and of %5, which the loop carries.
bool hidesInLoop(const std::string& body, const std::string& beforeLoop = "") {
  return isHidden(
      "kernel @k structured ssa {\nb0:\n  %0 = input i64 LaunchState\n  %1 = load i32 %0 [global align 4]\n"
      "  %2 = const i32 3\n  %3 = eq bool %1, %2\n" +
      beforeLoop + "  br b1\nb1:\n  %5 = phi i32 [%1, b0], [%9, b2]\n" + body +
      "  loop b3 continue b2\n  br %3, b2, b3\nb2:\n  br b1\nb3:\n  ret\n}\n");
}

TEST(HighSums, ThatLoopsRepeatAreHidden) {
  EXPECT_TRUE(hidesInLoop("  %6 = shr.u i32 %1, %2\n  %9 = add i32 %5, %6\n"));
  EXPECT_TRUE(hidesInLoop("  %9 = add i32 %6, %5\n", "  %6 = shr.s i32 %1, %2\n"));
  EXPECT_TRUE(hidesInLoop("  %6 = add i32 %1, %2\n  %7 = mulhi.u i32 %6, %2\n  %9 = add i32 %5, %7\n"));
  EXPECT_TRUE(
      hidesInLoop("  %6 = zext i64 %1\n  %7 = mul i64 %6, %6\n  %8 = zext i64 %5\n  %10 = add i64 %8, %7\n"
                  "  %9 = trunc i32 %10\n"));
}

TEST(HighSums, WhatChangesStays) {
  EXPECT_FALSE(hidesInLoop("  %6 = shr.u i32 %5, %2\n  %9 = add i32 %1, %6\n"));
  EXPECT_FALSE(hidesInLoop("  %6 = shl i32 %1, %2\n  %9 = add i32 %5, %6\n"));
  EXPECT_FALSE(hidesInLoop("  %6 = shr.u i32 %1, %5\n  %9 = add i32 %5, %6\n"));
}

TEST(HighSums, OfOnePartAreHiddenWithoutALoopToo) {
  const auto kernel = [](const std::string& second) {
    return "kernel @k structured ssa {\nb0:\n  %0 = input i64 LaunchState\n  %1 = load i32 %0 [global align 4]\n"
           "  %2 = const i32 3\n  %3 = shr.u i32 %1, %2\n  %4 = add i32 %3, %2\n  %6 = shr.u i32 %1, %2\n  %5 = " +
           second + "\n  store %0, %5 [global align 4]\n  ret\n}\n";
  };
  EXPECT_TRUE(isHidden(kernel("add i32 %4, %3")));
  EXPECT_TRUE(isHidden(kernel("add i32 %6, %4")));
  EXPECT_FALSE(isHidden(kernel("add i32 %4, %1")));
}

}  // namespace
}  // namespace mulciber
