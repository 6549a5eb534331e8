// The loops of a function, nested, each with a single header. Irreducible regions get one on the way.
#pragma once

#include <cstdint>
#include <vector>

#include "translator/ir/ir.h"

namespace mulciber::passes {

class LoopForest {
 public:
  static constexpr uint32_t none = UINT32_MAX;

  struct Loop {
    ir::Block* header = nullptr;
    uint32_t parent = none;
    uint32_t depth = 0;
    ir::Block* landing = nullptr;  // where all exits go, once loop_exits has run; null when there is none
    bool dontUnroll = false;
    bool releasesLock = false;  // see spin_loops.h: all threads pass the loop's end, also those that leave
  };
  std::vector<Loop> loops;

  uint32_t loopOf(const ir::Block* block) const { return block->id < loopOf_.size() ? loopOf_[block->id] : none; }
  void place(const ir::Block* block, uint32_t loop);
  bool isHeader(const ir::Block* block) const {
    uint32_t loop = loopOf(block);
    return loop != none && loops[loop].header == block;
  }
  // Whether `inner` is `outer` or inside it. Everything is inside `none`.
  bool contains(uint32_t outer, uint32_t inner) const;
  void updateDepths();  // after loops were given other parents
  bool contains(uint32_t loop, const ir::Block* block) const { return contains(loop, loopOf(block)); }

 private:
  std::vector<uint32_t> loopOf_;  // by block id
};

// Finds the loops as nested strongly connected components. A component with several entries gets a dispatch block:
// every edge into an entry sets a selector and goes there, and the dispatch block is the loop's header.
// The function's entry has no predecessors and all blocks are reachable.
LoopForest findLoops(ir::Function& function);

}  // namespace mulciber::passes
