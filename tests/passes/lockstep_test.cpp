// Where lanes of a warp meet so that they read what others have just written.
#include "translator/passes/lockstep.h"

#include <gtest/gtest.h>

#include "support/run_pass.h"

namespace mulciber::passes {
namespace {

// The operations of the one block, by their first letters: l load, s store, w warpbarrier, b barrier.
std::string stepsOf(const std::string& accesses) {
  auto program =
      test::parseIr("kernel @k {\nb0:\n  %0 = const i32 64\n  %1 = const i64 4096\n" + accesses + "  ret\n}\n");
  if (!program) return "?";
  const bool changed = keepVolatileInStep(*program);
  std::string steps;
  for (const ir::Instruction* i : program->functions[0]->blocks.back()->instructions)
    if (i->op == ir::Op::Load || ir::hasSideEffects(i->op)) steps += ir::mnemonic(i->op)[0];
  std::erase(steps, 'e');  // expect
  EXPECT_EQ(changed, steps.find('w') != std::string::npos);
  return steps;
}

const std::string load = "  %2 = load i32 %0 [shared volatile align 4]\n";
const std::string again = "  %3 = load i32 %0 [shared volatile align 4]\n";
const std::string store = "  store %0, %0 [shared volatile align 4]\n";

TEST(Lockstep, LanesMeetWhereAccessesOfAnotherKindFollow) {
  EXPECT_EQ(stepsOf(load + store), "wlws");
  EXPECT_EQ(stepsOf(load + again + store), "wllws");
  EXPECT_EQ(stepsOf(store + load), "wswl");
  EXPECT_EQ(stepsOf(store + store), "wsws");
  EXPECT_EQ(stepsOf(load + "  barrier\n" + again), "wlbwl");
}

// As PTX has it: each load writes a register.
TEST(Lockstep, RegistersChangeNothing) {
  auto program = test::parseIr(R"(kernel @k {
  var v0 i32 "first"
  var v1 i32 "second"
b0:
  %0 = const i32 64
  %1 = load i32 %0 [shared volatile align 4]
  write v0, %1
  %2 = load i32 %0 [shared volatile align 4]
  write v1, %2
  ret
})");
  ASSERT_TRUE(program);
  EXPECT_TRUE(keepVolatileInStep(*program));
  const std::string text = ir::print(*program->functions[0]);
  EXPECT_EQ(text.find("warpbarrier"), text.rfind("warpbarrier")) << text;
}

TEST(Lockstep, OtherAccessesAreLeftAlone) {
  EXPECT_EQ(stepsOf("  %2 = load i32 %0 [shared align 4]\n  store %0, %0 [shared align 4]\n"), "ls");
  EXPECT_EQ(stepsOf("  %2 = load i32 %1 [global volatile align 4]\n"), "l");
  EXPECT_EQ(stepsOf("  %2 = load i32 %0 [shared acquire block align 4]\n"), "l");
}

}  // namespace
}  // namespace mulciber::passes
