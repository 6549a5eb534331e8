// Parts of a function that can be run twice, for what a first attempt got wrong: loads and arithmetic, whole loops of
// them, and branches between, with one entry.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "translator/analyses/exponentials.h"
#include "translator/ir/ir.h"

namespace mulciber::passes {

struct RepeatableRegion {
  ir::Block* entry = nullptr;
  std::vector<ir::Block*> blocks;  // the entry first, each behind one that leads to it
  // How many of the region's loops each is in; less than none behind a loop that the region begins in.
  std::unordered_map<const ir::Block*, int> depths;
  std::unordered_set<const ir::Block*> loopOfEntry;  // empty where the entry is in no loop of the region

  bool contains(const ir::Block* block) const { return depths.count(block) != 0; }
  // Whether an edge from one of its blocks stays in it: one back to the entry begins anew unless the loop is its own.
  bool keeps(const ir::Block* from, const ir::Block* to) const {
    return contains(to) && (to != entry || loopOfEntry.count(from) != 0);
  }
};

// Those with any of the multiply-adds `sums`. Splits blocks around what cannot be repeated; predecessors are right
// afterwards. Of loops with long rounds and factors that may be exponentials each round is a region: somewhere in all
// the rounds one is often so small that a multiply-add is wrong. Needs: all blocks are reachable, and nothing leads to
// the function's first.
std::vector<RepeatableRegion> findRepeatableRegions(ir::Function& function,
                                                    const std::unordered_set<const ir::Instruction*>& sums,
                                                    const analyses::Exponentials& exponentials);

}  // namespace mulciber::passes
