// Rounds a product and a sum once where ptxas does: mul and add without a rounding of their own become one fma.
//
//   needs    no calls; before legalize_floats, and while registers are variables
//   leaves   no FloatControl::contracts
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

class Contraction : public Pass {
 public:
  std::string_view name() const override { return "contraction"; }
  bool run(ir::Function& function, PassContext& context) override;
};

bool contractProducts(ir::Function& function);

}  // namespace mulciber::passes
