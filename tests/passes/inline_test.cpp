#include "translator/passes/inline.h"

#include "support/ir_interpreter.h"
#include "support/run_pass.h"

namespace mulciber {
namespace {

constexpr std::string_view nested = R"(kernel @k {
  var v0 i32
  var v1 i32
b0:
  %0 = input i32 LocalIndex
  call @distance %0 returns v0
  %1 = const i32 3
  call @distance %1 returns v1
  %2 = read i32 v0
  %3 = read i32 v1
  %4 = mul i32 %2, %3
  %5 = add i32 %4, %0
  %6 = const i64 8
  store %6, %5 [global]
  ret
}
function @distance {
  var v0 i32
  var v1 i32
  parameters v0
  returns v1
b0:
  %0 = read i32 v0
  %1 = const i32 4
  %2 = lt.u bool %0, %1
  br %2, b1, b2
b1:
  call @less %1, %0 returns v1
  ret
b2:
  call @less %0, %1 returns v1
  ret
}
function @less {
  var v0 i32
  var v1 i32
  var v2 i32
  parameters v0, v1
  returns v2
b0:
  %0 = read i32 v0
  %1 = read i32 v1
  %2 = sub i32 %0, %1
  write v2, %2
  ret
}
)";

TEST(Inline, NestedCallsBecomeOneFunction) {
  auto program = test::parseIr(nested);
  std::vector<test::LaneResult> expected;
  for (uint32_t lane = 0; lane < 8; ++lane) expected.push_back(test::runLane(*program->functions[0], lane, 10));
  ASSERT_EQ(expected[7].stores, (std::vector<test::StoreEvent>{{8, 3 * 1 + 7}}));
  ASSERT_EQ(passes::inlineCalls(*program, 1000000), "");
  ASSERT_EQ(program->functions.size(), 1u);
  EXPECT_EQ(ir::verify(*program->functions[0]), "");
  EXPECT_EQ(ir::print(*program).find("call"), std::string::npos);
  for (uint32_t lane = 0; lane < 8; ++lane)
    EXPECT_EQ(test::runLane(*program->functions[0], lane, 10).stores, expected[lane].stores);
}

TEST(Inline, RefusesRecursionByName) {
  auto program =
      test::parseIr("kernel @k { b0: call @f ret } function @f { b0: call @g ret } function @g { b0: call @f ret }");
  EXPECT_EQ(passes::inlineCalls(*program, 1000000), "function 'f' calls itself");
}

TEST(Inline, RefusesWhatGrowsBeyondReason) {
  std::string text = "kernel @k { b0: call @f0 ret }";
  for (int i = 0; i < 30; ++i) {
    std::string next = " call @f" + std::to_string(i + 1);
    text += "function @f" + std::to_string(i) + " { b0:" + next + next + next + " ret }";
  }
  text += "function @f30 { b0: barrier ret }";
  auto program = test::parseIr(text);
  EXPECT_NE(passes::inlineCalls(*program, 1000000).find("has more than"), std::string::npos);
}

}  // namespace
}  // namespace mulciber
