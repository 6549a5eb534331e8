#include "translator/passes/copies_under_way.h"

#include "support/run_pass.h"
#include "translator/passes/carried_constants.h"
#include "translator/passes/carried_sums.h"
#include "translator/passes/decided_branches.h"

namespace mulciber {
namespace {

std::string unchanged(const char* text) {
  return test::runPass(text, [](ir::Function&) {});
}

// The count goes from 1 to 2 and back, so the first branch is never taken.
TEST(CarriedConstants, AreWhatEachRoundSetsBack) {
  EXPECT_EQ(test::runPass(R"(kernel @k structured ssa {
b0:
  %0 = input i32 ThreadIdX
  %1 = const i32 1
  %2 = const i32 3
  br b1
b1:
  %3 = phi i32 [%1, b0], [%7, b7]
  loop b8 continue b7
  br b2
b2:
  %4 = add i32 %3, %1
  %5 = eq bool %4, %2
  merge b4
  br %5, b3, b4
b3:
  fence [device]
  br b4
b4:
  %6 = phi i32 [%4, b2], [%0, b3]
  store %0, %6 [shared]
  %7 = sub i32 %6, %1
  %8 = load i32 %0 [shared]
  %9 = eq bool %8, %2
  merge b6
  br %9, b6, b5
b5:
  br b8
b6:
  br b7
b7:
  br b1
b8:
  ret
})",
                          passes::foldCarriedConstants),
            R"(kernel @k structured ssa {
b0:
  %0 = input i32 ThreadIdX
  %1 = const i32 1
  %2 = const i32 3
  br b1
b1:
  %3 = const i32 1
  loop b7 continue b6
  br b2
b2:
  %4 = const i32 2
  %5 = const bool false
  br b3
b3:
  %6 = const i32 2
  store %0, %6 [shared]
  %7 = const i32 1
  %8 = load i32 %0 [shared]
  %9 = eq bool %8, %2
  merge b5
  br %9, b5, b4
b4:
  br b7
b5:
  br b6
b6:
  br b1
b7:
  ret
}
)");
}

TEST(CarriedConstants, DifferWhereAPathDisagrees) {
  const char* text = R"(kernel @k structured ssa {
b0:
  %0 = input i32 ThreadIdX
  %1 = const i32 1
  br b1
b1:
  %2 = phi i32 [%1, b0], [%3, b5]
  loop b6 continue b5
  br b2
b2:
  store %0, %2 [shared]
  %3 = add i32 %2, %1
  %4 = load i32 %0 [shared]
  %5 = eq bool %4, %1
  merge b4
  br %5, b4, b3
b3:
  br b6
b4:
  br b5
b5:
  br b1
b6:
  ret
})";
  EXPECT_EQ(test::runPass(text, passes::foldCarriedConstants), unchanged(text));
}

// Threads may take either side of a branch on what nothing defines.
TEST(CarriedConstants, DifferBehindAnUndefinedCondition) {
  const char* text = R"(kernel @k structured ssa {
b0:
  %0 = input i32 ThreadIdX
  %1 = undef bool
  %2 = const i32 1
  %3 = const i32 2
  %4 = eq bool %0, %2
  merge b3
  br %4, b1, b2
b1:
  br b3
b2:
  br b3
b3:
  %5 = phi bool [%1, b1], [%1, b2]
  merge b6
  br %5, b4, b5
b4:
  br b6
b5:
  br b6
b6:
  %6 = phi i32 [%2, b4], [%3, b5]
  store %0, %6 [shared]
  ret
})";
  EXPECT_EQ(test::runPass(text, passes::foldCarriedConstants), unchanged(text));
}

TEST(CarriedSums, AreOneValueAndNumbersOfTheirOwn) {
  EXPECT_EQ(test::runPass(R"(kernel @k structured ssa {
b0:
  %0 = input i32 ThreadIdX
  %1 = input i32 ThreadIdY
  %2 = const i32 64
  %3 = add i32 %0, %2
  br b1
b1:
  %4 = phi i32 [%0, b0], [%8, b5]
  %5 = phi i32 [%3, b0], [%9, b5]
  %6 = phi i32 [%1, b0], [%10, b5]
  loop b6 continue b5
  br b2
b2:
  store %4, %5 [shared]
  %7 = load i32 %6 [shared]
  %8 = add i32 %7, %0
  %9 = add i32 %8, %2
  %10 = add i32 %1, %7
  %11 = eq bool %7, %2
  merge b4
  br %11, b4, b3
b3:
  br b6
b4:
  br b5
b5:
  br b1
b6:
  ret
})",
                          passes::shareCarriedSums),
            R"(kernel @k structured ssa {
