// The loops of a structured function.
#pragma once

#include <unordered_map>
#include <vector>

#include "translator/ir/dominators.h"

namespace mulciber::passes {

class StructuredLoops {
 public:
  StructuredLoops(const ir::Function& function, const ir::DominatorTree& tree);

  // By its header; null where there is none.
  ir::Block* around(const ir::Block* block) const { return loops_[block->id]; }
  ir::Block* outside(const ir::Block* loop) const { return outer_.at(loop); }
  bool isWithin(const ir::Block* block, const ir::Block* loop) const;

 private:
  std::vector<ir::Block*> loops_;                           // the innermost, by block id
  std::unordered_map<const ir::Block*, ir::Block*> outer_;  // by header: the loop around its loop
};

}  // namespace mulciber::passes
