#include "translator/passes/form.h"

#include <gtest/gtest.h>

#include "support/run_pass.h"

namespace mulciber::passes {
namespace {

std::string broken(const std::string& text, Forms forms) {
  std::string error;
  const auto program = ir::parseProgram(text, error);
  EXPECT_TRUE(program) << error;
  return program ? findBrokenForm(*program, forms) : error;
}

const char* const variables = R"(kernel @k {
  var v0 f32
b0:
  %0 = const f32 0x3f800000
  %1 = fadd f32 %0, %0 {rz}
  write v0, %1
  %2 = const i64 4096
  %3 = load f32 %2 [generic align 4]
  ret
}
)";

TEST(Form, HoldsUntilAnInstructionBreaksIt) {
  EXPECT_EQ(broken(variables, Form::Variables | Form::NoCalls | Form::NoRecursion | Form::Contracted), "");
  EXPECT_EQ(broken(variables, Form::Nearest), "@k %1 fadd asks for a rounding that is not to nearest\n");
  EXPECT_EQ(broken(variables, Form::KnownSpaces), "@k %4 load goes through a generic address\n");
  EXPECT_EQ(broken(variables, Form::Structured), "@k is not structured\n");
  EXPECT_EQ(broken(variables, Form::Ssa), "@k is not in SSA form\n");
}

TEST(Form, SeesCallsAndRecursion) {
  const std::string calls = R"(kernel @k {
b0:
  call @f
  ret
}
function @f {
b0:
  call @g
  ret
}
function @g {
b0:
  call @f
  ret
}
)";
  EXPECT_EQ(broken(calls, Form::NoCalls), "there are functions beside the kernel\n");
  EXPECT_EQ(broken(calls, Form::NoRecursion), "@f calls itself\n");
}

TEST(Form, AreSets) {
  constexpr Forms both = Form::Ssa | Form::Structured;
  static_assert(both.contains(Form::Ssa) && !both.contains(Form::NoCalls));
  static_assert(!both.without(Form::Ssa).contains(Form::Ssa) && both.without(Form::Ssa).contains(Form::Structured));
}

}  // namespace
}  // namespace mulciber::passes
