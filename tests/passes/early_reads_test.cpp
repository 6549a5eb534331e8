#include "translator/passes/early_reads.h"

#include "support/run_pass.h"

namespace mulciber {
namespace {

// A loop in a loop. The address is made in the inner one, of what the kernel is given or of what the outer one counts.
std::string loops(const std::string& address, const std::string& access) {
  return R"(kernel @k structured ssa {
b0:
  %0 = input i64 LaunchState
  %1 = const i64 8
  %2 = const i64 4
  br b1
b1:
  %3 = phi i64 [%1, b0], [%4, b11]
  loop b12 continue b11
  br b2
b2:
  %4 = sub i64 %3, %2
  br b3
b3:
  %5 = phi i64 [%1, b2], [%6, b7]
  loop b8 continue b7
  br b4
b4:
  %6 = sub i64 %5, %2
  %7 = add i64 )" +
         address + R"(, %1
  %8 = load i64 %7 [global )" +
         access + R"( align 8]
  store %8, %6 [global align 8]
  %9 = eq bool %6, %2
  merge b6
  br %9, b5, b6
b5:
  br b8
b6:
  br b7
b7:
  br b3
b8:
  %10 = eq bool %4, %2
  merge b10
  br %10, b9, b10
b9:
  br b12
b10:
  br b11
b11:
  br b1
b12:
  ret
}
)";
}

std::string moved(const std::string& text) { return test::runPass(text, passes::readBeforeLoops); }
// The block that the load stands in.
std::string home(const std::string& text) {
  const size_t load = text.find("= load");
  const size_t label = text.rfind("\nb", load);
  return text.substr(label + 1, text.find(':', label) - label - 1);
}

TEST(EarlyReads, WhatNoLoopChangesIsReadBeforeAll) {
  const std::string text = moved(loops("%0", "readonly early"));
  EXPECT_EQ(home(text), "b0") << text;
  EXPECT_LT(text.find("= add"), text.find("= load"));
}

TEST(EarlyReads, WhatTheOuterLoopChangesIsReadInIt) {
  const std::string text = moved(loops("%4", "readonly early"));
  EXPECT_EQ(home(text), "b2") << text;
}

TEST(EarlyReads, WhatTheInnerLoopChangesStays) {
  const std::string text = loops("%6", "readonly early");
  EXPECT_EQ(home(moved(text)), "b4");
}

// A program's own address need not be good where it is not read.
TEST(EarlyReads, OtherLoadsStay) { EXPECT_EQ(home(moved(loops("%0", "readonly"))), "b4"); }

}  // namespace
}  // namespace mulciber