b0:
  %0 = input i32 ThreadIdX
  %1 = input i32 ThreadIdY
  %2 = const i32 64
  %3 = add i32 %0, %2
  %4 = const i32 0
  br b1
b1:
  %5 = phi i32 [%4, b0], [%10, b5]
  %6 = add i32 %0, %5
  %7 = add i32 %0, %5
  %8 = add i32 %7, %2
  %9 = add i32 %1, %5
  loop b6 continue b5
  br b2
b2:
  store %6, %8 [shared]
  %10 = load i32 %9 [shared]
  %11 = add i32 %10, %0
  %12 = add i32 %11, %2
  %13 = add i32 %1, %10
  %14 = eq bool %10, %2
  merge b4
  br %14, b4, b3
b3:
  br b6
b4:
  br b5
b5:
  br b1
b6:
  ret
}
)");
}

// Pointers that each round moves would need all their numbers besides.
TEST(CarriedSums, LeavePointersThatEachRoundMoves) {
  const char* text = R"(kernel @k structured ssa {
b0:
  %0 = input i32 ThreadIdX
  %1 = input i32 ThreadIdY
  %2 = const i32 64
  br b1
b1:
  %3 = phi i32 [%0, b0], [%5, b5]
  %4 = phi i32 [%1, b0], [%6, b5]
  loop b6 continue b5
  br b2
b2:
  store %3, %4 [shared]
  %5 = add i32 %3, %2
  %6 = add i32 %4, %2
  %7 = eq bool %5, %2
  merge b4
  br %7, b4, b3
b3:
  br b6
b4:
  br b5
b5:
  br b1
b6:
  ret
})";
  EXPECT_EQ(test::runPass(text, passes::shareCarriedSums), unchanged(text));
}

// The loop continues only where %4 holds: what the other side gives the phi is of no use.
TEST(DecidedBranches, ForgetWhatOnlyTheLastRoundComputes) {
  const char* text = R"(kernel @k structured ssa {
b0:
  %0 = input i32 ThreadIdX
  %1 = const i32 1
  br b1
b1:
  %2 = phi i32 [%1, b0], [%5, b8]
  loop b9 continue b8
  br b2
b2:
  %3 = load i32 %0 [shared]
  %4 = eq bool %3, %1
  merge b5
  br %4, b3, b4
b3:
  br b5
b4:
  br b5
b5:
  %5 = phi i32 [%3, b3], [%0, b4]
  store %0, %2 [shared]
  merge b7
  br %4, b7, b6
b6:
  br b9
b7:
  br b8
b8:
  br b1
b9:
  ret
})";
  const std::string result = test::runPass(text, passes::forgetUnneededOperands);
  EXPECT_NE(result.find("b4:\n  %5 = undef i32\n  br b5\nb5:\n  %6 = phi i32 [%3, b3], [%5, b4]"), std::string::npos)
      << result;
  // A use where the condition is not known needs all of it.
  std::string used = text;
  used.replace(used.find("store %0, %2"), 12, "store %0, %5");
  EXPECT_EQ(test::runPass(used, passes::forgetUnneededOperands), unchanged(used.c_str()));
}

// The value comes from a round before, which had another condition.
TEST(DecidedBranches, KeepWhatAnEarlierRoundHasDecided) {
  const char* text = R"(kernel @k structured ssa {
b0:
  %0 = input i32 ThreadIdX
  %1 = const i32 1
  br b1
b1:
  %2 = phi i32 [%1, b0], [%3, b5]
  loop b6 continue b5
  br b2
b2:
  %3 = load i32 %0 [shared]
  %4 = eq bool %3, %1
  merge b4
  br %4, b3, b4
b3:
  br b6
b4:
  br b5
b5:
  br b1
b6:
  %5 = phi i32 [%2, b3]
  store %0, %5 [shared]
  ret
})";
  EXPECT_EQ(test::runPass(text, passes::forgetUnneededOperands), unchanged(text));
}

}  // namespace
}  // namespace mulciber
