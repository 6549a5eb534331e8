#include "translator/passes/fold_branches.h"

#include <algorithm>

#include "translator/passes/phis.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Merge;
using ir::Op;
using ir::Terminator;

Block* knownTarget(const Terminator& terminator) {
  if (!terminator.value || !terminator.value->isConstant()) return nullptr;
  if (terminator.kind == Terminator::Kind::Conditional) return terminator.targets[terminator.value->payload ? 0 : 1];
  auto found = std::find(terminator.cases.begin(), terminator.cases.end(), terminator.value->payload);
  if (found == terminator.cases.end()) return terminator.targets[0];
  return terminator.targets[size_t(found - terminator.cases.begin()) + 1];
}

std::vector<bool> reachableBlocks(const ir::Function& function) {
  std::vector<bool> reached(function.blockIdBound());
  std::vector<const Block*> work{function.blocks.front()};
  reached[function.blocks.front()->id] = true;
  while (!work.empty()) {
    const Block* block = work.back();
    work.pop_back();
    for (const Block* target : block->terminator.targets) {
      if (reached[target->id]) continue;
      reached[target->id] = true;
      work.push_back(target);
    }
  }
  return reached;
}

// Removes unreachable blocks, but for those that SPIR-V wants listed because a header names them.
void removeBlocks(ir::Function& function) {
  std::vector<bool> keep = reachableBlocks(function);
  std::vector<std::pair<Block*, Terminator>> stubs;
  for (const Block* header : function.blocks) {
    if (!keep[header->id] || header->merge.kind == Merge::Kind::None) continue;
    stubs.push_back({header->merge.merge, {Terminator::Kind::Unreachable, nullptr, {}, {}}});
    if (header->merge.continueTarget)
      stubs.push_back(
          {header->merge.continueTarget, {Terminator::Kind::Branch, nullptr, {const_cast<Block*>(header)}, {}}});
  }
  std::erase_if(stubs, [&](const auto& stub) { return keep[stub.first->id]; });
  for (auto& [block, terminator] : stubs) {
    block->instructions.clear();
    block->merge = {};
    block->terminator = std::move(terminator);
    keep[block->id] = true;
  }
  std::erase_if(function.blocks, [&](const Block* block) { return !keep[block->id]; });
}

// Brings phis in line with the predecessors that are left. From a block that is never reached any value will do.
void repairPhis(ir::Function& function) {
  std::vector<std::vector<Block*>> before(function.blockIdBound());
  for (Block* block : function.blocks) before[block->id] = block->predecessors;
  std::vector<bool> isReached = reachableBlocks(function), isDefined(function.instructionIdBound());
  for (const Block* block : function.blocks)
    for (const Instruction* instruction : block->instructions) isDefined[instruction->id] = true;
  function.computePredecessors();
  for (Block* block : function.blocks) {
    const auto& old = before[block->id];
    for (Instruction* phi : block->instructions) {
      if (phi->op != Op::Phi) break;
      std::vector<Instruction*> operands;
      for (const Block* predecessor : block->predecessors) {
        auto found = std::find(old.begin(), old.end(), predecessor);
        Instruction* operand = found == old.end() ? phi : phi->operands[size_t(found - old.begin())];
        operands.push_back(isReached[predecessor->id] && isDefined[operand->id] ? operand : phi);
      }
      phi->operands = std::move(operands);
    }
  }
}

bool foldOnce(ir::Function& function) {
  bool changed = false;
  for (Block* block : function.blocks) {
    Block* target = knownTarget(block->terminator);
    if (!target || block->merge.kind == Merge::Kind::Loop) continue;
    block->terminator = {Terminator::Kind::Branch, nullptr, {target}, {}};
    block->merge = {};
    changed = true;
  }
  if (!changed) return false;
  removeBlocks(function);
  repairPhis(function);
  removeTrivialPhis(function);
  return true;
}

}  // namespace

// What is left of a phi when one of its ways is gone may decide the next branch.
bool foldBranches(ir::Function& function) {
  bool changed = false;
  while (foldOnce(function)) changed = true;
  return changed;
}

bool FoldBranches::run(ir::Function& function, PassContext&) { return foldBranches(function); }

}  // namespace mulciber::passes
