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
  %1 = input i32 GridDimX
  %2 = const bool false
  %3 = const i32 3
  br b1
b1:
  %4 = phi i32 [%0, b0], [%11, b2]
  %5 = const i32 0
  %6 = ne bool %4, %5
  %7 = lt.u bool %1, %3
  loop b3 continue b2
  br %7, b3, b2
b2:
  %8 = not bool %6
  %9 = const i32 1
  %10 = const i32 0
  %11 = select i32 %8, %9, %10
  br b1
b3:
  ret
}
)");
}

}  // namespace
}  // namespace mulciber
