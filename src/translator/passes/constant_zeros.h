// Some drivers fold operations on a zero that they know, and fold them wrongly. This pass hides such zeros from them
// and hides products that a driver could compute beforehand, which would round a fused multiply-add twice.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

// For profiles with `foldsZeros`. Drivers make x of x + 0 and -x of 0 - x, and a zero of 0 / x. A zero that is a
// constant, or that the driver may find out to be one, is hidden from it. So is a zero beside a one of the other sign,
// where one of the two is chosen: the driver gives both one sign.
//
//   needs, leaves  SSA form, after everything that makes constants
class ConstantZeros : public Pass {
 public:
  std::string_view name() const override { return "constant_zeros"; }
  bool run(ir::Function& function, PassContext& context) override;
};

// Whether or not the driver has the fault.
bool hideConstantZeros(ir::Function& function);

}  // namespace mulciber::passes
