// Keeps the compilers of devices that flush denormals from computing beforehand with denormal constants that the
// program chooses: of `(p ? x : 1e-40f) + 0` they make `p ? x + 0 : 1e-40f`, though an addition flushes. Nor do they
// flush the result of an operation on constants.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

// For kernels that leave the flushing to the device. passes/legalize_floats makes zeros of operands that are denormal
// constants themselves.
bool hideChosenDenormals(ir::Function& function);
bool leavesFlushingToDevice(const PassContext& context);

//   needs   SSA form, Form::Nearest
//   leaves  no operation of f32 whose operand a driver can see to be a denormal constant on one of several ways,
//           or all of whose operands are constants
class ChosenDenormals : public Pass {
 public:
  std::string_view name() const override { return "chosen_denormals"; }
  bool run(ir::Function& function, PassContext& context) override;
};

}  // namespace mulciber::passes
