#include "translator/passes/clamped_conversions.h"

#include "support/run_pass.h"
#include "translator/passes/cse.h"

namespace mulciber {
namespace {

std::string hidden(const std::string& text) {
  return test::runPass(text, [](ir::Function& function) {
    passes::hideConverted(function);
    passes::removeCommonSubexpressions(function);
  });
}

std::string kernel(const std::string& body) { return "kernel @k structured ssa {\n" + body + "}\n"; }

// How many operations hide something.
int countHidden(const std::string& body) {
  const std::string text = hidden(kernel(body));
  int count = 0;
  for (size_t at = 0; (at = text.find("= xor ", at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST(ClampedConversions, AnIntegerIsHidden) {
  EXPECT_EQ(hidden(kernel(R"(b0:
  %0 = input i64 LaunchState
  %1 = load i32 %0 [global align 4]
  %2 = stof f32 %1
  %3 = ftou.clamp i32 %2
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
  %7 = input i64 LaunchState
  %8 = load i32 %7 [global align 4]
  %9 = stof f32 %8
  %10 = bitcast i32 %9
  %11 = xor i32 %10, %6
  %12 = bitcast f32 %11
  %13 = ftou.clamp i32 %12
  store %7, %13 [global align 4]
  ret
)"));
}

TEST(ClampedConversions, AlsoBehindArithmetic) {
  EXPECT_EQ(countHidden(R"(b0:
  %0 = input i64 LaunchState
  %1 = load i32 %0 [global align 4]
  %2 = stof f64 %1
  %3 = fneg f64 %2
  %4 = const f64 1.5
  %5 = fmul f64 %3, %4
  %6 = ftou.clamp i64 %5
  store %0, %6 [global align 8]
  ret
)"),
            1);
}

TEST(ClampedConversions, NotWhatIsStoredWhereAnIntegerSays) {
  EXPECT_EQ(countHidden(R"(b0:
  %0 = input i64 LaunchState
  %1 = load i32 %0 [global align 4]
  %2 = stof f32 %1
  %3 = ftos.clamp i32 %2
  %4 = load f32 %0 [global align 4]
  store %3, %4 [local align 4]
  %5 = const i32 0
  %6 = load f32 %5 [local align 4]
  %7 = ftou.clamp i32 %6
  store %0, %7 [global align 4]
  ret
)"),
            1);
}

TEST(ClampedConversions, AndWhatWentThroughMemory) {
  EXPECT_EQ(countHidden(R"(b0:
  %0 = input i64 LaunchState
  %1 = load i32 %0 [global align 4]
  %2 = stof f32 %1
  %3 = const i32 0
  store %3, %2 [local align 4]
  %4 = load f32 %3 [local align 4]
  %5 = ftou.clamp i32 %4
  store %0, %5 [global align 4]
  ret
)"),
            1);
}

// A loop whose first turn the driver peels off.
TEST(ClampedConversions, AndWhatIsAConstantAtFirst) {
  EXPECT_EQ(countHidden(R"(b0:
  %0 = input i64 LaunchState
  %1 = const f32 -5.0
  br b1
b1:
  %2 = phi f32 [%1, b0], [%5, b2]
  %3 = ftou.clamp i32 %2
  store %0, %3 [global align 4]
  %4 = load i32 %0 [global align 4]
  %5 = load f32 %0 [global align 4]
  %6 = eq bool %3, %4
  loop b3 continue b2
  br %6, b2, b3
b2:
  br b1
b3:
  ret
)"),
            1);
}

TEST(ClampedConversions, WhatTheDriverCannotKnowStays) {
  EXPECT_EQ(countHidden(R"(b0:
  %0 = input i64 LaunchState
  %1 = load f32 %0 [global align 4]
  %2 = const f32 255.0
  %3 = fmul f32 %1, %2
  %4 = ftou.clamp i32 %3
  store %0, %4 [global align 4]
  ret
)"),
            0);
}

TEST(ClampedConversions, WideResultsAreHidden) {
  EXPECT_EQ(test::runPass(kernel(R"(b0:
  %0 = input i64 LaunchState
  %1 = load f32 %0 [global align 4]
  %2 = ftou.clamp i64 %1
  %3 = trunc i32 %2
  %4 = ftou.clamp i32 %1
  %5 = add i32 %3, %4
  store %0, %5 [global align 4]
  ret
)"),
                          [](ir::Function& function) {
                            passes::hideWideResults(function);
                            passes::removeCommonSubexpressions(function);
                          }),
            kernel(R"(b0:
  %0 = input i32 GridDimY
  %1 = input i32 GridDimZ
  %2 = const i32 0xffff0000
  %3 = and i32 %0, %2
  %4 = const i32 16
  %5 = shr.u i32 %1, %4
  %6 = or i32 %3, %5
  %7 = zext i64 %6
  %8 = const i32 32
  %9 = shl i64 %7, %8
  %10 = or i64 %9, %7
  %11 = input i64 LaunchState
  %12 = load f32 %11 [global align 4]
  %13 = ftou.clamp i64 %12
  %14 = shr.u i64 %13, %8
  %15 = const i64 0
  %16 = xor i64 %15, %10
  %17 = and i64 %14, %16
  %18 = xor i64 %13, %17
  %19 = trunc i32 %18
  %20 = ftou.clamp i32 %12
  %21 = add i32 %19, %20
  store %11, %21 [global align 4]
  ret
)"));
}

}  // namespace
}  // namespace mulciber
