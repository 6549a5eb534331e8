#include "translator/passes/warp_loops.h"

#include <algorithm>
#include <vector>

#include "translator/analyses/divergence.h"
#include "translator/ir/builder.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;

bool isOfWarp(const Instruction* i) { return ir::family(i->op) == ir::Family::Warp; }
bool hasWarpOperation(const Block* block) { return std::ranges::any_of(block->instructions, isOfWarp); }

void beginWithBarrier(ir::Function& function, Block& block) {
  Block barrier;
  ir::Builder(function, &barrier).emit(ir::Op::WarpBarrier, ir::Void, {});
  const auto place =
      std::ranges::find_if(block.instructions, [](const Instruction* i) { return i->op != ir::Op::Phi; });
  block.instructions.insert(place, barrier.instructions.begin(), barrier.instructions.end());
}

}  // namespace

bool joinLanesBehindLoops(ir::Function& function) {
  if (std::ranges::none_of(function.blocks, hasWarpOperation)) return false;
  const analyses::Divergence divergence(function, analyses::Divergence::Among::Warp);
  std::vector<Block*> ends;
  for (const Block* header : function.blocks) {
    if (header->merge.kind != ir::Merge::Kind::Loop) continue;
    Block* end = header->merge.merge;
    const std::vector<const Block*> loop = analyses::blocksUpTo(function, header, end->id);
    const auto parts = [&](const Block* block) { return divergence.isDivergent(*block); };
    if (std::ranges::any_of(loop, hasWarpOperation) && std::ranges::any_of(loop, parts)) ends.push_back(end);
  }
  for (Block* end : ends) beginWithBarrier(function, *end);
  return !ends.empty();
}

bool WarpLoops::run(ir::Function& function, PassContext& context) {
  return context.profile.crashesOnLoopFlags && joinLanesBehindLoops(function);
}

}  // namespace mulciber::passes
