// Keeps drivers from losing the signs of zeros that they know.
//
// They leave out the absolute value of what is not below zero, or negate what is not above zero instead, as if -0 were
// 0: of square roots (Mesa 25.0.7), of choices between constants (both Mesa's and NVIDIA's 580.159.04). NVIDIA's
// compiler also makes 0 of a constant -0 that is chosen beside bits of integers, where the choice is negated, and NaN
// of the root of one in f64 that was in private memory. It finds such a -0 in other memory too, where it was stored
// before.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

bool keepZeroSigns(ir::Function& function);

//   needs   SSA form, after everything that makes constants
//   leaves  numbers hidden whose absolute values are taken, and negative zeros that are chosen or stored
class ZeroSigns : public Pass {
 public:
  std::string_view name() const override { return "zero_signs"; }
  bool run(ir::Function& function, PassContext& context) override;
};

}  // namespace mulciber::passes
