// Which instructions compute the same, in functions whose registers are variables.
#pragma once

#include <deque>
#include <unordered_set>
#include <vector>

#include "translator/ir/dominators.h"
#include "translator/ir/expressions.h"
#include "translator/ir/ir.h"

namespace mulciber::analyses {

class SameValues {
 public:
  // Of what `roots` are made of, and of nothing else.
  SameValues(const ir::Function& function, const ir::DominatorTree& tree, const std::vector<ir::Instruction*>& roots);

  // The instruction that stands for all that compute the same: the first one of them, or a copy that is in no block,
  // whose operands are leaders too. Where one block dominates another, equal leaders of the two are equal values: what
  // they are made of has not been computed anew in between. Instructions that were added since lead themselves.
  ir::Instruction* leader(ir::Instruction* instruction) const {
    ir::Instruction* known = instruction->id < leaders_.size() ? leaders_[instruction->id] : nullptr;
    return known ? known : instruction;
  }

 private:
  // What a variable holds that is written at one place.
  struct Held {
    unsigned writes = 0;
    ir::Instruction* written = nullptr;
    const ir::Block* since = nullptr;  // once that place has been passed
    ir::Instruction* value = nullptr;  // the leader of what was written
  };

  void findWrites(const ir::Function& function);
  std::vector<bool> findParts(const ir::Function& function, std::vector<ir::Instruction*> roots) const;
  ir::Instruction* find(ir::Instruction& instruction, const ir::Block* block, const ir::DominatorTree& tree);

  std::vector<Held> held_;                 // by variable
  std::vector<ir::Instruction*> leaders_;  // by instruction id
  std::deque<ir::Instruction> copies_;     // of expressions, with leaders for operands
  std::unordered_set<ir::Instruction*, ir::ExpressionHash, ir::SameExpression> known_;
};

}  // namespace mulciber::analyses
