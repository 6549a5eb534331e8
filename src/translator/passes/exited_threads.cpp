#include "translator/passes/exited_threads.h"

#include <algorithm>
#include <vector>

#include "translator/ir/dominators.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;

const Instruction* firstBarrier(const Block& block) {
  auto barrier = std::ranges::find(block.instructions, Op::Barrier, &Instruction::op);
  return barrier == block.instructions.end() ? nullptr : *barrier;
}

// The graph with its edges turned round and one more block, which leads to the ends: its dominators are the
// post-dominators. Block n stands for the block whose id is n; the entry is the last.
void reverse(const ir::Function& function, ir::Function& reversed) {
  std::vector<Block*> blocks;
  for (uint32_t id = 0; id <= function.blockIdBound(); ++id) blocks.push_back(reversed.addBlock());
  for (const Block* block : function.blocks) {
    const auto& targets = block->terminator.targets;
    for (const Block* target : targets) blocks[target->id]->terminator.targets.push_back(blocks[block->id]);
    if (targets.empty()) blocks.back()->terminator.targets.push_back(blocks[block->id]);
  }
  std::rotate(reversed.blocks.begin(), reversed.blocks.end() - 1, reversed.blocks.end());
}

// Which branches the threads of a block may take differently. A value is uniform when all threads that compute it, each
// the same number of barriers and rounds into the kernel, get the same.
class Divergence {
 public:
  explicit Divergence(const ir::Function& function)
      : function_(function),
        isVarying_(function.instructionIdBound()),
        variableVaries_(function.variables.size()),
        isApart_(function.blockIdBound()),
        isJoin_(function.blockIdBound()),
        isDivergent_(function.blockIdBound()),
        barrierApart_(function.blockIdBound()) {
    ir::Function reversed;
    reverse(function, reversed);
    ir::DominatorTree postDominators(reversed);
    for (const Block* block : function.blocks) {
      const Block* node = reversed.blocks[block->id + 1];
      const Block* next = postDominators.isReachable(node) ? postDominators.immediateDominator(node) : nullptr;
      meeting_.push_back(next ? next->id : noBlock);
    }
    for (bool changed = true; changed;) changed = update();
  }

  // A barrier that threads which part at the end of the block may come to before they meet again.
  const Instruction* barrierApart(const Block& block) const { return barrierApart_[block.id]; }

 private:
  static constexpr uint32_t noBlock = UINT32_MAX;

  bool update() {
    bool changed = false;
    for (size_t n = 0; n < function_.blocks.size(); ++n) {
      const Block& block = *function_.blocks[n];
      for (const Instruction* i : block.instructions) {
        if (isVarying_[i->id] || !varies(*i, block)) continue;
        isVarying_[i->id] = changed = true;
        if (i->op == Op::WriteVar) variableVaries_[i->payload] = true;
      }
      const ir::Terminator& terminator = block.terminator;
      if (terminator.targets.size() < 2 || isDivergent_[block.id] || !isVarying_[terminator.value->id]) continue;
      isDivergent_[block.id] = changed = true;
      part(block, meeting_[n]);
    }
    return changed;
  }

  bool varies(const Instruction& i, const Block& block) const {
    if (std::ranges::any_of(i.operands, [&](const Instruction* operand) { return isVarying_[operand->id]; }))
      return true;
    switch (i.op) {
      case Op::Phi: return isApart_[block.id] || isJoin_[block.id];
      // Threads that are apart have written it, or not yet, each at its own time.
      case Op::WriteVar: return isApart_[block.id];
      case Op::ReadVar: return variableVaries_[i.payload];
      case Op::Input: return ir::differsByThread(static_cast<ir::InputKind>(i.payload));
      // Where threads go apart they may read at different times.
      case Op::Load: return isApart_[block.id] || mayReadDifferently(i.memory);
      default: return ir::isConvergent(i.op) || (ir::hasSideEffects(i.op) && !i.type.isVoid());
    }
  }

  // Each thread has local memory of its own, and what is volatile or ordered may change between two threads' reads.
  static bool mayReadDifferently(const ir::MemoryAccess& memory) {
    return memory.space == ir::Space::Local || memory.space == ir::Space::Generic || memory.isVolatile ||
           memory.order != ir::Order::Weak;
  }

  // Until they meet at the branch's post-dominator, its threads are apart.
  void part(const Block& branch, uint32_t meeting) {
    std::vector<const Block*> work(branch.terminator.targets.begin(), branch.terminator.targets.end());
    std::vector<bool> seen(function_.blockIdBound());
    if (meeting < isJoin_.size()) isJoin_[meeting] = true;
    while (!work.empty()) {
      const Block* block = work.back();
      work.pop_back();
      if (block->id == meeting || seen[block->id]) continue;
      seen[block->id] = isApart_[block->id] = true;
      if (!barrierApart_[branch.id]) barrierApart_[branch.id] = firstBarrier(*block);
      work.insert(work.end(), block->terminator.targets.begin(), block->terminator.targets.end());
    }
  }

  const ir::Function& function_;
  std::vector<bool> isVarying_;         // by instruction id; a write to a variable: what it writes, or when
  std::vector<bool> variableVaries_;    // by variable: some write to it does
  std::vector<bool> isApart_, isJoin_;  // by block id: between a divergent branch and where its threads meet; there
  std::vector<bool> isDivergent_;       // by block id: threads may leave it for different targets
  std::vector<const Instruction*> barrierApart_;
  std::vector<uint32_t> meeting_;  // by place in the function: the id of the immediate post-dominator
};

}  // namespace

const Instruction* findBarrierWithoutExited(const ir::Function& function) {
  if (std::ranges::none_of(function.blocks, [](const Block* block) { return firstBarrier(*block) != nullptr; }))
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
      if (!mayEnd[(*block)->id] && !firstBarrier(**block) && leadsToEnd(*block)) mayEnd[(*block)->id] = changed = true;
  }

  Divergence divergence(function);
  for (const Block* block : function.blocks) {
    const Instruction* barrier = divergence.barrierApart(*block);
    if (barrier && leadsToEnd(block)) return barrier;
  }
  return nullptr;
}

}  // namespace mulciber::passes
