#include "translator/passes/recursion.h"

#include "support/fibonacci.h"
#include "support/ir_interpreter.h"
#include "support/run_pass.h"
#include "translator/passes/inline.h"
#include "translator/passes/simplify.h"
#include "translator/passes/ssa.h"
#include "translator/passes/structurize.h"

namespace mulciber {
namespace {

// What each lane stores, as written and through each stage after recursion is gone, must be the same.
void expectSameWithoutRecursion(std::string_view text) {
  auto program = test::parseIr(text);
  ASSERT_TRUE(program);
  std::vector<test::LaneResult> expected;
  for (uint32_t lane = 0; lane < 8; ++lane) {
    expected.push_back(test::runLane(*program->functions[0], lane, 1000));
    ASSERT_EQ(expected.back().error, "");
    ASSERT_FALSE(expected.back().stores.empty());
  }
  auto check = [&](const char* stage) {
    for (const auto& function : program->functions) ASSERT_EQ(ir::verify(*function), "") << stage;
    for (uint32_t lane = 0; lane < 8; ++lane) {
      test::LaneResult actual = test::runLane(*program->functions[0], lane, 1000, 77);
      ASSERT_EQ(actual.error, "") << stage;
      ASSERT_EQ(actual.stores, expected[lane].stores) << stage << " lane " << lane << "\n" << ir::print(*program);
    }
  };
  EXPECT_TRUE(passes::removeRecursion(*program));
  check("recursion");
  ASSERT_EQ(passes::inlineCalls(*program, 1000000), "");
  check("inline");
  ir::Function& kernel = *program->functions[0];
  passes::structurize(kernel);
  check("structurize");
  passes::buildSsa(kernel);
  check("ssa");
  passes::simplify(kernel);
  check("simplify");
}

TEST(Recursion, Fibonacci) { expectSameWithoutRecursion(test::fibonacci); }

TEST(Recursion, TwoFunctionsThatCallEachOtherFromTwoPlaces) {
  expectSameWithoutRecursion(R"(kernel @k {
  var v0 i32
  var v1 i32
b0:
  %0 = input i32 LocalIndex
  call @even %0 returns v0
  call @odd %0 returns v1
  %1 = read i32 v0
  %2 = read i32 v1
  %3 = const i64 8
  store %3, %1 [global]
  store %3, %2 [global]
  ret
}
function @even {
  var v0 i32
  var v1 i32
  var v2 i32
  var v3 bool
  parameters v0
  returns v1
  frame v2, v3
b0:
  %0 = const i32 1
  write v1, %0
  %1 = read i32 v0
  %2 = const i32 0
  %3 = eq bool %1, %2
  br %3, b2, b1
b1:
  %4 = sub i32 %1, %0
  call @odd %4 returns v1
  br b2
b2:
  ret
}
function @odd {
  var v0 i32
  var v1 i32
  var v2 i32
  var v3 bool
  parameters v0
  returns v1
  frame v2, v3
b0:
  %0 = const i32 0
  write v1, %0
  %1 = read i32 v0
  %3 = eq bool %1, %0
  br %3, b2, b1
b1:
  %4 = const i32 1
  %5 = sub i32 %1, %4
  call @even %5 returns v1
  br b2
b2:
  ret
})");
}

// Each call keeps a value in its own frame, and writes it to its caller's too: frames must not overlap or move.
TEST(Recursion, FramesInMemoryBelongToTheirCall) {
  auto program = test::parseIr(R"(kernel @k local=32 {
  var v0 i32
b0:
  %0 = input i32 LocalIndex
  %1 = const i32 0
  call @sum %0, %1 returns v0
  %2 = read i32 v0
  %3 = const i64 8
  store %3, %2 [global]
  ret
}
function @sum local=16 {
  var v0 i32 "n"
  var v1 i32 "caller's place"
  var v2 i32 "result"
  var v3 i32 "begin"
  var v4 bool "overflows"
  var v5 bool "deeper"
  parameters v0, v1
  returns v2
  frame v3, v4
b0:
  %0 = read i32 v3
  %1 = const i32 4
  %2 = add i32 %0, %1
  %3 = read i32 v0
  store %2, %3 [local align 4]
  %4 = const i32 0
  %5 = ne bool %3, %4
  write v5, %5
  br %5, b1, b2
b1:
  %6 = const i32 1
  %7 = sub i32 %3, %6
  call @sum %7, %2 returns v2
  br b2
b2:
  %8 = load i32 %2 [local align 4]
  %9 = read i32 v1
  %10 = read bool v5
  %11 = select i32 %10, %8, %4
  %12 = load i32 %9 [local align 4]
  %13 = add i32 %12, %8
  store %9, %13 [local align 4]
  write v2, %13
  %14 = const i64 16
  store %14, %11 [global]
  ret
})");
  ASSERT_TRUE(program);
  ASSERT_TRUE(passes::removeRecursion(*program));
  ASSERT_EQ(passes::inlineCalls(*program, 1000000), "");
  passes::structurize(*program->functions[0]);
  passes::buildSsa(*program->functions[0]);
  ASSERT_EQ(ir::verify(*program->functions[0]), "");
  // sum(n) adds what the deeper calls left in its place: n + (n - 1) + ... + 0, added to 0 at the outermost place.
  for (uint32_t lane = 0; lane < 8; ++lane) {
    test::LaneResult result = test::runLane(*program->functions[0], lane, 100);
    EXPECT_EQ(result.error, "");
    EXPECT_EQ(result.stores.back(), (test::StoreEvent{8, lane * (lane + 1) / 2}));
    EXPECT_EQ(result.stores.size(), lane + 2);
  }
}

TEST(Recursion, AFullStackIsToldToTheFunction) {
  auto program = test::parseIr(R"(kernel @k {
  var v0 bool
b0:
  call @f returns v0
  %0 = read bool v0
  %1 = zext i32 %0
  %2 = const i64 8
  store %2, %1 [global]
  ret
}
function @f local=64 {
  var v0 bool "ended"
  var v1 i32 "begin"
  var v2 bool "overflows"
  returns v0
  frame v1, v2
b0:
  %0 = read bool v2
  write v0, %0
  br %0, b2, b1
b1:
  call @f returns v0
  br b2
b2:
  ret
})");
  ASSERT_TRUE(passes::removeRecursion(*program));
  ASSERT_EQ(passes::inlineCalls(*program, 1000000), "");
  test::LaneResult result = test::runLane(*program->functions[0], 0, 100);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.stores, (std::vector<test::StoreEvent>{{8, 1}}));
}

}  // namespace
}  // namespace mulciber
