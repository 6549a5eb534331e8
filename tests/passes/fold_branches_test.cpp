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

// With b1 gone the phi is a constant, and so is what is left of the second selection.
TEST(FoldBranches, GoesOnWithWhatOneHasDecided) {
  EXPECT_EQ(test::runPass(R"(kernel @k structured ssa {
b0:
  %0 = const bool false
  %1 = const bool true
  merge b3
  br %0, b1, b2
b1:
  br b3
b2:
  br b3
b3:
  %2 = phi bool [%0, b1], [%1, b2]
  merge b6
  br %2, b4, b5
b4:
  br b6
b5:
  fence [block]
  br b6
b6:
  ret
})",
                          passes::foldBranches),
            R"(kernel @k structured ssa {
b0:
  %0 = const bool false
  %1 = const bool true
  br b1
b1:
  br b2
b2:
  br b3
b3:
  br b4
b4:
  ret
}
)");
}

}  // namespace
}  // namespace mulciber
