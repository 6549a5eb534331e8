// Which blocks lead to operations that the lanes of a warp do together.
#pragma once

#include <unordered_set>
#include <vector>

#include "translator/ir/dominators.h"

namespace mulciber::analyses {

// A snapshot, of a function whose predecessors are known.
class ConvergentBlocks {
 public:
  explicit ConvergentBlocks(const ir::Function& function);

  // Whether a convergent operation lies in the arm that begins with `target`, where control comes from one of `from`.
  // A target that other code leads to comes after the arms, where their threads have met again.
  bool isConvergentArm(const ir::Block& target, const std::unordered_set<const ir::Block*>& from) const;

  const ir::DominatorTree& tree() const { return tree_; }

 private:
  ir::DominatorTree tree_;
  std::vector<bool> isConvergent_;  // by block: it or one that it dominates has such an operation
};

}  // namespace mulciber::analyses
