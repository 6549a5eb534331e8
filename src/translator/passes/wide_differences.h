// Keeps drivers from recognising sums of three numbers of 64 bits of which one is subtracted.
//
// NVIDIA's compiler (580.159.04) makes two instructions of x + y - z, with two carries from the lower to the upper one.
// Large kernels may lose one of them.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

bool hideWideSums(ir::Function& function);

//   needs   SSA, structure
//   leaves  no such sum that a driver can see to be one
class WideDifferences : public Pass {
 public:
  std::string_view name() const override { return "wide_differences"; }
  bool run(ir::Function& function, PassContext& context) override;
};

}  // namespace mulciber::passes
