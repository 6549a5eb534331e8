#include "translator/passes/repeated_checks.h"

#include <deque>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "translator/ir/dominators.h"
#include "translator/passes/expressions.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;
using ir::Terminator;
using ir::VariableId;

class Remover {
 public:
  explicit Remover(ir::Function& function)
      : function_(function), tree_(function), leaders_(function.instructionIdBound()) {}

  bool run() {
    countWrites();
    bool changed = false;
    for (Block* block : tree_.reversePostOrder()) {  // each behind its dominators
      for (Instruction* instruction : block->instructions) leaders_[instruction->id] = leaderOf(*instruction, block);
      changed |= decide(*block);
    }
    if (!changed) return false;
    function_.removeUnreachableBlocks();
    function_.computePredecessors();
    return true;
  }

 private:
  // What a variable holds that is written at one place.
  struct Held {
    unsigned writes = 0;
    const Block* since = nullptr;  // once that place has been passed
    Instruction* value = nullptr;
  };
  struct Decision {
    const Block* behind;  // which nothing reaches but through that side
    bool isTrue;
  };

  void countWrites() {
    held_.resize(function_.variables.size());
    for (const Block* block : function_.blocks)
      for (const Instruction* i : block->instructions)
        if (i->op == Op::WriteVar) ++held_[i->payload].writes;
  }

  // The instruction that stands for all that compute the same. Where one block dominates another, equal leaders of the
  // two are equal values: what they are made of has not been computed anew in between.
  Instruction* leaderOf(Instruction& instruction, const Block* block) {
    if (instruction.op == Op::WriteVar) {
      Held& held = held_[instruction.payload];
      if (held.writes == 1) held = {1, block, leaders_[instruction.operands[0]->id]};
      return &instruction;
    }
    if (instruction.op == Op::ReadVar) {
      const Held& held = held_[instruction.payload];
      return held.since && tree_.dominates(held.since, block) ? held.value : &instruction;
    }
    if (!isExpression(instruction)) return &instruction;
    Instruction& copy = copies_.emplace_back(instruction);
    for (Instruction*& operand : copy.operands) operand = leaders_[operand->id];
    const auto [found, isNew] = known_.insert(&copy);
    if (!isNew) copies_.pop_back();
    return *found;
  }

  bool decide(Block& block) {
    Terminator& end = block.terminator;
    if (end.kind != Terminator::Kind::Conditional || end.targets[0] == end.targets[1]) return false;
    std::vector<Decision>& decisions = decisions_[leaders_[end.value->id]];
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
  std::vector<Held> held_;             // by variable
  std::vector<Instruction*> leaders_;  // by instruction id
  std::deque<Instruction> copies_;     // of expressions, with leaders for operands
  std::unordered_set<Instruction*, ExpressionHash, SameExpression> known_;
  std::unordered_map<const Instruction*, std::vector<Decision>> decisions_;
};

}  // namespace

bool removeRepeatedChecks(ir::Function& function) {
  function.computePredecessors();
  return Remover(function).run();
}

bool RepeatedChecks::run(ir::Function& function, PassContext&) { return removeRepeatedChecks(function); }

}  // namespace mulciber::passes
