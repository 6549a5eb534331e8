#include "translator/passes/wide_shifts.h"

#include "support/run_pass.h"

namespace mulciber {
namespace {

// Whether anything is hidden of a kernel that makes %9 of %2, which is %1 in 64 bits.
bool hides(const std::string& body, const std::string& extension = "sext i64 %1") {
  const std::string text =
      "kernel @k structured ssa {\nb0:\n  %0 = input i64 LaunchState\n  %1 = load i32 %0 [global align 4]\n  %2 = " +
      extension + "\n" + body + "  store %0, %9 [global align 8]\n  ret\n}\n";
  return test::runPass(text, passes::hideWideShifts).find("GridDimY") != std::string::npos;
}

TEST(WideShifts, NumbersThatAreMultipliedBy2To31AreHidden) {
  EXPECT_TRUE(hides("  %3 = const i32 31\n  %9 = shl i64 %2, %3\n"));
  EXPECT_TRUE(hides("  %3 = const i64 0x80000000\n  %9 = mul i64 %2, %3\n"));
  EXPECT_TRUE(hides("  %3 = const i32 15\n  %4 = shl i64 %2, %3\n  %5 = const i64 0x10000\n  %9 = mul i64 %5, %4\n"));
  EXPECT_TRUE(hides("  %3 = const i32 30\n  %4 = shl i64 %2, %3\n  %9 = add i64 %4, %4\n"));
  EXPECT_TRUE(hides("  %3 = const i32 30\n  %4 = add i64 %2, %2\n  %9 = shl i64 %4, %3\n"));
  EXPECT_TRUE(
      hides("  %3 = const i32 30\n  %4 = shl i64 %2, %3\n  %5 = const i64 5\n  %6 = add i64 %4, %5\n"
            "  %7 = neg i64 %6\n  %8 = const i32 1\n  %9 = shl i64 %7, %8\n"));
  EXPECT_TRUE(
      hides("  %3 = const i32 31\n  %9 = shl i64 %2, %3\n",
            "const i32 32\n  %7 = const i64 7\n  %8 = zext i64 %1\n  %6 = shl i64 %8, %2\n  %5 = shr.s i64 %6, %2\n"
            "  %4 = const i32 31\n  %10 = shl i64 %5, %4"));
}

TEST(WideShifts, OthersStay) {
  EXPECT_FALSE(hides("  %3 = const i32 30\n  %9 = shl i64 %2, %3\n"));
  EXPECT_FALSE(hides("  %3 = const i32 32\n  %9 = shl i64 %2, %3\n"));
  EXPECT_FALSE(hides("  %3 = const i32 30\n  %4 = shl i64 %2, %3\n  %5 = const i32 2\n  %9 = shl i64 %4, %5\n"));
  EXPECT_FALSE(hides("  %3 = const i32 31\n  %9 = shl i64 %2, %3\n", "zext i64 %1"));
}

}  // namespace
}  // namespace mulciber
