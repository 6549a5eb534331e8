// Removes what nobody needs.
//
//   needs, leaves  SSA form
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

class Dce : public Pass {
 public:
  std::string_view name() const override { return "dce"; }
  bool run(ir::Function& function, PassContext& context) override;
};

// Removes instructions without side effects whose results are not used, cycles of phis included.
bool removeDeadInstructions(ir::Function& function);

}  // namespace mulciber::passes
