#include "translator/analyses/barrier_hazards.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

namespace mulciber::analyses {
namespace {

using ir::Op;

// What may have happened on a path to a place since the last barrier, or may still happen on a path from it. What
// happened before another barrier, that one has ordered against all that comes after it.
enum Access : uint8_t { Read = 1, UnsettledRead = 2, Write = 4 };

bool touchesDevice(const ir::Instruction& i) {
  return i.memory.space == ir::Space::Global || i.memory.space == ir::Space::Generic;
}

// Loads that a store of their own block needs before any barrier there: they cannot be late.
std::unordered_set<const ir::Instruction*> settledLoads(const ir::Block& block) {
  constexpr unsigned deepest = 8;
  std::unordered_set<const ir::Instruction*> settled, sinceBarrier;
  auto settle = [&](auto& self, const ir::Instruction* value, unsigned depth) -> void {
    if (sinceBarrier.contains(value)) settled.insert(value);
    if (depth == deepest || value->op == Op::Phi) return;
    for (const ir::Instruction* operand : value->operands) self(self, operand, depth + 1);
  };
  for (const ir::Instruction* i : block.instructions) {
    if (i->op == Op::Barrier) sinceBarrier.clear();
    if (i->op == Op::Load) sinceBarrier.insert(i);
    if (i->op != Op::Store) continue;
    for (const ir::Instruction* operand : i->operands) settle(settle, operand, 0);
  }
  return settled;
}

class Analysis {
 public:
  explicit Analysis(const ir::Function& function) : function_(function) {
    for (const ir::Block* block : function.blocks) classify(*block);
    propagate();
  }

  BarrierHazards run() {
    BarrierHazards hazards;
    for (const ir::Block* block : function_.blocks) {
      std::vector<uint8_t> before;  // of each instruction
      uint8_t since = before_[block];
      for (const ir::Instruction* i : block->instructions) {
        before.push_back(since);
        since = (i->op == Op::Barrier ? 0 : since) | accessOf(i);
      }
      uint8_t after = 0;
      for (const ir::Block* target : block->terminator.targets) after |= from_[target];
      for (size_t n = block->instructions.size(); n-- > 0;) {
        const ir::Instruction* i = block->instructions[n];
        if (i->op == Op::Barrier) hazards[i] = judge(before[n], after);
        after |= accessOf(i);
      }
    }
    return hazards;
  }

 private:
  void classify(const ir::Block& block) {
    auto settled = settledLoads(block);
    for (const ir::Instruction* i : block.instructions) {
      uint8_t access = 0;
      if (i->op == Op::Load && touchesDevice(*i) && !i->memory.isReadOnly)
        access = settled.contains(i) ? Read : Read | UnsettledRead;
      if (i->op == Op::Store && touchesDevice(*i)) access = Write;
      if (ir::isAtomic(i->op) && touchesDevice(*i)) access = Read | UnsettledRead | Write;
      if (access != 0) accesses_[i] = access;
      inBlock_[&block] |= access;
      if (i->op == Op::Barrier) {
        sinceBarrier_[&block] = 0;
      } else if (auto found = sinceBarrier_.find(&block); found != sinceBarrier_.end()) {
        found->second |= access;
      }
    }
  }

  // At the end of a block.
  uint8_t behind(const ir::Block* block) {
    auto found = sinceBarrier_.find(block);
    return found != sinceBarrier_.end() ? found->second : before_[block] | inBlock_[block];
  }

  // Forwards what may have happened before each block, backwards what may happen in it and after it. A set grows a few
  // times at most, and only then are its block's neighbours looked at again.
  void propagate() {
    const auto& blocks = function_.blocks;
    std::vector<const ir::Block*> work(blocks.rbegin(), blocks.rend());
    auto widen = [](uint8_t& set, uint8_t more) {
      const bool grows = (set | more) != set;
      set |= more;
      return grows;
    };
    while (!work.empty()) {
      const ir::Block* block = work.back();
      work.pop_back();
      for (const ir::Block* target : block->terminator.targets)
        if (widen(before_[target], behind(block))) work.push_back(target);
    }
    work.assign(blocks.begin(), blocks.end());
    while (!work.empty()) {
      const ir::Block* block = work.back();
      work.pop_back();
      uint8_t from = inBlock_[block];
      for (const ir::Block* target : block->terminator.targets) from |= from_[target];
      if (widen(from_[block], from)) work.insert(work.end(), block->predecessors.begin(), block->predecessors.end());
    }
  }

  uint8_t accessOf(const ir::Instruction* i) const {
    const auto found = accesses_.find(i);
    return found != accesses_.end() ? found->second : 0;
  }

  static BarrierHazard judge(uint8_t before, uint8_t after) {
    bool writesBefore = before & Write, writesAfter = after & Write;
    if ((writesBefore && after != 0) || (writesAfter && (before & UnsettledRead))) return BarrierHazard::Any;
    return writesAfter && (before & Read) ? BarrierHazard::SettledRead : BarrierHazard::None;
  }

  const ir::Function& function_;
  std::unordered_map<const ir::Instruction*, uint8_t> accesses_;
  std::unordered_map<const ir::Block*, uint8_t> inBlock_, before_, from_;
  std::unordered_map<const ir::Block*, uint8_t> sinceBarrier_;  // of blocks with one: what comes after the last
};

}  // namespace

BarrierHazards findBarrierHazards(const ir::Function& function) {
  const bool hasBarriers = std::ranges::any_of(function.blocks, [](const ir::Block* block) {
    return std::ranges::any_of(block->instructions, [](const ir::Instruction* i) { return i->op == Op::Barrier; });
  });
  return hasBarriers ? Analysis(function).run() : BarrierHazards();
}

}  // namespace mulciber::analyses
