// Replaces mutable variables by values and phis.
//
//   needs   a structured function without calls
//   leaves  SSA form: no ReadVar, WriteVar or variable; a variable that was never written reads as undef
//
// Phis are placed where the variable is live, in the iterated dominance frontiers of its writes (Cytron et al. 1991),
// which touches only the variables that cross blocks: most PTX registers do not. Phis of one value are removed.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

class Ssa : public Pass {
 public:
  std::string_view name() const override { return "ssa"; }
  bool run(ir::Function& function, PassContext& context) override;
};

// With `keepsNames`, values remember the registers that they were written to.
void buildSsa(ir::Function& function, bool keepsNames = false);

}  // namespace mulciber::passes
