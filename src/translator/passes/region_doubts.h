// What must not be done in a region before it is known whether its multiply-adds are right so far: to load from an
// address that is made of them, which might not exist, and to branch by them to what loads or loops.
#pragma once

#include <unordered_set>

#include "translator/passes/repeatable_regions.h"

namespace mulciber::passes {

struct RegionDoubts {
  std::unordered_set<const ir::Instruction*> loads;
  std::unordered_set<const ir::Block*> branches;  // at the ends of these blocks
  std::unordered_set<ir::VariableId> written;     // though perhaps they should not be: other branches do not wait

  bool any() const { return !loads.empty() || !branches.empty(); }
};

// `sums`: those that may be wrong.
RegionDoubts findDoubts(const RepeatableRegion& region, const std::unordered_set<const ir::Instruction*>& sums);

}  // namespace mulciber::passes
