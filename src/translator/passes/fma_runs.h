// Multiply-adds that keep denormals, repaired some tens at a time: one branch asks whether any of them may be wrong,
// and computes them, and what was made of them, again, in f64 or in integers.
#pragma once

#include <unordered_set>

#include "mulciber/translator.h"
#include "translator/ir/ir.h"

namespace mulciber::passes {

// Of the function's multiply-adds those in `sums`. Splits blocks.
void repairInRuns(ir::Function& function, const TargetProfile& profile,
                  const std::unordered_set<const ir::Instruction*>& sums);

}  // namespace mulciber::passes
