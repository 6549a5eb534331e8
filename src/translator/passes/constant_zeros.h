// Keeps sums with a constant zero, divisions by one and its magnitude from drivers that make something else of them.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

// For profiles with `foldsZeros`. x + 0, x - (-0) and 0 - x are given the sign they have when they are zero, divisions
// by a zero and of one are made of other operations, and |-0| is 0.
//
//   needs, leaves  SSA form, after everything that makes constants
class ConstantZeros : public Pass {
 public:
  std::string_view name() const override { return "constant_zeros"; }
  bool run(ir::Function& function, PassContext& context) override;
};

// Whatever the driver does.
bool protectConstantZeros(ir::Function& function);

}  // namespace mulciber::passes
