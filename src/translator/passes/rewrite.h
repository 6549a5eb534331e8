// Replacing values by others, many at once.
#pragma once

#include <vector>

#include "translator/ir/ir.h"

namespace mulciber::passes {

// Collects replacements and carries them out in one walk over the function.
class Replacements {
 public:
  explicit Replacements(ir::Function& function) : function_(function) {}

  void replace(const ir::Instruction* value, ir::Instruction* by);
  bool isReplaced(const ir::Instruction* value) const { return value->id < by_.size() && by_[value->id] != nullptr; }
  ir::Instruction* find(ir::Instruction* value);  // what stands for the value now

  // Rewrites all uses and takes the replaced instructions out of their blocks.
  void apply();

 private:
  ir::Function& function_;
  std::vector<ir::Instruction*> by_;  // by instruction id
};

}  // namespace mulciber::passes
