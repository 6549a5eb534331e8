#include "translator/passes/low_bits.h"

#include "support/run_pass.h"

namespace mulciber {
namespace {

// Whether anything is hidden of a kernel that makes %9 of %1, a loaded number, and of the constants %2 and %3.
bool hides(const std::string& body) {
  const std::string text =
      "kernel @k structured ssa {\nb0:\n  %0 = input i64 LaunchState\n  %1 = load i32 %0 [global align 4]\n"
      "  %2 = const i32 1\n  %3 = const i32 3\n" +
      body + "  store %0, %9 [global align 4]\n  ret\n}\n";
  return test::runPass(text, passes::hideLowBits).find("GridDimY") != std::string::npos;
}

TEST(LowBits, InProductsAndFloatsAreHidden) {
  EXPECT_TRUE(hides("  %4 = and i32 %1, %2\n  %9 = mul i32 %4, %3\n"));
  EXPECT_TRUE(hides("  %4 = and i32 %1, %2\n  %5 = zext i64 %4\n  %6 = const i64 3\n  %9 = mul i64 %6, %5\n"));
  EXPECT_TRUE(hides("  %4 = const i32 0\n  %5 = bits.u i32 %1, %4, %2\n  %9 = mul i32 %5, %1\n"));
  EXPECT_TRUE(hides("  %4 = and i32 %2, %1\n  %9 = utof f64 %4\n"));
  EXPECT_TRUE(hides("  %4 = const i32 2\n  %5 = rem.u i32 %1, %4\n  %9 = stof f32 %5\n"));
}

TEST(LowBits, OthersStay) {
  EXPECT_FALSE(hides("  %4 = and i32 %1, %3\n  %9 = mul i32 %4, %3\n"));
  EXPECT_FALSE(hides("  %4 = and i32 %1, %2\n  %9 = add i32 %4, %3\n"));
  EXPECT_FALSE(hides("  %4 = shr.u i32 %1, %2\n  %9 = mul i32 %4, %3\n"));
}

}  // namespace
}  // namespace mulciber
