// Multiply-adds that keep denormals, repaired some tens at a time: one branch asks whether any of them may be wrong,
// and computes them, and what was made of them, again, in f64 or in integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>

#include "mulciber/translator.h"
#include "translator/ir/ir.h"

namespace mulciber::passes {

// Long: up to 32 multiply-adds, first looked at with an operation for each number. Short: up to 4 of what is run
// seldom, which must not take registers from the rest, nor more code than it needs.
enum class RunLength : uint8_t { Long, Short };
constexpr size_t longestOf(RunLength length) { return length == RunLength::Long ? 32 : 4; }

// Of the function's multiply-adds those in `sums`. Splits blocks.
void repairInRuns(ir::Function& function, const TargetProfile& profile,
                  const std::unordered_set<const ir::Instruction*>& sums, RunLength length);

}  // namespace mulciber::passes
