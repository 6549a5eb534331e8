// Small edits of a control-flow graph whose registers are still variables, shared by the parts of structurize.
#pragma once

#include <vector>

#include "translator/ir/builder.h"

namespace mulciber::passes {

// Makes every edge from -> oldTarget an edge to newTarget.
void redirect(ir::Block& from, const ir::Block* oldTarget, ir::Block* newTarget);

// The targets of a block, each once, in order.
std::vector<ir::Block*> uniqueTargets(const ir::Block& block);

// Removes unreachable blocks, and gives the function an entry to which nothing comes back.
void separateEntry(ir::Function& function);

// A fresh variable that says which of several blocks control goes to.
class Selector {
 public:
  Selector(ir::Function& function, size_t targets)
      : function_(function), isFlag_(targets <= 2), variable_(function.addVariable(isFlag_ ? ir::Bool : ir::I32)) {}

  // Appends to `block`: the number of the target is `choice`.
  void set(ir::Block* block, size_t choice);

  // Ends `block` with a branch to the target whose number was set.
  void dispatch(ir::Block* block, const std::vector<ir::Block*>& targets);

 private:
  ir::Function& function_;
  bool isFlag_;
  ir::VariableId variable_;
};

}  // namespace mulciber::passes
