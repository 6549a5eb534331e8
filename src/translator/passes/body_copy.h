// Copying one function's body into another.
#pragma once

#include "translator/ir/ir.h"

namespace mulciber::passes {

// The copied function stays as it is; the copy gets variables of its own.
class BodyCopy {
 public:
  BodyCopy(ir::Function& into, const ir::Function& body);

  // What stands for the original's variables and blocks.
  ir::VariableId variable(ir::VariableId original) const { return firstVariable_ + original; }
  ir::Block* block(const ir::Block* original) const { return blocks_[original->id]; }
  ir::Block* entry() const { return block(body_.blocks.front()); }

  // Makes the blocks; returns become branches to `after`.
  void copyTo(ir::Block* after);

 private:
  void copy(const ir::Instruction& instruction, ir::Block* to);

  ir::Function& into_;
  const ir::Function& body_;
  ir::VariableId firstVariable_;
  std::vector<ir::Block*> blocks_;        // by the original's id
  std::vector<ir::Instruction*> values_;  // by the original's id
};

}  // namespace mulciber::passes
