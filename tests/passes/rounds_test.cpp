#include "translator/passes/rounds.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/run_pass.h"
#include "translator/passes/structurize.h"

namespace mulciber::passes {
namespace {

std::string inRounds(const std::string& body, bool hasWarps) {
  return test::runPass("kernel @k {\n" + body + "}\n",
                       [hasWarps](ir::Function& function) { runInRounds(function, hasWarps, 64); });
}

TEST(Rounds, EndedThreadsComeToTheBarrierToo) {
  EXPECT_EQ(inRounds(R"(
b0:
  %0 = input i32 LocalIndex
  %1 = const i32 7
  %2 = lt.u bool %0, %1
  br %2, b1, b2
b1:
  ret
b2:
  barrier
  %3 = const i64 4096
  store %3, %0 [global align 4]
  ret
)",
                     true),
            R"(kernel @k {
  var v0 i32 "stop"
  var v1 i32 "round"
b0:
  %0 = const i32 0
  write v1, %0
  br b1
b1:
  %1 = input i32 LocalIndex
  %2 = const i32 7
  %3 = lt.u bool %1, %2
  br %3, b2, b3
b2:
  %4 = const i32 1
  write v0, %4
  br b5
b3:
  %5 = const i32 0
  write v0, %5
  br b5
b4:
  %6 = input i32 LocalIndex
  %7 = const i64 4096
  store %7, %6 [global align 4]
  %8 = const i32 1
  write v0, %8
  br b5
b5 "meeting":
  %9 = const i32 1
  %10 = read i32 v1
  %11 = add i32 %10, %9
  write v1, %11
  %12 = const i32 2
  %13 = const i32 1
  %14 = and i32 %11, %13
  %15 = shl i32 %14, %12
  %16 = const i32 64
  %17 = add i32 %16, %15
  %18 = read i32 v0
  %19 = const i32 1
  %20 = const i32 0
  %21 = sub i32 %18, %20
  %22 = lt.u bool %21, %19
  nounroll
  br %22, b6, b7
b6:
  %23 = const i32 8
  %24 = add i32 %17, %23
  store %24, %11 [shared relaxed block align 4]
  br b7
b7:
  barrier
  %25 = const bool false
  %26 = const i32 8
  %27 = add i32 %17, %26
  %28 = load i32 %27 [shared block align 4]
  %29 = eq bool %28, %11
  %30 = or bool %25, %29
  br %30, b8, b9
b8:
  %31 = read i32 v0
  switch %31, b5 [0: b4]
b9:
  ret
}
)");
}

size_t count(const ir::Function& function, auto isCounted) {
  size_t result = 0;
  for (const ir::Block* block : function.blocks)
    result += static_cast<size_t>(std::ranges::count_if(block->instructions, isCounted));
  return result;
}

// A kernel with `operation`, whose result is stored.
void expectNoWarpOperation(const std::string& operation, ir::Type type) {
  auto program = test::parseIr(
      "kernel @k {\nb0:\n  %0 = input i32 LocalIndex\n  %1 = const i32 1\n  %2 = const i64 4096\n"
      "  %3 = const bool true\n  %4 = bitcast f32 %0\n  %5 = trunc i16 %0\n  %6 = bitcast f16 %5\n" +
      operation + (type.isBool() ? "  br %9, b1, b1\nb1:\n" : "  store %2, %9 [global align 4]\n") + "  ret\n}\n");
  ASSERT_TRUE(program);
  ir::Function& function = *program->functions[0];
  runInRounds(function, false, 0);
  ASSERT_EQ(ir::verify(function), "") << operation << ir::print(function);
  EXPECT_EQ(
      count(function, [](const ir::Instruction* i) { return i->op >= ir::Op::WarpBarrier && i->op <= ir::Op::Elect; }),
      0u);
  structurize(function);
  EXPECT_EQ(ir::verify(function), "") << operation;
}

TEST(Rounds, EveryWarpOperationBecomesAStop) {
  expectNoWarpOperation("  %9 = shuffle i32 %0, %1\n", ir::I32);
  expectNoWarpOperation("  %9 = shuffle f32 %4, %1\n", ir::F32);
  expectNoWarpOperation("  %9 = shuffle i16 %5, %1\n", ir::I16);
  expectNoWarpOperation("  %9 = shuffle f16 %6, %1\n", ir::F16);
  expectNoWarpOperation("  %9 = ballot i32 %3\n", ir::I32);
  expectNoWarpOperation("  %9 = vote.all bool %3\n", ir::Bool);
  expectNoWarpOperation("  %9 = vote.any bool %3\n", ir::Bool);
  expectNoWarpOperation("  %9 = elect bool\n", ir::Bool);
  expectNoWarpOperation("  warpbarrier\n  %9 = add i32 %0, %1\n", ir::I32);
}

// Stops in a loop: those that every turn comes to, and those that threads may pass by, which wait at the loop's end.
TEST(Rounds, ThreadsThatPassByAWarpOperationWaitAtTheLoopsEnd) {
  auto stops = [](const char* header, const char* branch) {
    std::string text = inRounds(std::string("b0:\n  %0 = const bool true\n  br b1\nb1:\n") + header +
                                    "  br %0, b2, b3\nb2:\n" + branch + "  br b3\nb3:\n  br %0, b1, b4\nb4:\n  ret\n",
                                false);
    size_t begin = text.find("switch");
    return begin == std::string::npos ? 1 : std::count(text.begin() + static_cast<long>(begin), text.end(), ':');
  };
  EXPECT_EQ(stops("  warpbarrier\n", ""), 1);
  EXPECT_EQ(stops("", "  warpbarrier\n"), 2);
}

}  // namespace
}  // namespace mulciber::passes
