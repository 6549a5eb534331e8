#include "translator/passes/region_costs.h"

#include <algorithm>
#include <cmath>

#include "translator/passes/fma_run_finder.h"
#include "translator/passes/fma_runs.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;

// In operations: a comparison and a branch; what is done for each number that a region looks at, and for each sum of
// exponentials; a branch that has to wait for what was looked at, and one that leaves the region and asks for both at
// once.
constexpr double branch = 5, look = 2, exponentialSum = 4, wait = 10, joined = 3;
// What the count does not know: drivers move no loads and sums across the branches of runs.
constexpr double margin = 0.6;
// With more multiply-adds in a function drivers take too long to compile copies for that.
constexpr size_t many = 1000;
constexpr double marginOfMany = 1.5;

double weightOf(const RepeatableRegion& region, const Block* block) {
  return std::ldexp(1.0, 3 * std::min(region.depths.at(block), 6));
}

double costOfRuns(const RepeatableRegion& region, const std::unordered_set<const Instruction*>& sums,
                  const analyses::FloatRanges& ranges) {
  double cost = 0;
  for (const Block* block : region.blocks) {
    FmaRunFinder finder(sums, ranges, longestRun);
    auto end = [&] {
      const FmaRun run = finder.take();
      if (!run.isLookedAt()) return;
      cost += weightOf(region, block) * (branch + static_cast<double>(run.factors.size() + run.addends.size()));
    };
    for (Instruction* i : block->instructions) {
      if (finder.endsBefore(*i)) end();
      finder.add(i);
    }
    end();
  }
  return cost;
}

double costOfRegion(const RepeatableRegion& region, const RegionLooks& looks, const RegionDoubts& doubts) {
  double cost = branch + look * static_cast<double>(looks.atEntry.size());
  size_t inside = 0;
  for (const Block* block : region.blocks) {
    const double weight = weightOf(region, block);
    for (Instruction* i : block->instructions) {
      if (looks.values.count(i) != 0) {
        cost += weight * look;
        ++inside;
      }
      if (looks.exponentialSums.count(i) != 0) cost += weight * exponentialSum;
      if (doubts.loads.count(i) != 0) cost += weight * branch;
    }
    if (doubts.branches.count(block) != 0) {
      const auto& targets = block->terminator.targets;
      const bool leaves = targets.size() == 2 && region.keeps(block, targets[0]) != region.keeps(block, targets[1]);
      cost += weight * (leaves ? joined : wait);
    }
  }
  return cost + look * static_cast<double>(looks.values.size() - inside);
}

}  // namespace

bool isCheaperThanRuns(const RepeatableRegion& region, const RegionLooks& looks, const RegionDoubts& doubts,
                       const std::unordered_set<const Instruction*>& sums, const analyses::FloatRanges& ranges) {
  const double wanted = sums.size() > many ? marginOfMany : margin;
  return costOfRegion(region, looks, doubts) * wanted < costOfRuns(region, sums, ranges);
}

}  // namespace mulciber::passes
