// Makes f32 fma keep denormals on a target whose own is fused but flushes, where options.exactDenormals asks for it.
//
// The device's fma is right unless an operand or the result is denormal (or nearly zero). It is taken at first, as
// fma.ftz. One branch for up to some tens of multiply-adds of a basic block asks whether any of their operands and
// results is small, and computes them, and what was made of them, again: in f64, or in integers.
//
// Needs: variables not yet in SSA form, no structure yet (it splits blocks). It comes before float_exactness, which
// makes the operations it puts in exact.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

class FmaRepair : public Pass {
 public:
  std::string_view name() const override { return "fma_repair"; }
  bool run(ir::Function& function, PassContext& context) override;
};

}  // namespace mulciber::passes
