#include "translator/passes/block_rounds.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/run_pass.h"
#include "translator/passes/structurize.h"

namespace mulciber::passes {
namespace {

std::string inRounds(const std::string& body, bool hasWarps) {
  return test::runPass("kernel @k {\n" + body + "}\n",
                       [hasWarps](ir::Function& function) { runBlockInRounds(function, hasWarps, 64); });
}

TEST(BlockRounds, EndedThreadsComeToTheBarrierToo) {
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
  var v1 i32 "next"
  var v2 i32 "round"
b0:
  %0 = const i32 0
  write v2, %0
  %1 = const i32 2
  write v1, %1
  br b6
b1:
  %2 = input i32 LocalIndex
  %3 = const i32 7
  %4 = lt.u bool %2, %3
  br %4, b2, b3
b2:
  %5 = const i32 1
  write v0, %5
  br b5
b3:
  %6 = const i32 0
  write v0, %6
  br b5
b4:
  %7 = input i32 LocalIndex
  %8 = const i64 4096
  store %8, %7 [global align 4]
  %9 = const i32 1
  write v0, %9
  br b5
b5 "meeting":
  %10 = const i32 1
  %11 = read i32 v2
  %12 = add i32 %11, %10
  write v2, %12
  %13 = const i32 2
  %14 = const i32 1
  %15 = and i32 %12, %14
  %16 = shl i32 %15, %13
  %17 = const i32 64
  %18 = add i32 %17, %16
  %19 = read i32 v0
  %20 = const i32 1
  %21 = const i32 0
  %22 = sub i32 %19, %21
  %23 = lt.u bool %22, %20
  br %23, b7, b8
b6 "round":
  %24 = read i32 v1
  nounroll
  switch %24, b5 [0: b4, 2: b1]
b7:
  %25 = const i32 8
  %26 = add i32 %18, %25
  store %26, %12 [shared relaxed block align 4]
  br b8
b8:
  barrier
  %27 = const bool false
  %28 = const i32 8
  %29 = add i32 %18, %28
  %30 = load i32 %29 [shared block align 4]
  %31 = eq bool %30, %12
  %32 = or bool %27, %31
  br %32, b9, b10
b9:
  %33 = and bool %23, %27
  %34 = read i32 v0
  %35 = const i32 1
  %36 = select i32 %33, %35, %34
  write v1, %36
  br b6
b10:
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
  runBlockInRounds(function, false, 0);
  ASSERT_EQ(ir::verify(function), "") << operation << ir::print(function);
  EXPECT_EQ(count(function, [](const ir::Instruction* i) { return isWarpOperation(i->op); }), 0u);
  structurize(function);
  EXPECT_EQ(ir::verify(function), "") << operation;
}

TEST(BlockRounds, EveryWarpOperationBecomesAStop) {
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
TEST(BlockRounds, ThreadsThatPassByAWarpOperationWaitAtTheLoopsEnd) {
  auto stops = [](const char* header, const char* branch) {
    std::string text = inRounds(std::string("b0:\n  %0 = const bool true\n  br b1\nb1:\n") + header +
                                    "  br %0, b2, b3\nb2:\n" + branch + "  br b3\nb3:\n  br %0, b1, b4\nb4:\n  ret\n",
                                false);
    // One case is for the begin of the kernel.
    std::string cases = text.substr(text.find("switch"));
    return std::count(cases.begin(), cases.begin() + static_cast<long>(cases.find('\n')), ':') - 1;
  };
  EXPECT_EQ(stops("  warpbarrier\n", ""), 1);
  EXPECT_EQ(stops("", "  warpbarrier\n"), 2);
}

}  // namespace
}  // namespace mulciber::passes
