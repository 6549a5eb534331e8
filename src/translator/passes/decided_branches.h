// Takes away branches that a branch before them has decided: behind one side of a selection its condition is known. A
// check that ends the thread is so made once for all instructions behind it that need the same one.
//
//   needs, leaves  structured SSA form
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

class DecidedBranches : public Pass {
 public:
  std::string_view name() const override { return "decided_branches"; }
  bool run(ir::Function& function, PassContext& context) override;
};

bool foldDecidedBranches(ir::Function& function);

// Where a loop continues only if a condition holds, what its body has computed where the condition does not hold is of
// no use to the next round: phis that lead there need not choose it.
bool forgetUnneededOperands(ir::Function& function);

}  // namespace mulciber::passes
