#include "translator/passes/first_rounds.h"

#include "support/run_pass.h"

namespace mulciber {
namespace {

std::string loop(const std::string& type, const std::string& first, const std::string& next) {
  return "kernel @k structured ssa {\nb0:\n  %0 = const " + type + " " + first + "\n  %1 = const " + type + " " + next +
         R"(
  %2 = input i32 GridDimX
  %3 = eq bool %2, %2
  br b1
b1:
  %4 = phi )" +
         type + R"( [%0, b0], [%1, b2]
  loop b3 continue b2
  br %3, b2, b3
b2:
  br b1
b3:
  ret
})";
}

TEST(FirstRounds, WhatTheFirstRoundHasIsHidden) {
  for (const std::string& text : {loop("bool", "true", "false"), loop("i32", "1", "7")}) {
    const std::string hidden = test::runPass(text, passes::hideFirstRounds);
    EXPECT_NE(hidden.find("GridDimY"), std::string::npos) << hidden;
    EXPECT_EQ(hidden.find("[%0, b0]"), std::string::npos) << hidden;
  }
}

TEST(FirstRounds, WhatRoundsComputeStays) {
  std::string text = loop("i32", "1", "7");
  text.replace(text.find("[%1, b2]"), 8, "[%2, b2]");
  EXPECT_EQ(test::runPass(text, passes::hideFirstRounds).find("GridDimY"), std::string::npos);
}

}  // namespace
}  // namespace mulciber
