#include "translator/passes/fold_branches.h"

#include "support/run_pass.h"

namespace mulciber {
namespace {

TEST(FoldBranches, TakesTheSideThatIsKnown) {
  EXPECT_EQ(test::runPass(R"(kernel @k structured ssa {
b0:
  %0 = const bool false
  %1 = const i32 1
  %2 = const i32 2
  merge b3
  br %0, b1, b2
b1:
  fence [device]
  br b3
b2:
  fence [block]
  br b3
b3:
  %3 = phi i32 [%1, b1], [%2, b2]
  store %3, %3 [shared]
  ret
})",
                          passes::foldBranches),
            R"(kernel @k structured ssa {
b0:
  %0 = const bool false
  %1 = const i32 1
  %2 = const i32 2
  br b1
b1:
  fence [block]
  br b2
b2:
  store %2, %2 [shared]
  ret
}
)");
}

TEST(FoldBranches, KeepsWhatALoopHeaderNames) {
  // A loop that is never left, and one whose turn never ends.
  for (const char* condition : {"false", "true"}) {
    std::string text = test::runPass(std::string("kernel @k structured ssa { b0: %0 = const bool ") + condition + R"(
  %1 = const i32 0
  br b1
b1:
  %2 = phi i32 [%1, b0], [%3, b4]
  loop b5 continue b4
  br b2
b2:
  %3 = add i32 %2, %2
  store %3, %3 [shared]
  merge b6
  br %0, b3, b6
b3:
  br b5
b6:
  br b4
b4:
  br b1
b5:
  fence [block]
  ret
})",
                                     passes::foldBranches);
    EXPECT_NE(text.find("loop b"), std::string::npos) << text;
    EXPECT_EQ(text.find("merge"), std::string::npos) << text;
  }
}

// The first round always leaves, so that b3 and the way back go, and with them the phis.
TEST(FoldBranches, TakesAwayRoundsThatAreNeverBegun) {
  EXPECT_EQ(test::runPass(R"(kernel @k structured ssa {
b0:
  %0 = const bool true
  %1 = const bool false
  %2 = input i32 GridDimX
  br b1
b1:
  %3 = phi bool [%0, b0], [%1, b6]
  %4 = phi i32 [%2, b0], [%6, b6]
  loop b7 continue b6
  br b2
b2:
  merge b5
  br %3, b4, b3
b3:
  %6 = add i32 %4, %2
  store %6, %4 [shared]
  br b6
b4:
  br b5
b5:
  store %4, %4 [shared]
  br b7
b6:
  br b1
b7:
  ret
})",
                          passes::foldBranches),
            R"(kernel @k structured ssa {
b0:
  %0 = const bool true
  %1 = const bool false
  %2 = input i32 GridDimX
  br b1
b1:
  loop b6 continue b5
  br b2
b2:
  br b3
b3:
  br b4
b4:
  store %2, %2 [shared]
  br b6
b5:
  br b1
b6:
  ret
}
)");
}

// Here the first round may come to its end.
TEST(FoldBranches, KeepsRoundsThatMayBeBegun) {
  const std::string text = test::runPass(R"(kernel @k structured ssa {
b0:
  %0 = const bool true
  %1 = const bool false
  %2 = input i32 GridDimX
  %3 = eq bool %2, %2
  br b1
b1:
  %4 = phi bool [%0, b0], [%1, b6]
  loop b7 continue b6
  br b2
b2:
  merge b5
  br %4, b4, b3
b3:
  fence [device]
  br b7
b4:
  br b5
b5:
  merge b9
  br %3, b8, b9
b8:
  br b7
b9:
  br b6
b6:
  br b1
b7:
  ret
})",
                                         passes::foldBranches);
  EXPECT_NE(text.find("fence"), std::string::npos) << text;
  EXPECT_NE(text.find("phi bool"), std::string::npos) << text;
}

}  // namespace
}  // namespace mulciber
