#include "translator/ir/builder.h"

#include <gtest/gtest.h>

namespace mulciber::ir {
namespace {

TEST(Builder, GivesComparisonsABooleanAndArithmeticItsOperandType) {
  Function function;
  Builder b(function, function.addBlock());
  Instruction* sum = b.add(b.i64(1), b.i64(2));
  EXPECT_EQ(sum->type, I64);
  EXPECT_EQ(b.compare(Op::ULt, sum, sum)->type, Bool);
}

TEST(Builder, TurnsAConditionalBranchToOneTargetIntoABranch) {
  Function function;
  Block* entry = function.addBlock();
  Block* exit = function.addBlock();
  Builder b(function, entry);
  b.branch(b.boolean(true), exit, exit);
  EXPECT_EQ(entry->terminator.kind, Terminator::Kind::Branch);
}

}  // namespace
}  // namespace mulciber::ir
