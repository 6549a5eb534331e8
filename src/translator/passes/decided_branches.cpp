#include "translator/passes/decided_branches.h"

#include <unordered_map>
#include <vector>

#include "translator/ir/dominators.h"
#include "translator/passes/fold_branches.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Terminator;

bool isSelection(const Block& block) {
  const Terminator& terminator = block.terminator;
  return terminator.kind == Terminator::Kind::Conditional && terminator.targets[0] != terminator.targets[1];
}

struct Decision {
  const Block* behind;  // which nobody reaches but through that side
  bool isTrue;
};
using Decisions = std::unordered_map<const Instruction*, std::vector<Decision>>;

Decisions decisionsOf(const ir::Function& function) {
  Decisions decisions;
  for (const Block* block : function.blocks) {
    if (!isSelection(*block)) continue;
    for (const bool isTrue : {true, false}) {
      const Block* target = block->terminator.targets[isTrue ? 0 : 1];
      if (target->predecessors.size() == 1) decisions[block->terminator.value].push_back({target, isTrue});
    }
  }
  return decisions;
}

}  // namespace

bool foldDecidedBranches(ir::Function& function) {
  function.computePredecessors();
  const Decisions decisions = decisionsOf(function);
  const ir::DominatorTree tree(function);
  bool changed = false;
  for (Block* block : function.blocks) {
    if (!isSelection(*block) || !tree.isReachable(block) || block->terminator.value->isConstant()) continue;
    for (const Decision& decision : decisions.at(block->terminator.value)) {
      if (!tree.isReachable(decision.behind) || !tree.dominates(decision.behind, block)) continue;
      Instruction* constant = function.create(ir::Op::Constant, ir::Bool);
      constant->payload = decision.isTrue ? 1 : 0;
      block->instructions.push_back(constant);
      block->terminator.value = constant;
      changed = true;
      break;
    }
  }
  return changed && foldBranches(function);
}

bool DecidedBranches::run(ir::Function& function, PassContext&) { return foldDecidedBranches(function); }

}  // namespace mulciber::passes
