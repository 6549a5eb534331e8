#include "translator/passes/carried_halves.h"

#include "support/run_pass.h"

namespace mulciber {
namespace {

// Whether a word is hidden that comes to b3 from two places and to b4 from b3 and a loop's last round; `body` is of b4.
bool hides(const std::string& body) {
  const std::string text = R"(kernel @k structured ssa {
b0:
  %0 = input i64 LaunchState
  %1 = input i32 ThreadIdX
  %2 = const i32 16
  %3 = lt.u bool %1, %2
  merge b3
  br %3, b1, b2
b1:
  br b3
b2:
  br b3
b3:
  %4 = phi i32 [%1, b1], [%2, b2]
  br b4
b4:
  %5 = phi i32 [%4, b3], [%6, b5]
  %6 = add i32 %5, %2
  %7 = lt.u bool %6, %1
  loop b6 continue b5
  br %7, b5, b6
b5:
  br b4
b6:
)" + body + R"(  store %0, %9 [global align 4]
  ret
}
)";
  return test::runPass(text, passes::hideCarriedHalves).find("GridDimY") != std::string::npos;
}

TEST(CarriedHalves, AreTakenOfAHiddenWord) {
  EXPECT_TRUE(hides("  %9 = bitcast <2 x i16> %4\n"));
  EXPECT_TRUE(hides("  %9 = bitcast <2 x f16> %4\n"));
  EXPECT_TRUE(hides("  %9 = shr.u i32 %4, %2\n"));
  EXPECT_TRUE(hides("  %9 = bits.u i32 %4, %2, %2\n"));
  EXPECT_TRUE(hides("  %9 = shl i32 %4, %2\n"));
  EXPECT_TRUE(hides("  %8 = const i32 0xffff\n  %9 = and i32 %4, %8\n"));
  EXPECT_TRUE(hides("  %8 = const i32 0xffff0000\n  %9 = and i32 %8, %4\n"));
}

TEST(CarriedHalves, OfOtherWordsStay) {
  EXPECT_FALSE(hides("  %9 = bitcast <2 x i16> %5\n"));  // a loop carries it
  EXPECT_FALSE(hides("  %9 = bitcast <2 x i16> %6\n"));
  EXPECT_FALSE(hides("  %9 = bitcast f32 %4\n"));
  EXPECT_FALSE(hides("  %8 = const i32 8\n  %9 = shr.u i32 %4, %8\n"));
  EXPECT_FALSE(hides("  %8 = const i32 0xff\n  %9 = and i32 %4, %8\n"));
}

}  // namespace
}  // namespace mulciber
