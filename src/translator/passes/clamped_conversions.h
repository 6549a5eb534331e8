// Keeps drivers from working out conversions of floats to integers that are to clamp.
//
// SPIR-V leaves open what becomes of a number out of range. Devices that clamp it (TargetProfile::saturatesToInteger)
// do so where they convert; what their driver knows it converts itself, as it likes: NVIDIA's takes an integer that
// became a float and then another integer for the same bits. So what is made of integers, or may be a constant to the
// driver, passes an operation that hides where it comes from.
//
// For profiles with `foldsConversions`. Needs: SSA.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

bool hideConverted(ir::Function& function);
// Where the device clamps. NVIDIA's compiler converts to 32 bits where it sees that only the lower half of a 64-bit
// result is used, or where the halves go apart: that half is clamped too. So all such results are hidden from it.
bool hideWideResults(ir::Function& function);

class ClampedConversions : public Pass {
 public:
  std::string_view name() const override { return "clamped_conversions"; }
  bool run(ir::Function& function, PassContext& context) override;
};

}  // namespace mulciber::passes
