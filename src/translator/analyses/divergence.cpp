#include "translator/analyses/divergence.h"

#include <algorithm>

#include "translator/ir/dominators.h"

namespace mulciber::analyses {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;

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

bool isMultipleOf32(const Instruction& constant) { return constant.isConstant() && constant.payload % 32 == 0; }

// Whether a comparison of a thread's number tells no two lanes of a warp apart.
bool comparesWarps(const Instruction& i) {
  const bool isLess = i.op == Op::ULt || i.op == Op::SLt, isLessOrEqual = i.op == Op::ULe || i.op == Op::SLe;
  if (!isLess && !isLessOrEqual) return false;
  const bool constantFirst = i.operands[0]->isConstant();
  const Instruction* bound = i.operands[constantFirst ? 0 : 1];
  // n < 32 k, n <= 32 k - 1, 32 k - 1 < n, 32 k <= n
  return bound->isConstant() && (bound->payload + (isLess == constantFirst ? 1 : 0)) % 32 == 0;
}

}  // namespace

Divergence::Divergence(const ir::Function& function, Among among, Branches branches)
    : function_(function),
      isAmongLanes_(among == Among::Warp),
      branchesCount_(branches == Branches::Count),
      levels_(function.instructionIdBound()),
      variableLevels_(function.variables.size()),
      isApart_(function.blockIdBound()),
      isJoin_(function.blockIdBound()),
      isDivergent_(function.blockIdBound()),
      meeting_(function.blockIdBound(), noBlock) {
  ir::Function reversed;
  reverse(function, reversed);
  ir::DominatorTree postDominators(reversed);
  for (const Block* block : function.blocks) {
    const Block* node = reversed.blocks[block->id + 1];
    const Block* next = postDominators.isReachable(node) ? postDominators.immediateDominator(node) : nullptr;
    if (next && next->id < function.blockIdBound()) meeting_[block->id] = next->id;
  }
  for (bool changed = true; changed;) changed = update();
}

bool Divergence::update() {
  bool changed = false;
  for (const Block* block : function_.blocks) {
    for (const Instruction* i : block->instructions) {
      const Level level = levelOf(*i, *block);
      if (level <= levels_[i->id]) continue;
      levels_[i->id] = level;
      changed = true;
      if (i->op == Op::WriteVar) variableLevels_[i->payload] = std::max(variableLevels_[i->payload], level);
    }
    const ir::Terminator& terminator = block->terminator;
    if (terminator.targets.size() < 2 || isDivergent_[block->id] || levels_[terminator.value->id] == Uniform) continue;
    isDivergent_[block->id] = changed = true;
    if (branchesCount_) part(*block);
  }
  return changed;
}

Divergence::Level Divergence::ofOperands(const Instruction& i) const {
  Level highest = Uniform;
  for (const Instruction* operand : i.operands) highest = std::max(highest, levels_[operand->id]);
  if (highest != Index) return highest;
  switch (i.op) {
    case Op::ReadVar:
    case Op::WriteVar:
    case Op::ZExt:
    case Op::SExt:
    case Op::Trunc: return Index;
    case Op::LShr:
    case Op::AShr: return i.operands[1]->isConstant() && i.operands[1]->payload >= 5 ? Uniform : Varying;
    case Op::And: return isMultipleOf32(*i.operands[0]) || isMultipleOf32(*i.operands[1]) ? Uniform : Varying;
    case Op::UDiv:
    case Op::SDiv: return isMultipleOf32(*i.operands[1]) ? Uniform : Varying;
    default: return comparesWarps(i) ? Uniform : Varying;
  }
}

Divergence::Level Divergence::levelOf(const Instruction& i, const Block& block) const {
  if (isAmongLanes_) {
    switch (i.op) {
      case Op::Input: {
        const auto kind = static_cast<ir::InputKind>(i.payload);
        if (kind == ir::InputKind::LocalIndex || kind == ir::InputKind::ThreadIdX) return Index;
        return kind == ir::InputKind::SubgroupId ? Uniform : ir::differsByThread(kind) ? Varying : Uniform;
      }
      case Op::Ballot:
      case Op::VoteAll:
      case Op::VoteAny: return isApart_[block.id] ? Varying : Uniform;
      case Op::Shuffle: return isApart_[block.id] ? Varying : levels_[i.operands[0]->id];
      default: break;
    }
  }
  const Level operands = ofOperands(i);
  if (operands == Varying) return Varying;
  bool varies = false;
  switch (i.op) {
    case Op::Phi: varies = isApart_[block.id] || isJoin_[block.id]; break;
    // Threads that are apart have written it, or not yet, each at its own time.
    case Op::WriteVar: varies = isApart_[block.id]; break;
    case Op::ReadVar: return variableLevels_[i.payload];
    case Op::Input: varies = ir::differsByThread(static_cast<ir::InputKind>(i.payload)); break;
    // Where threads go apart they may read at different times.
    case Op::Load: varies = isApart_[block.id] || mayReadDifferently(i.memory); break;
    default: varies = ir::isConvergent(i.op) || (ir::hasSideEffects(i.op) && !i.type.isVoid()); break;
  }
  return varies ? Varying : operands;
}

// Each thread has local memory of its own, and what is volatile or ordered may change between two threads' reads; the
// lanes of a warp read it at once.
bool Divergence::mayReadDifferently(const ir::MemoryAccess& memory) const {
  if (memory.space == ir::Space::Local || memory.space == ir::Space::Generic) return true;
  return !isAmongLanes_ && (memory.isVolatile || memory.order != ir::Order::Weak);
}

// Until they meet at the branch's post-dominator, its threads are apart.
void Divergence::part(const Block& branch) {
  const uint32_t end = meeting(branch);
  if (end != noBlock) isJoin_[end] = true;
  for (const Block* target : branch.terminator.targets)
    for (const Block* block : blocksUpTo(function_, target, end)) isApart_[block->id] = true;
}

std::vector<const Block*> blocksUpTo(const ir::Function& function, const Block* target, uint32_t end) {
  std::vector<const Block*> blocks, work{target};
  std::vector<bool> seen(function.blockIdBound());
  while (!work.empty()) {
    const Block* block = work.back();
    work.pop_back();
    if (block->id == end || seen[block->id]) continue;
    seen[block->id] = true;
    blocks.push_back(block);
    work.insert(work.end(), block->terminator.targets.begin(), block->terminator.targets.end());
  }
  return blocks;
}

const ir::Instruction* firstBarrier(const ir::Block& block) {
  const auto barrier = std::ranges::find(block.instructions, ir::Op::Barrier, &ir::Instruction::op);
  return barrier == block.instructions.end() ? nullptr : *barrier;
}

}  // namespace mulciber::analyses
