// Keeps sums with a zero, divisions by one and its magnitude from drivers that make something else of them where they
// know the zero, and multiply-adds whose product they know from being rounded twice.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

// For profiles with `foldsZeros`. Drivers make x of x + 0 and -x of 0 - x, and a zero of 0 / x. A zero that is a
// constant, or that the driver may find out to be one, is hidden from it.
//
//   needs, leaves  SSA form, after everything that makes constants
class ConstantZeros : public Pass {
 public:
  std::string_view name() const override { return "constant_zeros"; }
  bool run(ir::Function& function, PassContext& context) override;
};

// Whatever the driver does.
bool hideConstantZeros(ir::Function& function);

}  // namespace mulciber::passes
