#include "translator/passes/cse.h"

#include <unordered_set>

#include "translator/ir/dominators.h"
#include "translator/ir/expressions.h"
#include "translator/passes/rewrite.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;

// Two shuffles alike bring the same number where the same lanes run both: in one block, and nothing that joins or
// parts lanes between them.
bool isRepeatable(const Instruction& instruction) {
  return instruction.op == Op::Shuffle || ir::isExpression(instruction);
}

}  // namespace

bool removeCommonSubexpressions(ir::Function& function) {
  ir::DominatorTree tree(function);
  Replacements replacements(function);
  std::vector<const Block*> homes(function.instructionIdBound());
  std::unordered_set<Instruction*, ir::ExpressionHash, ir::SameExpression> known;
  bool changed = false;
  // In preorder of the dominator tree: once an entry does not dominate the block at hand, it dominates none to come.
  std::vector<Block*> work{function.blocks.front()};
  while (!work.empty()) {
    Block* block = work.back();
    work.pop_back();
    const auto& children = tree.children(block);
    work.insert(work.end(), children.rbegin(), children.rend());
    std::vector<Instruction*> shuffles;  // known, of the same lanes
    auto forgetShuffles = [&] {
      for (Instruction* shuffle : shuffles) known.erase(shuffle);
      shuffles.clear();
    };
    for (Instruction* instruction : block->instructions) {
      if (instruction->op == Op::Expect || (ir::isConvergent(instruction->op) && ir::hasSideEffects(instruction->op)))
        forgetShuffles();
      if (!isRepeatable(*instruction)) continue;
      for (Instruction*& operand : instruction->operands) operand = replacements.find(operand);
      homes[instruction->id] = block;
      auto [entry, isNew] = known.insert(instruction);
      if (isNew && instruction->op == Op::Shuffle) shuffles.push_back(instruction);
      if (isNew) continue;
      if (tree.dominates(homes[(*entry)->id], block)) {
        replacements.replace(instruction, *entry);
        changed = true;
      } else {
        known.erase(entry);
        known.insert(instruction);
      }
    }
    forgetShuffles();
  }
  if (changed) replacements.apply();
  return changed;
}

bool Cse::run(ir::Function& function, PassContext&) { return removeCommonSubexpressions(function); }

}  // namespace mulciber::passes
