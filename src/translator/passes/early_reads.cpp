#include "translator/passes/early_reads.h"

#include <algorithm>
#include <vector>

#include "translator/analyses/dependencies.h"
#include "translator/passes/structured_loops.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;

bool isEarlyLoad(const Instruction& i) { return i.op == Op::Load && i.memory.mayComeEarly; }
bool mayMove(const Instruction& i) { return i.op != Op::Phi && (ir::isPure(i.op) || isEarlyLoad(i)); }

class Mover {
 public:
  explicit Mover(ir::Function& function)
      : function_(function), tree_(function), loops_(function, tree_), homes_(function.instructionIdBound()) {}

  bool run() {
    const std::vector<bool> isWanted = wanted();
    bool changed = false;
    for (Block* block : tree_.reversePostOrder()) {
      const std::vector<Instruction*> all = block->instructions;
      for (Instruction* i : all) {
        Block* const home = isWanted[i->id] && mayMove(*i) ? earliest(*i, block) : block;
        homes_[i->id] = home;
        if (home == block) continue;
        std::erase(block->instructions, i);
        home->instructions.push_back(i);
        changed = true;
      }
    }
    return changed;
  }

 private:
  // The loads, the numbers, and what they are made of.
  std::vector<bool> wanted() const {
    std::vector<const Instruction*> roots;
    for (const Block* block : tree_.reversePostOrder())
      for (const Instruction* i : block->instructions) {
        if (isEarlyLoad(*i)) roots.push_back(i);
        if (i->op == Op::ImageSample) roots.insert(roots.end(), i->operands.begin(), i->operands.begin() + 2);
      }
    return analyses::findDependencies(function_, roots, mayMove);
  }

  // What comes from outside a loop is there at the end of the block before it.
  Block* earliest(const Instruction& i, Block* block) const {
    while (const Block* loop = loops_.around(block)) {
      const bool isMadeInside = std::ranges::any_of(i.operands, [&](const Instruction* operand) {
        return homes_[operand->id] && loops_.isWithin(homes_[operand->id], loop);
      });
      if (isMadeInside) break;
      block = tree_.immediateDominator(loop);
    }
    return block;
  }

  ir::Function& function_;
  const ir::DominatorTree tree_;
  const StructuredLoops loops_;
  std::vector<Block*> homes_;  // by instruction id
};

}  // namespace

bool readBeforeLoops(ir::Function& function) {
  const auto isLoop = [](const Block* block) { return block->merge.kind == ir::Merge::Kind::Loop; };
  return std::ranges::any_of(function.blocks, isLoop) && Mover(function).run();
}

}  // namespace mulciber::passes
