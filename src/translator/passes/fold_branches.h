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

// Selections on a constant become the code of the side taken. Merge blocks and continue targets that a header still
// names stay, empty, when nothing leads to them any more.
bool foldBranches(ir::Function& function);

}  // namespace mulciber::passes
