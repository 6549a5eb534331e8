#include "translator/passes/decided_branches.h"

#include "support/run_pass.h"

namespace mulciber {
namespace {

TEST(DecidedBranches, ChecksOnceWhatEndsTheThread) {
  EXPECT_EQ(test::runPass(R"(kernel @k structured ssa {
b0:
  %0 = input i32 ThreadIdX
  %1 = const i32 7
  %2 = eq bool %0, %1
  merge b2
  br %2, b1, b2
b1:
  ret
b2:
  fence [block]
  merge b4
  br %2, b3, b4
b3:
  fence [device]
  ret
b4:
  store %0, %0 [shared]
  ret
})",
                          passes::foldDecidedBranches),
            R"(kernel @k structured ssa {
b0:
  %0 = input i32 ThreadIdX
  %1 = const i32 7
  %2 = eq bool %0, %1
  merge b2
  br %2, b1, b2
b1:
  ret
b2:
  fence [block]
  %3 = const bool false
  br b3
b3:
  store %0, %0 [shared]
  ret
}
)");
}

TEST(DecidedBranches, KnowsTheConditionInsideASelection) {
  EXPECT_EQ(test::runPass(R"(kernel @k structured ssa {
b0:
  %0 = input i32 ThreadIdX
  %1 = const i32 7
  %2 = eq bool %0, %1
  merge b5
  br %2, b1, b5
b1:
  merge b4
  br %2, b2, b3
b2:
  fence [block]
  br b4
b3:
  fence [device]
  br b4
b4:
  br b5
b5:
  ret
})",
                          passes::foldDecidedBranches),
            R"(kernel @k structured ssa {
b0:
  %0 = input i32 ThreadIdX
  %1 = const i32 7
  %2 = eq bool %0, %1
  merge b4
  br %2, b1, b4
b1:
  %3 = const bool true
  br b2
b2:
  fence [block]
  br b3
b3:
  br b4
b4:
  ret
}
)");
}

// Where both sides meet again, and in a loop's next turn, the condition may be either.
TEST(DecidedBranches, ForgetsTheConditionWhereSidesMeet) {
  const std::string text = R"(kernel @k structured ssa {
b0:
  %0 = input i32 ThreadIdX
  %1 = const i32 7
  %2 = eq bool %0, %1
  merge b2
  br %2, b1, b2
b1:
  fence [device]
  br b2
b2:
  merge b4
  br %2, b3, b4
b3:
  fence [block]
  br b4
b4:
  ret
}
)";
  EXPECT_EQ(test::runPass(text, passes::foldDecidedBranches), text);
}

}  // namespace
}  // namespace mulciber
