#include "translator/passes/loop_flags.h"

#include "support/run_pass.h"

namespace mulciber {
namespace {

std::string carried(const std::string& text) { return test::runPass(text, passes::carryFlagsAsIntegers); }

// A flag that each round negates, beside one that is chosen within a round.
TEST(LoopFlags, AFlagThatALoopCarriesIsAnInteger) {
  EXPECT_EQ(carried(R"(kernel @k structured ssa {
b0:
  %0 = input i32 GridDimX
  %1 = const bool false
  %2 = const i32 3
  br b1
b1:
  %3 = phi bool [%1, b0], [%5, b2]
  %4 = lt.u bool %0, %2
  loop b3 continue b2
  br %4, b3, b2
b2:
  %5 = not bool %3
  br b1
b3:
  ret
}
)"),
            R"(kernel @k structured ssa {
b0:
  %0 = const i32 0
  %1 = input i32 GridDimY
  %2 = input i32 GridDimZ
  %3 = add i32 %1, %2
  %4 = const i32 17
  %5 = shr.u i32 %3, %4
  %6 = input i32 GridDimX
  %7 = const bool false
  %8 = const i32 3
  br b1
b1:
  %9 = phi i32 [%0, b0], [%17, b2]
  %10 = xor i32 %9, %5
  %11 = const i32 0
  %12 = ne bool %10, %11
  %13 = lt.u bool %6, %8
  loop b3 continue b2
  br %13, b3, b2
b2:
  %14 = not bool %12
  %15 = const i32 1
  %16 = const i32 0
  %17 = select i32 %14, %15, %16
  br b1
b3:
  ret
}
)");
}

// A loop that counts from 5, which is left to two places or to one.
std::string leftBy(const std::string& terminator) {
  return test::runPass(R"(kernel @k structured ssa {
b0:
  %0 = input i32 GridDimX
  %1 = const i32 5
  br b1
b1:
  %2 = phi i32 [%1, b0], [%4, b2]
  %3 = lt.u bool %0, %2
  loop b3 continue b2
  br %3, b3, b2
b2:
  %4 = add i32 %2, %0
  br b1
b3:
)" + terminator + "}\n",
                       passes::hideStarts);
}

TEST(LoopFlags, WhatALoopWithSeveralEndsBeginsWithIsHidden) {
  const std::string text = leftBy("  merge b5\n  switch %2, b4 [1: b5]\nb4:\n  br b5\nb5:\n  ret\n");
  EXPECT_NE(text.find("GridDimY"), std::string::npos) << text;
}

TEST(LoopFlags, WhatOtherLoopsBeginWithStays) { EXPECT_EQ(leftBy("  ret\n").find("GridDimY"), std::string::npos); }

}  // namespace
}  // namespace mulciber
