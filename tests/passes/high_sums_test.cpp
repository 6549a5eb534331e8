#include "translator/passes/high_sums.h"

#include "support/run_pass.h"

namespace mulciber {
namespace {

bool isHidden(const std::string& text, bool hasOneThread = false) {
  const auto hide = [=](ir::Function& function) { return passes::hideHighSums(function, hasOneThread); };
  return test::runPass(text, hide).find("GridDimY") != std::string::npos;
}

// A kernel whose loop makes %9 in each turn or in some, of the loaded %1 and of %5, which the loop carries.
bool hidesInLoop(const std::string& body, bool always = false, const std::string& beforeLoop = "") {
  const std::string before =
      "kernel @k structured ssa {\nb0:\n  %0 = input i64 LaunchState\n  %1 = load i32 %0 [global align 4]\n"
      "  %2 = const i32 3\n  %3 = eq bool %1, %2\n" +
      beforeLoop + "  br b1\nb1:\n";
  const std::string behind = "b6:\n  ret\n}\n";
  if (always)
    return isHidden(before + "  %5 = phi i32 [%1, b0], [%9, b5]\n" + body +
                    "  loop b6 continue b5\n  br %3, b5, b6\nb5:\n  br b1\n" + behind);
  return isHidden(before + "  %5 = phi i32 [%1, b0], [%11, b5]\n  loop b6 continue b5\n  br b2\nb2:\n  merge b4\n" +
                  "  br %3, b3, b4\nb3:\n" + body + "  br b4\nb4:\n  %11 = phi i32 [%5, b2], [%9, b3]\n" +
                  "  merge b7\n  br %3, b8, b7\nb8:\n  br b6\nb7:\n  br b5\nb5:\n  br b1\n" + behind);
}

TEST(HighSums, ThatALoopRepeatsAreHidden) {
  EXPECT_TRUE(hidesInLoop("  %6 = shr.u i32 %1, %2\n  %9 = add i32 %5, %6\n"));
  EXPECT_TRUE(hidesInLoop("  %6 = shr.u i32 %1, %2\n  %9 = add i32 %5, %6\n", true));
  EXPECT_TRUE(hidesInLoop("  %9 = add i32 %6, %5\n", false, "  %6 = shr.s i32 %1, %2\n"));
  EXPECT_TRUE(hidesInLoop("  %6 = add i32 %1, %2\n  %7 = mulhi.u i32 %6, %2\n  %9 = add i32 %5, %7\n"));
}

constexpr char product[] =
    "  %6 = zext i64 %1\n  %7 = mul i64 %6, %6\n  %8 = zext i64 %5\n  %10 = add i64 %8, %7\n  %9 = trunc i32 %10\n";

TEST(HighSums, OfWholeProductsThatALoopRepeatsAreHidden) {
  EXPECT_TRUE(hidesInLoop(product));
  EXPECT_TRUE(hidesInLoop(product, true));
  EXPECT_TRUE(
      hidesInLoop("  %4 = trunc i8 %1\n  %6 = zext i64 %4\n  %7 = mul i64 %6, %6\n  %8 = zext i64 %5\n"
                  "  %10 = add i64 %8, %7\n  %9 = trunc i32 %10\n"));
}

TEST(HighSums, WhatChangesStays) {
  EXPECT_FALSE(hidesInLoop("  %6 = shr.u i32 %5, %2\n  %9 = add i32 %1, %6\n"));
  EXPECT_FALSE(hidesInLoop("  %6 = shl i32 %1, %2\n  %9 = add i32 %5, %6\n"));
  EXPECT_FALSE(hidesInLoop("  %6 = shr.u i32 %1, %5\n  %9 = add i32 %5, %6\n"));
}

// In two blocks, each of which computes the part.
TEST(HighSums, OfOnePartAreHiddenWithoutALoopToo) {
  const auto kernel = [](const std::string& second) {
    return "kernel @k structured ssa {\nb0:\n  %0 = input i64 LaunchState\n  %1 = load i32 %0 [global align 4]\n"
           "  %2 = const i32 3\n  %3 = eq bool %1, %2\n  merge b2\n  br %3, b1, b2\nb1:\n"
           "  %4 = mulhi.u i32 %1, %2\n  %5 = add i32 %4, %2\n  store %0, %5 [global align 4]\n  br b2\nb2:\n  %6 = " +
           second + "\n  %7 = add i32 %6, %1\n  store %0, %7 [global align 4]\n  ret\n}\n";
  };
  EXPECT_TRUE(isHidden(kernel("mulhi.u i32 %1, %2")));
  EXPECT_FALSE(isHidden(kernel("mulhi.u i32 %1, %2"), /*hasOneThread=*/true));  // it has no lanes apart
  EXPECT_FALSE(isHidden(kernel("mulhi.s i32 %1, %2")));
}

}  // namespace
}  // namespace mulciber
