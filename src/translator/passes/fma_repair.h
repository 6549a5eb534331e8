// Makes f32 multiply-adds keep denormals on a target whose own are fused but flush.
//
// The device's fma is right unless an operand or the result is denormal (or nearly zero), so it is taken at first, and
// what may be wrong is computed again: whole regions (fast_regions.h), or some tens of multiply-adds (fma_runs.h).
// docs/arithmetic.md has the proof.
#pragma once

#include <cstdint>
#include <unordered_set>

#include "translator/ir/ir.h"
#include "translator/passes/pass.h"

namespace mulciber::passes {

// Regions: wherever there can be any. Cheaper: where they cost less than runs.
enum class Repair : uint8_t { Runs, Regions, Cheaper };

// Of the function's multiply-adds those in `sums`, which round to nearest. Needs: variables not yet in SSA form, no
// structure yet (it splits blocks), no calls. What it puts in is exact on the target as it is: it comes behind
// legalize_floats.
void repairMultiplyAdds(ir::Function& function, PassContext& context, Repair repair,
                        std::unordered_set<const ir::Instruction*> sums);

}  // namespace mulciber::passes
