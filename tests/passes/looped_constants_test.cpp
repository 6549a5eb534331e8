#include "translator/passes/looped_constants.h"

#include "support/run_pass.h"

namespace mulciber {
namespace {

// Whether anything is hidden of a kernel that stores %5 at %0, in a loop or behind it.
bool hides(const std::string& value, bool inLoop = true) {
  const std::string store = value + "  store %0, %5 [global align 8]\n";
  const std::string text =
      "kernel @k structured ssa {\nb0:\n  %0 = input i64 LaunchState\n  %1 = load i32 %0 [global align 4]\n"
      "  %2 = const i32 7\n  %3 = const i32 9\n  %4 = eq bool %1, %2\n  br b1\nb1:\n" +
      (inLoop ? store : "") + "  loop b3 continue b2\n  br %4, b2, b3\nb2:\n  br b1\nb3:\n" + (inLoop ? "" : store) +
      "  ret\n}\n";
  return test::runPass(text, passes::hideLoopedConstants).find("GridDimY") != std::string::npos;
}

TEST(LoopedConstants, ThoseBesideVariablesAreHidden) {
  EXPECT_TRUE(hides("  %5 = vec <2 x i32> %1, %2\n"));
  EXPECT_TRUE(hides("  %5 = vec <4 x i32> %2, %1, %3, %2\n"));
  EXPECT_TRUE(hides("  %6 = vec <2 x i32> %1, %2\n  %5 = bitcast i64 %6\n"));
}

TEST(LoopedConstants, OthersStay) {
  EXPECT_FALSE(hides("  %5 = vec <2 x i32> %1, %1\n"));
  EXPECT_FALSE(hides("  %5 = vec <2 x i32> %2, %3\n"));
  EXPECT_FALSE(hides("  %6 = trunc i16 %1\n  %7 = const i16 5\n  %5 = vec <2 x i16> %6, %7\n"));
  EXPECT_FALSE(hides("  %5 = vec <2 x i32> %1, %2\n", false));
}

}  // namespace
}  // namespace mulciber
