#include "translator/passes/folded_flushes.h"

#include "support/run_pass.h"

namespace mulciber {
namespace {

// Whether anything is hidden of a kernel that makes %9 of the loaded %1 and of the constants %2, a denormal, %3 and %4.
bool hides(const std::string& body) {
  const std::string text =
      "kernel @k structured ssa {\nb0:\n  %0 = input i64 LaunchState\n  %1 = load f32 %0 [global align 4]\n"
      "  %2 = const f32 0x7\n  %3 = const f32 0x3f800000\n  %4 = const f32 0x0\n  %5 = flt bool %1, %3\n" +
      body + "  store %0, %9 [global align 4]\n  ret\n}\n";
  return test::runPass(text, passes::hideFoldedFlushes).find("GridDimY") != std::string::npos;
}

TEST(FoldedFlushes, OfFloatsAreHidden) {
  EXPECT_TRUE(hides("  %6 = select f32 %5, %1, %2\n  %9 = fadd f32 %6, %4\n"));
  EXPECT_TRUE(hides("  %6 = select f32 %5, %2, %1\n  %9 = fma f32 %1, %3, %6\n"));
  EXPECT_TRUE(hides("  %6 = select f32 %5, %2, %1\n  %7 = fneg f32 %6\n  %9 = fmul f32 %3, %7\n"));
}

TEST(FoldedFlushes, OfWordsAreHidden) {
  EXPECT_TRUE(
      hides("  %6 = bitcast i32 %1\n  %7 = const i32 77\n  %8 = select i32 %5, %6, %7\n"
            "  %10 = bitcast f32 %8\n  %9 = fsub f32 %10, %1\n"));
}

TEST(FoldedFlushes, OfBranchesAreHidden) {
  EXPECT_TRUE(
      hides("  merge b2\n  br %5, b1, b2\nb1:\n  br b2\nb2:\n  %6 = phi f32 [%1, b0], [%2, b1]\n"
            "  %9 = fadd f32 %6, %4\n"));
}

TEST(FoldedFlushes, OperationsOnConstantsAreLeftToTheDevice) {
  EXPECT_TRUE(hides("  %6 = select f32 %5, %1, %3\n  %9 = fmul f32 %6, %3\n"));  // of which one may be chosen
  EXPECT_TRUE(hides("  %6 = const f32 0x3a07ffff\n  %7 = const f32 0x800000\n  %9 = fmul f32 %6, %7\n"));
}

TEST(FoldedFlushes, WhatMayBeLeftOutIsAMultiplyAdd) {
  EXPECT_TRUE(hides("  %6 = select f32 %5, %1, %3\n  %9 = fmul f32 %6, %1\n"));
  EXPECT_TRUE(hides("  %6 = const f32 0x80000000\n  %7 = select f32 %5, %6, %3\n  %9 = fadd f32 %1, %7\n"));
  EXPECT_TRUE(hides("  %6 = select f32 %5, %4, %3\n  %9 = fsub f32 %1, %6\n"));
  EXPECT_TRUE(hides("  %6 = select f32 %5, %4, %3\n  %7 = fneg f32 %6\n  %9 = fma f32 %3, %1, %7\n"));
  EXPECT_TRUE(hides("  %6 = input i32 BlockDimY\n  %7 = utof f32 %6\n  %9 = fmul f32 %1, %7\n"));
}

TEST(FoldedFlushes, CountsOfLoopsMayBeOne) {
  EXPECT_TRUE(
      hides("  %10 = const i32 0\n  %11 = const i32 1\n  br b1\nb1:\n  %12 = phi i32 [%10, b0], [%13, b2]\n"
            "  %14 = lt.u bool %12, %11\n  loop b3 continue b2\n  br %14, b2, b3\n"
            "b2:\n  %13 = add i32 %12, %11\n  br b1\nb3:\n  %15 = utof f32 %12\n  %9 = fmul f32 %1, %15\n"));
}

TEST(FoldedFlushes, OtherValuesStay) {
  EXPECT_FALSE(hides("  %6 = select f32 %5, %1, %4\n  %9 = fadd f32 %1, %6\n"));
  EXPECT_FALSE(hides("  %6 = input i32 BlockIdX\n  %7 = utof f32 %6\n  %9 = fmul f32 %1, %7\n"));
  EXPECT_FALSE(hides("  %6 = select f32 %5, %1, %3\n  %9 = fma f32 %1, %6, %1\n"));

  EXPECT_FALSE(hides("  %6 = select f32 %5, %1, %3\n  %9 = fadd f32 %6, %1\n"));
  EXPECT_FALSE(hides("  %6 = select f32 %5, %1, %4\n  %9 = fmul f32 %6, %1\n"));
  EXPECT_FALSE(hides("  %9 = select f32 %5, %1, %2\n"));
}

}  // namespace
}  // namespace mulciber
