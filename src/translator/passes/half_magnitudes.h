// Keeps drivers from making additions of the magnitudes of f16 numbers.
//
// In kernels whose f32 operations flush denormals, NVIDIA's compiler (580.159.04) adds zero to the magnitude and
// flushes too, though the device keeps f16 denormals. It also sees a magnitude where the sign bit of a result is
// cleared or set as a bit of an integer. So the bits are changed in an integer that passes an operation which hides
// where it comes from.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

bool hideHalfMagnitudes(ir::Function& function);

//   needs   SSA form
//   leaves  no FAbs of f16, nor an integer operation that a driver can see to be one
class HalfMagnitudes : public Pass {
 public:
  std::string_view name() const override { return "half_magnitudes"; }
  bool run(ir::Function& function, PassContext& context) override;
};

}  // namespace mulciber::passes
