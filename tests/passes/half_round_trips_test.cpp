#include "translator/passes/half_round_trips.h"

#include "support/run_pass.h"
#include "translator/passes/cse.h"

namespace mulciber {
namespace {

std::string kept(const std::string& text) {
  return test::runPass(text, [](ir::Function& function) {
    passes::keepHalfRoundTrips(function);
    passes::removeCommonSubexpressions(function);
  });
}

std::string kernel(const std::string& body) { return "kernel @k structured ssa {\n" + body + "}\n"; }

TEST(HalfRoundTrips, WhatIsWidenedAgainPassesAnOperation) {
  EXPECT_EQ(kept(kernel(R"(b0:
  %0 = input i64 LaunchState
  %1 = load f32 %0 [global align 4]
  %2 = fconvert f16 %1
  %3 = fconvert f32 %2
  store %0, %3 [global align 4]
  ret
)")),
            kernel(R"(b0:
  %0 = input i32 GridDimY
  %1 = input i32 GridDimZ
  %2 = const i32 0xffff0000
  %3 = and i32 %0, %2
  %4 = const i32 16
  %5 = shr.u i32 %1, %4
  %6 = or i32 %3, %5
  %7 = trunc i16 %6
  %8 = input i64 LaunchState
  %9 = load f32 %8 [global align 4]
  %10 = fconvert f16 %9
  %11 = bitcast i16 %10
  %12 = xor i16 %11, %7
  %13 = bitcast f16 %12
  %14 = fconvert f32 %13
  store %8, %14 [global align 4]
  ret
)"));
}

// Through a pair, a selection and a loop.
TEST(HalfRoundTrips, AlsoBehindWhatMovesIt) {
  const std::string text = kept(kernel(R"(b0:
  %0 = input i64 LaunchState
  %1 = load f32 %0 [global align 4]
  %2 = fconvert f16 %1
  %3 = bitcast i16 %2
  %4 = vec <2 x i16> %3, %3
  %5 = bitcast i32 %4
  br b1
b1:
  %6 = phi i32 [%5, b0], [%7, b2]
  %7 = load i32 %0 [global align 4]
  %8 = eq bool %6, %7
  %9 = select i32 %8, %7, %6
  %10 = trunc i16 %9
  %11 = bitcast f16 %10
  %12 = fconvert f32 %11
  store %0, %12 [global align 4]
  loop b3 continue b2
  br %8, b2, b3
b2:
  br b1
b3:
  ret
)"));
  EXPECT_NE(text.find("= xor i16"), std::string::npos) << text;
}

TEST(HalfRoundTrips, WhatIsStoredOrLoadedStays) {
  const std::string text = kernel(R"(b0:
  %0 = input i64 LaunchState
  %1 = load f32 %0 [global align 4]
  %2 = fconvert f16 %1
  store %0, %2 [global align 2]
  %3 = load f16 %0 [global align 2]
  %4 = fconvert f32 %3
  store %0, %4 [global align 4]
  ret
)");
  auto program = test::parseIr(text);
  ASSERT_TRUE(program);
  EXPECT_FALSE(passes::keepHalfRoundTrips(*program->functions[0]));
  EXPECT_EQ(ir::print(*program->functions[0]), text);
}

}  // namespace
}  // namespace mulciber
