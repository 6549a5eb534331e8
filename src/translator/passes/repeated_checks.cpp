#include "translator/passes/repeated_checks.h"

#include <unordered_map>
#include <vector>

#include "translator/analyses/same_values.h"
#include "translator/ir/dominators.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Terminator;

class Remover {
 public:
  Remover(ir::Function& function, const std::vector<Instruction*>& conditions)
      : function_(function), tree_(function), values_(function, tree_, conditions) {}

  bool run() {
    bool changed = false;
    for (Block* block : tree_.reversePostOrder()) changed |= decide(*block);  // each behind its dominators
    if (!changed) return false;
    function_.removeUnreachableBlocks();
    function_.computePredecessors();
    return true;
  }

 private:
  struct Decision {
    const Block* behind;  // which nothing reaches but through that side
    bool isTrue;
  };

  bool decide(Block& block) {
    Terminator& end = block.terminator;
    if (end.kind != Terminator::Kind::Conditional || end.targets[0] == end.targets[1]) return false;
    std::vector<Decision>& decisions = decisions_[values_.leader(end.value)];
    for (const Decision& decision : decisions)
      if (tree_.dominates(decision.behind, &block)) {
        end = {Terminator::Kind::Branch, nullptr, {end.targets[decision.isTrue ? 0 : 1]}, {}};
        return true;
      }
    for (const bool isTrue : {true, false}) {
      const Block* target = end.targets[isTrue ? 0 : 1];
      if (target->predecessors.size() == 1) decisions.push_back({target, isTrue});
    }
    return false;
  }

  ir::Function& function_;
  const ir::DominatorTree tree_;
  const analyses::SameValues values_;
  std::unordered_map<const Instruction*, std::vector<Decision>> decisions_;
};

}  // namespace

bool removeRepeatedChecks(ir::Function& function) {
  std::vector<Instruction*> conditions;
  for (const Block* block : function.blocks)
    if (block->terminator.kind == Terminator::Kind::Conditional) conditions.push_back(block->terminator.value);
  if (conditions.size() < 2) return false;
  function.computePredecessors();
  return Remover(function, conditions).run();
}

bool RepeatedChecks::run(ir::Function& function, PassContext&) { return removeRepeatedChecks(function); }

}  // namespace mulciber::passes
