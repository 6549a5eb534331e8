// Keeps drivers from recognising a number's lowest bit where it is multiplied or made a float.
//
// NVIDIA's compiler (580.159.04) selects by the whole number instead, `x != 0 ? 3 : 0` for `(x & 1) * 3`, in kernels
// that have a root or a quotient in f64 too. So the bit passes an operation that hides where it comes from.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

bool hideLowBits(ir::Function& function);

//   needs   SSA form
//   leaves  no product and no conversion to a float of what a driver can see to be a lowest bit
class LowBits : public Pass {
 public:
  std::string_view name() const override { return "low_bits"; }
  bool run(ir::Function& function, PassContext& context) override;
};

}  // namespace mulciber::passes
