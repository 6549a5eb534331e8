// Keeps drivers from recognising a number's lowest bit where they mistake it.
//
// NVIDIA's compiler (580.159.04) does so in kernels that call one of its routines, as f64 roots and quotients do and
// f32 roots with their slow path in f64.
// - It selects by the whole number instead where the bit is multiplied or made a float, `x != 0 ? 3 : 0` for
//   `(x & 1) * 3`. So such a bit passes an operation that hides where it comes from.
// - It asks whether the bit is zero with a comparison of 64 bits where the number has 64, and the upper halves that it
//   compares are anything (seen in the machine code). So the lowest bit of a number of 64 bits is taken of its lower
//   word and hidden, and so is a carry of 32 bits, which is the upper half of such a sum, where it is not added.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

bool hideLowBits(ir::Function& function);

//   needs   SSA form
//   leaves  no product and no conversion to a float of what a driver can see to be a lowest bit, and no lowest bit of a
//           number of 64 bits
class LowBits : public Pass {
 public:
  std::string_view name() const override { return "low_bits"; }
  bool run(ir::Function& function, PassContext& context) override;
};

}  // namespace mulciber::passes
