#include "translator/passes/structured_loops.h"

namespace mulciber::passes {

using ir::Block;
using ir::Merge;

// A loop has no other way out than to its merge block.
StructuredLoops::StructuredLoops(const ir::Function& function, const ir::DominatorTree& tree)
    : loops_(function.blockIdBound()) {
  for (Block* block : tree.reversePostOrder()) {
    const Block* before = tree.immediateDominator(block);
    Block* loop = before ? loops_[before->id] : nullptr;
    while (loop && loop->merge.merge == block) loop = outer_.at(loop);
    if (block->merge.kind == Merge::Kind::Loop) {
      outer_[block] = loop;
      loop = block;
    }
    loops_[block->id] = loop;
  }
}

bool StructuredLoops::isWithin(const Block* block, const Block* loop) const {
  const Block* inner = loops_[block->id];
  while (inner && inner != loop) inner = outer_.at(inner);
  return inner == loop;
}

}  // namespace mulciber::passes
