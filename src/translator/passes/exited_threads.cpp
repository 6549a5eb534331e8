#include "translator/passes/exited_threads.h"

#include <algorithm>
#include <vector>

#include "translator/analyses/divergence.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;

// A barrier that threads which part at the end of the block may come to before they meet again.
const Instruction* barrierApart(const ir::Function& function, const analyses::Divergence& divergence,
                                const Block& branch) {
  if (!divergence.isDivergent(branch)) return nullptr;
  for (const Block* target : branch.terminator.targets)
    for (const Block* block : analyses::blocksUpTo(function, target, divergence.meeting(branch)))
      if (const Instruction* barrier = analyses::firstBarrier(*block)) return barrier;
  return nullptr;
}

}  // namespace

const Instruction* findBarrierWithoutExited(const ir::Function& function) {
  if (std::ranges::none_of(function.blocks,
                           [](const Block* block) { return analyses::firstBarrier(*block) != nullptr; }))
    return nullptr;

  // Whether control may come from the begin of a block to an end, past no barrier.
  std::vector<bool> mayEnd(function.blockIdBound());
  auto leadsToEnd = [&](const Block* block) {
    auto ends = [&](const Block* target) { return mayEnd[target->id]; };
    return block->terminator.kind == ir::Terminator::Kind::Return ||
           std::ranges::any_of(block->terminator.targets, ends);
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (auto block = function.blocks.rbegin(); block != function.blocks.rend(); ++block)
      if (!mayEnd[(*block)->id] && !analyses::firstBarrier(**block) && leadsToEnd(*block))
        mayEnd[(*block)->id] = changed = true;
  }

  const analyses::Divergence divergence(function, analyses::Divergence::Among::Block);
  for (const Block* block : function.blocks) {
    if (!leadsToEnd(block)) continue;
    if (const Instruction* barrier = barrierApart(function, divergence, *block)) return barrier;
  }
  return nullptr;
}

}  // namespace mulciber::passes
