// Takes away branches on a condition that a branch before them has decided, while registers are still variables: of
// the checks before each of a kernel's samples of one texture only the first stays. DecidedBranches would find them
// too, but later than the regions of multiply-adds are chosen, and a region is worth less for every way out of it.
//
//   needs, leaves  variables
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

class RepeatedChecks : public Pass {
 public:
  std::string_view name() const override { return "repeated_checks"; }
  bool run(ir::Function& function, PassContext& context) override;
};

bool removeRepeatedChecks(ir::Function& function);

}  // namespace mulciber::passes
