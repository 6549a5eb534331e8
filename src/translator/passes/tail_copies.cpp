#include "translator/passes/tail_copies.h"

#include <algorithm>
#include <unordered_map>

#include "translator/ir/dominators.h"
#include "translator/passes/control_flow.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;

constexpr size_t mostOperations = 4;  // in a tail
constexpr size_t mostCopied = 32;     // operations added for one tail

bool isFree(Op op) { return op == Op::ReadVar || op == Op::WriteVar || op == Op::Constant || op == Op::Undef; }

// Operations that cost something; more than allowed when one must not be repeated.
size_t operationsOf(const Block& block) {
  size_t count = 0;
  for (const Instruction* instruction : block.instructions) {
    if (ir::isConvergent(instruction->op)) return mostOperations + 1;
    if (!isFree(instruction->op)) ++count;
  }
  return count;
}

class TailCopier {
 public:
  TailCopier(ir::Function& function, LoopForest& forest) : function_(function), forest_(forest), tree_(function) {}

  void run() {
    for (Block* block : tree_.reversePostOrder())
      if (isSharedTail(*block)) copy(block);
  }

 private:
  // Control that comes here might as well have gone past, to where this block leads.
  bool isSharedTail(const Block& block) const {
    if (block.terminator.kind != ir::Terminator::Kind::Branch || block.predecessors.size() < 2) return false;
    const Block* next = block.terminator.targets[0];
    if (tree_.dominates(&block, next) || tree_.dominates(next, &block) || forest_.isHeader(&block)) return false;
    uint32_t loop = forest_.loopOf(&block);
    if (forest_.loopOf(next) != loop) return false;
    for (const Block* from : block.predecessors)
      if (forest_.loopOf(from) != loop) return false;
    size_t operations = operationsOf(block);
    return operations <= mostOperations && operations * (block.predecessors.size() - 1) <= mostCopied;
  }

  void copy(Block* block) {
    std::vector<Block*> others(block->predecessors.begin() + 1, block->predecessors.end());
    for (Block* from : others) {
      if (from == block->predecessors.front()) continue;
      Block* twin = function_.addBlock();
      forest_.place(twin, forest_.loopOf(block));
      std::unordered_map<const Instruction*, Instruction*> copies;
      for (const Instruction* instruction : block->instructions) {
        Instruction* clone = function_.clone(*instruction);
        for (Instruction*& operand : clone->operands) operand = copies.at(operand);
        copies[instruction] = clone;
        twin->instructions.push_back(clone);
      }
      twin->terminator = block->terminator;
      redirect(*from, block, twin);
    }
  }

  ir::Function& function_;
  LoopForest& forest_;
  ir::DominatorTree tree_;
};

}  // namespace

void copySharedTails(ir::Function& function, LoopForest& forest) {
  function.computePredecessors();
  TailCopier(function, forest).run();
}

}  // namespace mulciber::passes
