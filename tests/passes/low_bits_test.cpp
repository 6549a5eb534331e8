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

TEST(LowBits, OfNumbersOf64BitsAreThoseOfTheirLowerWords) {
  const std::string text = R"(kernel @k structured ssa {
b0:
  %0 = input i64 LaunchState
  %1 = load i64 %0 [global align 8]
  %2 = const i64 1
  %3 = and i64 %1, %2
  store %0, %3 [global align 8]
  ret
}
)";
  EXPECT_NE(test::runPass(text, passes::hideLowBits).find(R"(  %8 = load i64 %7 [global align 8]
  %9 = trunc i32 %8
  %10 = const i32 1
  %11 = and i32 %9, %10
  %12 = xor i32 %11, %6
  %13 = const i64 1
  %14 = zext i64 %12
  store %7, %14 [global align 8]
)"),
            std::string::npos)
      << test::runPass(text, passes::hideLowBits);
}

// The carry of %1 and 3, a word, is %8.
const std::string carry =
    "  %4 = zext i64 %1\n  %10 = const i64 3\n  %5 = add i64 %4, %10\n  %6 = const i32 32\n"
    "  %7 = shr.u i64 %5, %6\n  %8 = trunc i32 %7\n";

TEST(LowBits, CarriesAreHiddenWhereTheyAreNotAdded) {
  EXPECT_TRUE(hides(carry + "  %9 = rem.u i32 %8, %3\n"));
  EXPECT_TRUE(hides(carry + "  %9 = and i32 %8, %3\n"));
  EXPECT_TRUE(hides(carry + "  %11 = const i64 0\n  %12 = ne bool %7, %11\n  %9 = select i32 %12, %1, %3\n"));
  EXPECT_FALSE(hides(carry + "  %9 = add i32 %8, %3\n"));
  EXPECT_FALSE(hides(carry + "  %9 = add i64 %7, %10\n"));
  EXPECT_FALSE(hides("  %4 = zext i64 %1\n  %5 = const i32 16\n  %6 = shr.u i64 %4, %5\n  %9 = mul i64 %6, %4\n"));
}

// The number whose lowest bit is taken is a carry itself.
TEST(LowBits, OfCarriesOf64Bits) {
  const std::string text =
      "kernel @k structured ssa {\nb0:\n  %0 = input i64 LaunchState\n  %1 = load i64 %0 [global align 8]\n"
      "  %2 = const i32 63\n  %3 = const i64 1\n  %4 = shr.u i64 %1, %2\n  %5 = and i64 %4, %3\n"
      "  store %0, %5 [global align 8]\n  ret\n}\n";
  EXPECT_NE(test::runPass(text, passes::hideLowBits).find("GridDimY"), std::string::npos);
}

TEST(LowBits, OthersStay) {
  EXPECT_FALSE(hides("  %4 = and i32 %1, %3\n  %9 = mul i32 %4, %3\n"));
  EXPECT_FALSE(hides("  %4 = and i32 %1, %2\n  %9 = add i32 %4, %3\n"));
  EXPECT_FALSE(hides("  %4 = shr.u i32 %1, %2\n  %9 = mul i32 %4, %3\n"));
}

}  // namespace
}  // namespace mulciber
