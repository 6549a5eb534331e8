// Regions whose multiply-adds are first taken as the device computes them, without a branch. What is looked at on the
// way decides at the region's exits whether a copy of it, whose multiply-adds are exact, is run instead.
#pragma once

#include <unordered_set>

#include "mulciber/translator.h"
#include "translator/ir/ir.h"

namespace mulciber::passes {

// Takes those of `sums` that are right where they stand out of it, and returns those of the copies, which are to be
// made exact. Regions may cost more than runs (fma_runs.h): `onlyCheaper` leaves the multiply-adds of such ones in
// `sums`. Needs: variables not yet in SSA form, no structure yet, no calls.
std::unordered_set<const ir::Instruction*> makeFastRegions(ir::Function& function, ir::Program& program,
                                                           const TargetProfile& profile,
                                                           std::unordered_set<const ir::Instruction*>& sums,
                                                           bool onlyCheaper);

}  // namespace mulciber::passes
