// Keeps drivers from working out conversions of floats to integers that are to clamp.
//
// SPIR-V leaves open what becomes of a number out of range. Devices that clamp it (TargetProfile::saturatesToInteger)
// do so where they convert; what their driver knows it converts itself, as it likes: NVIDIA's takes an integer that
// became a float and then another integer for the same bits. So what is made of integers, or may be a constant to the
// driver, passes an operation that hides where it comes from.
//
// Needs: SSA.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

bool hideConverted(ir::Function& function);

class ClampedConversions : public Pass {
 public:
  std::string_view name() const override { return "clamped_conversions"; }
  bool run(ir::Function& function, PassContext& context) override;
};

}  // namespace mulciber::passes
