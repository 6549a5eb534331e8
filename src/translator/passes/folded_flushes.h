// Keeps the compilers of devices that flush denormals from working out operations beforehand: they do so without
// flushing. Of `(p ? x : 1e-40f) + 0` they make `p ? x + 0 : 1e-40f`, and where they find a factor to be one, by
// unrolling a loop or resolving a selection, they leave the product out and keep the other factor as it is.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

// For kernels that leave the flushing to the device. passes/legalize_floats has done the same for operands that are
// constants as they stand.
bool hideFoldedFlushes(ir::Function& function);
bool leavesFlushingToDevice(const PassContext& context);

//   needs   SSA form, Form::Nearest
//   leaves  no operation of f32 that a driver can work out of constants, of which an operand may be found to be a
//           denormal, or which it can leave out for one that may be found to be one or zero
class FoldedFlushes : public Pass {
 public:
  std::string_view name() const override { return "folded_flushes"; }
  bool run(ir::Function& function, PassContext& context) override;
};

}  // namespace mulciber::passes
