// Makes f32 multiply-adds keep denormals on a target whose own are fused but flush.
//
// The device's fma is right unless an operand or the result is denormal (or nearly zero), so it is taken at first. One
// branch for up to some tens of them in a basic block asks whether any may be wrong, and computes them, and what was
// made of them, again: in f64, or in integers. docs/arithmetic.md has the proof.
#pragma once

#include <unordered_set>

#include "mulciber/translator.h"
#include "translator/ir/ir.h"

namespace mulciber::passes {

// Of the function's multiply-adds those in `sums`, which round to nearest. Needs: variables not yet in SSA form, no
// structure yet (it splits blocks). What it puts in is exact on the target as it is: it comes behind legalize_floats.
void repairMultiplyAdds(ir::Function& function, const TargetProfile& profile,
                        const std::unordered_set<const ir::Instruction*>& sums);

}  // namespace mulciber::passes
