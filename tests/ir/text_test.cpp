#include <gtest/gtest.h>

#include "translator/ir/builder.h"
#include "translator/ir/parser.h"
#include "translator/ir/printer.h"
#include "translator/ir/verifier.h"

namespace mulciber::ir {
namespace {

constexpr std::string_view everyForm = R"(kernel @k local=16 {
  var v0 i32 "%r1"
  var v1 bool
b0 "entry":
  %0 = const i32 5
  %1 = const f32 0x3f800000
  %2 = read i32 v0
  write v0, %0
  %3 = fma f32 %1, %1, %1 {rz ftz}
  %4 = input i64 ModuleData
  %5 = load <4 x f32> %4 [global volatile acquire device align 16]
  %6 = extract f32 %5, 2
  %7 = vec <4 x i32> %0, %0, %0, %0
  %8 = vec <2 x i32> %0, %0
  %9 = matrix.product <4 x f32> f16, %7, %8, %5
  %10 = load.rows <4 x i32> transposed %0 [shared align 16]
  fence [seq_cst system]
  %11 = image.fetch <4 x i32> lines, %0, %0, %0, %0
  %12 = image.read <4 x i32> planes, %0, %0, %0, %0 [relaxed device]
  image.write plane, %0, %0, %0, %12
  %13 = image.atomic.min.s i32 lines, %0, %0, %0, %0
  call @f %0 returns v0
  %14 = const bool true
  br %14, b1, b2
b1:
  switch %0, b2 [1: b2, 70000: b1]
b2 "exit":
  nounroll
  ret
}
function @f local=16 {
  var v0 i32
  var v1 i32
  var v2 bool
  parameters v0
  returns v0
  frame v1, v2
b0:
  ret
}
)";

TEST(Text, EveryFormPrintsAsItWasRead) {
  std::string error;
  auto program = parseProgram(everyForm, error);
  ASSERT_TRUE(program) << error;
  EXPECT_EQ(print(*program), everyForm);
  for (const auto& function : program->functions) EXPECT_EQ(verify(*function), "");
}

TEST(Text, StructuredSsaPrintsAsItWasRead) {
  constexpr std::string_view text = R"(kernel @k structured ssa {
b0:
  %0 = const i32 0
  br b1
b1:
  %1 = phi i32 [%0, b0], [%4, b3]
  loop b4 continue b3 nounroll
  br b2
b2:
  %2 = const i32 10
  %3 = lt.u bool %1, %2
  merge b6
  br %3, b6, b5
b5:
  br b4
b6:
  br b3
b3:
  %4 = add i32 %1, %2
  br b1
b4:
  ret
}
)";
  std::string error;
  auto program = parseProgram(text, error);
  ASSERT_TRUE(program) << error;
  EXPECT_EQ(verify(*program->functions[0]), "");
  std::string printed = print(*program);
  auto again = parseProgram(printed, error);
  ASSERT_TRUE(again) << error;
  EXPECT_EQ(print(*again), printed);
}

struct BadText {
  const char* text;
  const char* message;
};

class TextErrors : public testing::TestWithParam<BadText> {};

TEST_P(TextErrors, AreNamedWithTheirLine) {
  std::string error;
  EXPECT_FALSE(parseProgram(GetParam().text, error));
  EXPECT_EQ(error, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Parser, TextErrors,
    testing::Values(BadText{"", "line 1: there is no function"},
                    BadText{"kernel @k {\nb0:\n  %0 = frobnicate i32\n ret }",
                            "line 3: 'frobnicate' is not an operation"},
                    BadText{"kernel @k {\nb0:\n  %0 = add i32 %1\n ret }", "line 4: add takes 2 operands"},
                    BadText{"kernel @k {\nb0:\n  br b1\n}", "line 4: b1 is not defined"},
                    BadText{"kernel @k {\nb0:\n  %0 = neg i32 %9\n  ret\n}", "line 5: %9 is not defined"},
                    BadText{"kernel @k {\nb0:\n  write v3, %0\n  ret\n}", "line 3: v3 is not declared"},
                    BadText{"kernel @k {\nb0:\n  call @g\n  ret\n}", "line 5: function @g is not defined"}));

}  // namespace
}  // namespace mulciber::ir
