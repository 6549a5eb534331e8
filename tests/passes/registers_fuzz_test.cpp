// Random control-flow graphs whose branches often ask for the same registers, before and after the passes that look for
// that: what each lane stores must be the same, in the same order.
#include <gtest/gtest.h>

#include "support/lane_checks.h"
#include "support/random_function.h"
#include "translator/ir/builder.h"
#include "translator/ir/printer.h"
#include "translator/ir/verifier.h"
#include "translator/passes/constant_registers.h"
#include "translator/passes/repeated_checks.h"

namespace mulciber {
namespace {

using ir::Block;
using ir::Builder;
using ir::Instruction;
using ir::Op;
using ir::VariableId;

constexpr size_t maxStores = 400;
constexpr uint32_t laneCount = 6;

// Registers that branches ask for: of the lane, of constants, and of what one block or two, which may lie in loops,
// compute anew each time.
class Registers {
 public:
  Registers(std::mt19937_64& random, ir::Function& function) : random_(random), function_(function) {
    for (const bool isConstant : {true, false}) {
      Block part;
      Builder b(function_, &part);
      const VariableId original = function_.addVariable(ir::I32), copy = function_.addVariable(ir::I32);
      b.write(original, isConstant ? b.i32(pick(2)) : b.bitAnd(b.input(ir::InputKind::LocalIndex), b.i32(1)));
      b.write(copy, b.read(original));
      insert(*function_.blocks.front(), part);
      asked_.insert(asked_.end(), {original, copy});
    }
    for (const unsigned writes : {1, 2}) {
      const VariableId variable = function_.addVariable(ir::I32);
      for (unsigned n = 0; n < writes; ++n) writeSomewhere(variable);
      asked_.insert(asked_.end(), 4, variable);  // the ones that are easily taken for another's value
    }
  }

  void ask() {
    for (Block* block : function_.blocks) {
      if (block->terminator.kind != ir::Terminator::Kind::Conditional || pick(3) == 0) continue;
      Builder b(function_, block);
      block->terminator.value = b.compare(Op::IEq, b.read(asked_[pick(asked_.size())]), b.i32(1));
    }
  }

 private:
  uint32_t pick(size_t bound) { return static_cast<uint32_t>(random_() % bound); }

  // In front of the block's own instructions.
  static void insert(Block& block, const Block& part) {
    block.instructions.insert(block.instructions.begin(), part.instructions.begin(), part.instructions.end());
  }

  void writeSomewhere(VariableId variable) {
    Block& block = *function_.blocks[pick(function_.blocks.size())];
    Block part;
    Builder b(function_, &part);
    b.write(variable, b.bitAnd(b.read(VariableId{pick(4)}), b.i32(1)));  // of the generator's own data
    insert(block, part);
  }

  std::mt19937_64& random_;
  ir::Function& function_;
  std::vector<VariableId> asked_;
};

TEST(RegistersFuzz, EveryLaneDoesTheSame) {
  constexpr uint64_t count = 2000;
  uint64_t repeated = 0, constant = 0;
  for (uint64_t seed = 1; seed <= count; ++seed) {
    std::mt19937_64 random(seed);
    auto function =
        test::randomFunction(random, {.blocks = unsigned(3 + random() % 24), .terminates = random() % 2 != 0});
    Registers(random, *function).ask();
    ASSERT_EQ(ir::verify(*function), "") << "seed " << seed;
    const std::vector<test::LaneResult> expected = test::runLanes(*function, laneCount, maxStores);
    const std::string before = ir::print(*function);
    for (const bool isConstant : {false, true}) {
      const bool changed =
          isConstant ? passes::useConstantRegisters(*function) : passes::removeRepeatedChecks(*function);
      (isConstant ? constant : repeated) += changed;
      SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + before + ir::print(*function));
      ASSERT_EQ(ir::verify(*function), "");
      ASSERT_NO_FATAL_FAILURE(test::expectSame(expected, test::runLanes(*function, laneCount, maxStores)));
    }
  }
  EXPECT_GT(repeated, count / 20);
  EXPECT_GT(constant, count / 4);
}

}  // namespace
}  // namespace mulciber
