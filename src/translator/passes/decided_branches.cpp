#include "translator/passes/decided_branches.h"

#include <algorithm>
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

// Of each phi the phi that is its only user; null where there are others.
std::vector<const Instruction*> onlyUsers(const ir::Function& function) {
  std::vector<const Instruction*> users(function.instructionIdBound());
  std::vector<unsigned> uses(function.instructionIdBound());
  for (const Block* block : function.blocks) {
    for (const Instruction* user : block->instructions)
      for (const Instruction* operand : user->operands) {
        uses[operand->id]++;
        users[operand->id] = user->op == ir::Op::Phi ? user : nullptr;
      }
    if (block->terminator.value) users[block->terminator.value->id] = nullptr;
  }
  for (size_t i = 0; i < users.size(); ++i)
    if (uses[i] != 1) users[i] = nullptr;
  return users;
}

class UnneededOperands {
 public:
  explicit UnneededOperands(ir::Function& function)
      : function_(function), tree_(function), homes_(function.instructionIdBound()), sides_(function.blockIdBound()) {
    for (const auto& [condition, decisions] : decisionsOf(function))
      for (const Decision& decision : decisions) sides_[decision.behind->id] = {condition, decision.isTrue};
    for (const Block* block : function.blocks)
      for (const Instruction* instruction : block->instructions) homes_[instruction->id] = block;
  }

  bool forget() {
    bool changed = false;
    const std::vector<const Instruction*> users = onlyUsers(function_);
    for (Block* block : function_.blocks) {
      if (!tree_.isReachable(block)) continue;
      for (size_t i = 0; i < block->instructions.size() && block->instructions[i]->op == ir::Op::Phi; ++i) {
        Instruction& phi = *block->instructions[i];
        if (const Instruction* user = users[phi.id]) changed |= forgetIn(phi, *block, useOf(phi, *user));
      }
    }
    return changed;
  }

 private:
  struct Side {
    const Instruction* condition = nullptr;
    bool isTrue = false;
  };
  static constexpr unsigned farthest = 64;  // blocks, one behind the other, that are looked at

  // Where a phi takes its operand from.
  const Block* useOf(const Instruction& phi, const Instruction& user) const {
    const auto operand = std::ranges::find(user.operands, &phi);
    return homes_[user.id]->predecessors[size_t(operand - user.operands.begin())];
  }

  bool forgetIn(Instruction& phi, const Block& home, const Block* use) {
    std::vector<Side> known = sidesOf(use, &home);
    std::erase_if(known, [&](const Side& side) { return side.condition->isConstant() || !isBefore(side, home); });
    if (known.empty()) return false;
    bool changed = false;
    for (size_t i = 0; i < phi.operands.size(); ++i) {
      Block* from = home.predecessors[i];
      if (phi.operands[i]->op == ir::Op::Undef || !contradicts(from, home, known)) continue;
      phi.operands[i] = function_.create(ir::Op::Undef, phi.type);
      from->instructions.push_back(phi.operands[i]);
      changed = true;
    }
    return changed;
  }

  bool contradicts(const Block* from, const Block& home, const std::vector<Side>& known) const {
    const std::vector<Side> sides = sidesOf(from, tree_.immediateDominator(&home));
    return std::ranges::any_of(sides, [&](const Side& side) {
      return std::ranges::any_of(
          known, [&](const Side& other) { return side.condition == other.condition && side.isTrue != other.isTrue; });
    });
  }

  // What has been decided on the way to a block since another one.
  std::vector<Side> sidesOf(const Block* block, const Block* since) const {
    std::vector<Side> sides;
    if (!tree_.isReachable(block)) return sides;
    for (unsigned i = 0; i < farthest && block && block != since; ++i, block = tree_.immediateDominator(block))
      if (sides_[block->id].condition) sides.push_back(sides_[block->id]);
    return sides;
  }

  // So that the condition has not been computed anew between the phi's block and what it leads to.
  bool isBefore(const Side& side, const Block& block) const {
    const Block* home = homes_[side.condition->id];
    return home != &block && tree_.dominates(home, &block);
  }

  ir::Function& function_;
  const ir::DominatorTree tree_;
  std::vector<const Block*> homes_;  // by instruction id
  std::vector<Side> sides_;          // by block id: what its only way in has decided
};

}  // namespace

bool forgetUnneededOperands(ir::Function& function) {
  function.computePredecessors();
  return UnneededOperands(function).forget();
}

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
