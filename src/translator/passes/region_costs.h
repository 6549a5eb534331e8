// Whether a region is cheaper than runs: how much is looked at on the way where no multiply-add turns out wrong.
#pragma once

#include <unordered_set>

#include "translator/analyses/float_ranges.h"
#include "translator/passes/region_doubts.h"
#include "translator/passes/region_looks.h"
#include "translator/passes/repeatable_regions.h"

namespace mulciber::passes {

// `sums`: the function's multiply-adds that may be wrong.
bool isCheaperThanRuns(const RepeatableRegion& region, const RegionLooks& looks, const RegionDoubts& doubts,
                       const std::unordered_set<const ir::Instruction*>& sums, const analyses::FloatRanges& ranges);

}  // namespace mulciber::passes
