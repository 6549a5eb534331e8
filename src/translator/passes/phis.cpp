#include "translator/passes/phis.h"

#include <optional>

#include "translator/ir/dominators.h"
#include "translator/passes/rewrite.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;

class TrivialPhis {
 public:
  explicit TrivialPhis(ir::Function& function)
      : function_(function),
        homes_(function.instructionIdBound()),
        users_(function.instructionIdBound()),
        replacements_(function) {}

  bool run() {
    std::vector<Instruction*> work;
    for (Block* block : function_.blocks)
      for (Instruction* instruction : block->instructions) {
        homes_[instruction->id] = block;
        if (instruction->op != Op::Phi) continue;
        work.push_back(instruction);
        for (const Instruction* operand : instruction->operands) users_[operand->id].push_back(instruction);
      }
    bool changed = false;
    while (!work.empty()) {
      Instruction* phi = work.back();
      work.pop_back();
      if (replacements_.isReplaced(phi)) continue;
      Instruction* value = onlyValue(phi);
      if (!value) continue;
      changed = true;
      replacements_.replace(phi, value);
      // The users now use the value: they may have become trivial, and so may later users of it.
      auto users = std::move(users_[phi->id]);
      work.insert(work.end(), users.begin(), users.end());
      users_[value->id].insert(users_[value->id].end(), users.begin(), users.end());
    }
    if (changed) replacements_.apply();
    return changed;
  }

 private:
  Instruction* onlyValue(Instruction* phi) {
    Instruction *value = nullptr, *undef = nullptr;
    for (Instruction* operand : phi->operands) {
      operand = replacements_.find(operand);
      if (operand == phi || operand == value) continue;
      if (operand->op == Op::Undef) {
        undef = operand;
      } else if (value) {
        return nullptr;
      } else {
        value = operand;
      }
    }
    if (!value) return undef;
    if (!undef) return value;
    // With an undefined side the value must be there on all sides.
    if (!tree_) tree_.emplace(function_);
    const Block *from = homes_[value->id], *to = homes_[phi->id];
    return from != to && tree_->dominates(from, to) ? value : nullptr;
  }

  ir::Function& function_;
  std::vector<const Block*> homes_;               // by instruction id
  std::vector<std::vector<Instruction*>> users_;  // by instruction id: phis
  Replacements replacements_;
  std::optional<ir::DominatorTree> tree_;
};

}  // namespace

bool removeTrivialPhis(ir::Function& function) { return TrivialPhis(function).run(); }

}  // namespace mulciber::passes
