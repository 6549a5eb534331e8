// Multiply-adds that keep denormals, repaired some tens at a time: one branch asks whether any of them may be wrong,
// and computes them, and what was made of them, again: long runs by the device's multiply-adds of larger numbers, and
// what those cannot do, and short runs, in f64 or in integers.
#pragma once

#include <cstddef>
#include <unordered_set>

#include "mulciber/translator.h"
#include "translator/ir/ir.h"

namespace mulciber::passes {

inline constexpr size_t longestRun = 32;

// Of the function's multiply-adds those in `sums`, `longest` at a time. Splits blocks.
void repairInRuns(ir::Function& function, const TargetProfile& profile,
                  const std::unordered_set<const ir::Instruction*>& sums, size_t longest = longestRun);

}  // namespace mulciber::passes
