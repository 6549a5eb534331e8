#include "support/run_pass.h"
#include "translator/passes/cse.h"
#include "translator/passes/dce.h"

namespace mulciber {
namespace {

TEST(Cse, ReusesShufflesOfTheSameLanes) {
  EXPECT_EQ(test::runPass(R"(kernel @k structured ssa {
b0:
  %0 = input i32 LocalIndex
  %1 = const i32 4
  %2 = shuffle i32 %0, %1
  %3 = shuffle i32 %0, %1
  store %2, %3 [shared]
  warpbarrier
  %4 = shuffle i32 %0, %1
  store %2, %4 [shared]
  %5 = lt.u bool %0, %1
  merge b2
  br %5, b1, b2
b1:
  %6 = shuffle i32 %0, %1
  store %2, %6 [shared]
  br b2
b2:
  ret
})",
                          passes::removeCommonSubexpressions),
            R"(kernel @k structured ssa {
b0:
  %0 = input i32 LocalIndex
  %1 = const i32 4
  %2 = shuffle i32 %0, %1
  store %2, %2 [shared]
  warpbarrier
  %3 = shuffle i32 %0, %1
  store %2, %3 [shared]
  %4 = lt.u bool %0, %1
  merge b2
  br %4, b1, b2
b1:
  %5 = shuffle i32 %0, %1
  store %2, %5 [shared]
  br b2
b2:
  ret
}
)");
}

TEST(Cse, ReusesWhatDominatesAndNothingElse) {
  EXPECT_EQ(test::runPass(R"(kernel @k structured ssa {
b0:
  %0 = input i32 LocalIndex
  %1 = const i32 4
  %2 = lt.u bool %0, %1
  merge b3
  br %2, b1, b2
b1:
  %3 = const i32 4
  %4 = mul i32 %0, %3
  %5 = mul i32 %0, %1
  %6 = load i32 %4 [param align 4]
  %7 = load i32 %5 [param align 4]
  %8 = load i32 %5 [shared align 4]
  %9 = load i32 %5 [shared align 4]
  store %6, %8 [shared]
  store %7, %9 [shared]
  br b3
b2:
  %10 = mul i32 %0, %1
  store %10, %10 [shared]
  br b3
b3:
  ret
})",
                          passes::removeCommonSubexpressions),
            R"(kernel @k structured ssa {
b0:
  %0 = input i32 LocalIndex
  %1 = const i32 4
  %2 = lt.u bool %0, %1
  merge b3
  br %2, b1, b2
b1:
  %3 = mul i32 %0, %1
  %4 = load i32 %3 [param align 4]
  %5 = load i32 %3 [shared align 4]
  %6 = load i32 %3 [shared align 4]
  store %4, %5 [shared]
  store %4, %6 [shared]
  br b3
b2:
  %7 = mul i32 %0, %1
  store %7, %7 [shared]
  br b3
b3:
  ret
}
)");
}

TEST(Cse, KeepsOperationsWhoseRoundingOrFlushingDiffers) {
  std::string text = test::runPass(R"(kernel @k structured ssa {
b0:
  %0 = input i32 LocalIndex
  %1 = bitcast f32 %0
  %2 = fadd f32 %1, %1
  %3 = fadd f32 %1, %1 {ftz}
  store %0, %2 [shared]
  store %0, %3 [shared]
  ret
})",
                                   passes::removeCommonSubexpressions);
  EXPECT_NE(text.find("fadd f32 %1, %1 {ftz}"), std::string::npos);
}

TEST(Dce, RemovesUnusedCyclesAndKeepsEffects) {
  EXPECT_EQ(test::runPass(R"(kernel @k structured ssa {
b0:
  %0 = const i32 0
  %1 = input i64 ModuleData
  %2 = load i32 %1 [global]
  %3 = load i32 %1 [global volatile]
  %4 = atomic.add i32 %1, %0 [global]
  br b1
b1:
  %5 = phi i32 [%0, b0], [%6, b2]
  loop b3 continue b2
  br b2
b2:
  %6 = add i32 %5, %5
  br b1
b3:
  unreachable
})",
                          passes::removeDeadInstructions),
            R"(kernel @k structured ssa {
b0:
  %0 = const i32 0
  %1 = input i64 ModuleData
  %2 = load i32 %1 [global volatile]
  %3 = atomic.add i32 %1, %0 [global]
  br b1
b1:
  loop b3 continue b2
  br b2
b2:
  br b1
b3:
  unreachable
}
)");
}

}  // namespace
}  // namespace mulciber
