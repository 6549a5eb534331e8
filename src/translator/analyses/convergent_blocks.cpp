#include "translator/analyses/convergent_blocks.h"

#include <algorithm>

namespace mulciber::analyses {

using ir::Block;

ConvergentBlocks::ConvergentBlocks(const ir::Function& function)
    : tree_(function), isConvergent_(function.blockIdBound()) {
  const auto& order = tree_.reversePostOrder();
  for (size_t i = order.size(); i-- > 0;) {
    const auto& instructions = order[i]->instructions;
    if (std::any_of(instructions.begin(), instructions.end(),
                    [](const ir::Instruction* instruction) { return ir::isConvergent(instruction->op); }))
      isConvergent_[order[i]->id] = true;
    const Block* parent = tree_.immediateDominator(order[i]);
    if (parent && isConvergent_[order[i]->id]) isConvergent_[parent->id] = true;
  }
}

bool ConvergentBlocks::isConvergentArm(const Block& target, const std::unordered_set<const Block*>& from) const {
  return isConvergent_[target.id] &&
         std::all_of(target.predecessors.begin(), target.predecessors.end(), [&](const Block* predecessor) {
           return from.contains(predecessor) || tree_.dominates(&target, predecessor);
         });
}

}  // namespace mulciber::analyses
