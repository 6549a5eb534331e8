#include "translator/passes/zero_signs.h"

#include "support/run_pass.h"

namespace mulciber {
namespace {

// Whether a number is hidden, or a -0. %1 and %2 are loaded, %3 is a condition, %4 to %6 are 0, -0 and 1.
bool hides(const std::string& operations) {
  const std::string text = R"(kernel @k structured ssa {
b0:
  %0 = const i64 64
  %90 = const i64 128
  %1 = load f32 %0 [global]
  %2 = load f32 %90 [global]
  %3 = flt bool %1, %2
  %4 = const f32 0
  %5 = const f32 0x80000000
  %6 = const f32 1
)" + operations + "  store %0, %10 [global]\n  ret\n}\n";
  return test::runPass(text, passes::keepZeroSigns).find("xor") != std::string::npos;
}

TEST(ZeroSigns, AbsoluteValuesOfWhatIsNotBelowZero) {
  EXPECT_TRUE(hides("  %7 = select f32 %3, %4, %6\n  %10 = fabs f32 %7\n"));
  EXPECT_TRUE(hides("  %7 = fsqrt f32 %1\n  %10 = fabs f32 %7\n"));
  EXPECT_TRUE(hides("  %7 = frsqrt f32 %1 {approx}\n  %10 = fabs f32 %7\n"));
  EXPECT_TRUE(hides("  %7 = fmax f32 %1, %5\n  %10 = fabs f32 %7\n"));
  EXPECT_TRUE(hides("  %7 = fsqrt f32 %1\n  %8 = fmul f32 %2, %2\n  %9 = fmul f32 %7, %8\n  %10 = fabs f32 %9\n"));
  EXPECT_TRUE(hides("  %7 = fsqrt f32 %1\n  %8 = fneg f32 %7\n  %10 = fabs f32 %8\n"));
}

TEST(ZeroSigns, NegativeZerosThatAreChosen) {
  EXPECT_TRUE(hides("  %10 = select f32 %3, %5, %1\n"));
  EXPECT_FALSE(hides("  %10 = select f32 %3, %4, %1\n"));
}

TEST(ZeroSigns, NegativeZerosThatAreStored) {
  EXPECT_TRUE(hides("  store %90, %5 [global]\n  %10 = load f32 %90 [global]\n"));
  EXPECT_TRUE(hides("  %7 = const i32 0x80000000\n  store %90, %7 [global]\n  %10 = load f32 %90 [global]\n"));
  EXPECT_FALSE(hides("  store %90, %4 [global]\n  %10 = load f32 %90 [global]\n"));
}

TEST(ZeroSigns, NegativeZerosInVectorsAndWords) {
  EXPECT_TRUE(hides("  %7 = vec <2 x f32> %5, %1\n  store %90, %7 [global]\n  %10 = load f32 %90 [global]\n"));
  EXPECT_TRUE(hides("  %7 = const i64 0x3f80000080000000\n  store %90, %7 [global]\n  %10 = load f32 %90 [global]\n"));
}

// The same bits are another constant as an integer: what is verified here.
TEST(ZeroSigns, OfBothTypes) {
  EXPECT_TRUE(hides("  %7 = const i32 0x80000000\n  store %90, %7 [global]\n  %10 = select f32 %3, %5, %1\n"));
}

TEST(ZeroSigns, OthersStay) {
  EXPECT_FALSE(hides("  %10 = fabs f32 %1\n"));
  EXPECT_FALSE(hides("  %7 = fmin f32 %1, %6\n  %10 = fabs f32 %7\n"));
  EXPECT_FALSE(hides("  %7 = fmul f32 %1, %6\n  %10 = fabs f32 %7\n"));
  EXPECT_FALSE(hides("  %7 = fsqrt f32 %1\n  %8 = fsub f32 %2, %7\n  %10 = fabs f32 %8\n"));
  EXPECT_FALSE(hides("  %10 = fneg f32 %1\n"));
}

}  // namespace
}  // namespace mulciber
