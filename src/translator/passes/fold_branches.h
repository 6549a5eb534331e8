// Takes away branches whose way is known, and what they led to.
//
//   needs, leaves  structured SSA form
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

class FoldBranches : public Pass {
 public:
  std::string_view name() const override { return "fold_branches"; }
  bool run(ir::Function& function, PassContext& context) override;
};

// Selections on a constant, or on a phi that is one whenever it is reached, become the code of the side taken. So goes
// the second round of a loop whose first never comes to its end: Mesa's compiler (25.0.7, opt_peel_loop_initial_if)
// ends the process where such a loop begins with a selection between the first round and the others. Merge blocks and
// continue targets that a header still names stay, empty, when nothing leads to them any more.
bool foldBranches(ir::Function& function);

}  // namespace mulciber::passes
