#include "translator/ir/verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "translator/ir/parser.h"

namespace mulciber::ir {
namespace {

using testing::HasSubstr;

std::string faultsOf(std::string_view text) {
  std::string error;
  auto program = parseProgram(text, error);
  return program ? verify(*program->functions[0]) : "parse: " + error;
}

struct Fault {
  const char* text;
  const char* message;
};

class VerifierFinds : public testing::TestWithParam<Fault> {};

TEST_P(VerifierFinds, TheFault) { EXPECT_THAT(faultsOf(GetParam().text), HasSubstr(GetParam().message)); }

INSTANTIATE_TEST_SUITE_P(
    Verifier, VerifierFinds,
    testing::Values(
        Fault{"kernel @k { b0: %0 = const i32 1 %1 = const i64 1 %2 = add i32 %0, %1 ret }", "operands of one type"},
        Fault{"kernel @k { b0: %0 = const i64 1 %1 = shl i64 %0, %0 ret }", "i32 amount"},
        Fault{"kernel @k { b0: %0 = const i32 1 %1 = load i32 %0 [global] ret }", "address of type i64 in global"},
        Fault{"kernel @k { b0: %0 = const i32 1 br %0, b1, b2 b1: ret b2: ret }", "value of the wrong type"},
        Fault{"kernel @k { b0: %0 = neg i32 %1 %1 = const i32 1 ret }", "not defined there"},
        Fault{"kernel @k { b0: %0 = const bool true br %0, b1, b2 b1: %1 = const i32 1 br b2 b2: %2 = neg i32 %1 ret }",
              "not defined there"},
        Fault{"kernel @k { b0: %0 = const f32 1.0 %1 = zext i32 %0 ret }", "wider integer"},
        Fault{"kernel @k { b0: %0 = const i32 1 %1 = extract i32 %0, 0 ret }", "lane of a vector"},
        Fault{"kernel @k { b0: %0 = const i32 1 %1 = image.read <4 x i32> plane, %0, %0 ret }", "coordinates of its"},
        Fault{"kernel @k { b0: %0 = const i32 1 %1 = image.read <4 x i32> cube, %0, %0, %0, %0 ret }",
              "faces of cubes"},
        Fault{"kernel @k { b0: %0 = const i32 1 image.write line, %0, %0, %0 ret }", "writes <4 x i32>"},
        Fault{"kernel @k ssa { var v0 i32 b0: %0 = read i32 v0 ret }", "gone in SSA"},
        Fault{"kernel @k structured { b0: %0 = const bool true br %0, b1, b2 b1: br b2 b2: ret }",
              "without naming its merge block"},
        Fault{"kernel @k structured { b0: %0 = const bool true merge b3 br %0, b1, b2 b1: br b3 b2: br b1 b3: ret }",
              "several predecessors"},
        Fault{"kernel @k structured { b0: br b1 b1: br b2 b2: %0 = const bool true merge b3 br %0, b1, b3 b3: ret }",
              "back to b1"},
        Fault{"kernel @k structured { b0: %0 = const bool true merge b4 br %0, b1, b4 b1: merge b3 br %0, b2, b3 "
              "b2: br b4 b3: br b4 b4: ret }",
              "leaves its construct"},
        Fault{"kernel @k structured { b0: br b2 b1: ret b2: br b1 }", "before its dominator"}));

TEST(Verifier, AcceptsAnUnreachableMergeBlock) {
  EXPECT_EQ(faultsOf("kernel @k structured { b0: %0 = const bool true merge b3 br %0, b1, b2 b1: ret b2: ret "
                     "b3: unreachable }"),
            "");
}

}  // namespace
}  // namespace mulciber::ir
