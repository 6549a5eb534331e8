// Dominators of a function's reachable blocks, in near-linear time and without recursion.
#pragma once

#include <cstdint>
#include <vector>

#include "translator/ir/ir.h"

namespace mulciber::ir {

// A snapshot: edges or blocks added later are not seen.
class DominatorTree {
 public:
  explicit DominatorTree(const Function& function);

  // Every block comes after all its dominators, and after its predecessors except along retreating edges.
  const std::vector<Block*>& reversePostOrder() const { return order_; }
  uint32_t orderOf(const Block* block) const { return position_[block->id]; }
  bool isReachable(const Block* block) const { return block->id < position_.size() && position_[block->id] != none; }

  Block* immediateDominator(const Block* block) const { return dominator_[block->id]; }           // null for the entry
  bool dominates(const Block* a, const Block* b) const;                                           // both reachable
  const std::vector<Block*>& children(const Block* block) const { return children_[block->id]; }  // in order

 private:
  static constexpr uint32_t none = UINT32_MAX;
  void findOrder(const Function& function, std::vector<Block*>& preorder, std::vector<uint32_t>& parents);
  void findDominators(const std::vector<Block*>& preorder, const std::vector<uint32_t>& parents);
  void numberTree();

  std::vector<Block*> order_;
  std::vector<uint32_t> position_;
  std::vector<Block*> dominator_;
  std::vector<std::vector<Block*>> children_;
  std::vector<uint32_t> enter_, leave_;  // a tree walk's times: a dominates b when b's lie within a's
};

}  // namespace mulciber::ir
