#include "translator/passes/apart_lanes.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "translator/analyses/divergence.h"
#include "translator/passes/control_flow.h"
#include "translator/passes/loop_forest.h"
#include "translator/passes/spin_loops.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;

// Where lanes come to first from one target of a branch: a barrier, in this round or a later one of a loop around both,
// or, as null, the place where the branch's lanes meet again.
using Stops = std::set<std::pair<const Instruction*, bool>>;

class BarriersApart {
 public:
  explicit BarriersApart(ir::Function& function)
      : function_(function), forest_(findLoops(function)), divergence_(function, analyses::Divergence::Among::Warp) {}

  bool find() const {
    return std::ranges::any_of(function_.blocks, [&](const Block* block) { return parts(*block); });
  }

 private:
  // Lanes that run to the end of the kernel do not count: nobody waits for them.
  bool parts(const Block& branch) const {
    if (!divergence_.isDivergent(branch)) return false;
    std::vector<Stops> sides;
    Stops all;
    for (const Block* target : branch.terminator.targets) {
      Stops stops = stopsFrom(branch, target);
      if (stops.empty()) continue;
      all.insert(stops.begin(), stops.end());
      sides.push_back(std::move(stops));
    }
    const bool hasApart = std::ranges::any_of(all, [](const auto& stop) { return stop.first && stop.first->payload; });
    return hasApart && sides.size() > 1 && all.size() > 1;
  }

  Stops stopsFrom(const Block& branch, const Block* target) const {
    const uint32_t meeting = divergence_.meeting(branch);
    Stops stops;
    // With each block the outermost loop around the branch that has begun a new round on the way there.
    std::set<std::pair<const Block*, uint32_t>> seen;
    std::vector<std::pair<const Block*, uint32_t>> work;
    auto goOn = [&](const Block* from, const Block* to, uint32_t round) {
      const uint32_t loop = forest_.loopOf(to);
      const bool isNewRound = forest_.isHeader(to) && forest_.contains(loop, from) && forest_.contains(loop, &branch);
      if (isNewRound && (round == LoopForest::none || forest_.contains(loop, round))) round = loop;
      if (seen.emplace(to, round).second) work.emplace_back(to, round);
    };
    goOn(&branch, target, LoopForest::none);
    while (!work.empty()) {
      const auto [block, round] = work.back();
      work.pop_back();
      if (block->id == meeting) {
        if (leadsToBarrier(block)) stops.emplace(nullptr, false);
      } else if (const Instruction* barrier = analyses::firstBarrier(*block)) {
        stops.emplace(barrier, round != LoopForest::none && forest_.contains(round, block));
      } else {
        for (const Block* next : block->terminator.targets) goOn(block, next, round);
      }
    }
    return stops;
  }

  bool leadsToBarrier(const Block* from) const {
    return std::ranges::any_of(analyses::blocksUpTo(function_, from, analyses::Divergence::noBlock),
                               [](const Block* block) { return analyses::firstBarrier(*block) != nullptr; });
  }

  ir::Function& function_;
  const LoopForest forest_;
  const analyses::Divergence divergence_;
};

// What lanes do on one side of a branch.
struct Side {
  std::vector<bool> blocks;  // by id
  std::vector<const Instruction*> waits;
};

// A side that ends what another waits for, in blocks that are not of both.
bool waitsFor(const Side& waiting, const Side& other, const std::vector<const Block*>& blocks,
              const std::vector<bool>& hasWaits) {
  return std::ranges::any_of(blocks, [&](const Block* block) {
    if (!other.blocks[block->id] || !mayEndWait(*block, waiting.waits)) return false;
    if (!waiting.blocks[block->id]) return true;
    return std::ranges::any_of(blocks, [&](const Block* wait) {
      return hasWaits[wait->id] && waiting.blocks[wait->id] && !other.blocks[wait->id];
    });
  });
}

template <class IsMeant>
bool hasAny(const ir::Program& program, const IsMeant& isMeant) {
  return std::ranges::any_of(program.functions, [&](const auto& function) {
    return std::ranges::any_of(function->blocks, [&](const Block* block) {
      return std::ranges::any_of(block->instructions, [&](const Instruction* i) { return isMeant(*function, i); });
    });
  });
}

}  // namespace

bool haveBarriersApart(ir::Function& function) {
  const bool hasAny = std::ranges::any_of(function.blocks, [](const Block* block) {
    return std::ranges::any_of(block->instructions,
                               [](const Instruction* i) { return i->op == Op::Barrier && i->payload; });
  });
  if (!hasAny) return false;
  function.removeUnreachableBlocks();
  separateEntry(function);
  return BarriersApart(function).find();
}

bool hasOrderedLoads(const ir::Program& program) {
  return hasAny(program, [](const ir::Function& function, const Instruction* i) {
    return function.isKernel ? isOrderedLoad(*i) : mayBeOrderedLoad(*i);
  });
}

bool hasPartBarriers(const ir::Program& program) {
  return hasAny(program, [](const ir::Function&, const Instruction* i) { return isPartBarrier(i); });
}

bool waitForEachOther(ir::Function& function) {
  const auto waits = accessesThatWait(function);
  std::vector<bool> hasWaits(function.blockIdBound());
  for (const Block* block : function.blocks)
    hasWaits[block->id] = std::ranges::any_of(
        block->instructions, [&](const Instruction* i) { return isOrderedLoad(*i) && waits.contains(i); });
  if (std::ranges::none_of(hasWaits, std::identity())) return false;
  const analyses::Divergence divergence(function, analyses::Divergence::Among::Warp);
  const std::vector<const Block*> all(function.blocks.begin(), function.blocks.end());
  for (const Block* branch : all) {
    if (!divergence.isDivergent(*branch)) continue;
    std::vector<Side> sides;
    for (const Block* target : branch->terminator.targets) {
      Side& side = sides.emplace_back(Side{std::vector<bool>(function.blockIdBound()), {}});
      for (const Block* block : analyses::blocksUpTo(function, target, divergence.meeting(*branch))) {
        side.blocks[block->id] = true;
        if (!hasWaits[block->id]) continue;
        for (const Instruction* i : block->instructions)
          if (isOrderedLoad(*i) && waits.contains(i)) side.waits.push_back(i);
      }
    }
    for (const Side& side : sides)
      for (const Side& other : sides)
        if (&side != &other && !side.waits.empty() && waitsFor(side, other, all, hasWaits)) return true;
  }
  return false;
}

}  // namespace mulciber::passes
