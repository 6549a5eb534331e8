// Cheaper equals of single instructions.
//
//   needs, leaves  SSA form
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

class Simplify : public Pass {
 public:
  std::string_view name() const override { return "simplify"; }
  bool run(ir::Function& function, PassContext& context) override;
};

// Folds constants (fold.h), drops identities such as x + 0, looks through pairs of conversions, selects and vectors,
// and removes phis that choose nothing, until nothing changes.
bool simplify(ir::Function& function);

}  // namespace mulciber::passes
