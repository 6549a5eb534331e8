#include "translator/passes/control_flow.h"

#include <algorithm>
#include <unordered_set>

namespace mulciber::passes {

using ir::Block;

void redirect(Block& from, const Block* oldTarget, Block* newTarget) {
  for (Block*& target : from.terminator.targets)
    if (target == oldTarget) target = newTarget;
}

std::vector<Block*> uniqueTargets(const Block& block) {
  const auto& targets = block.terminator.targets;
  if (targets.size() < 2) return targets;
  std::vector<Block*> unique;
  std::unordered_set<const Block*> seen;
  for (Block* target : targets)
    if (seen.insert(target).second) unique.push_back(target);
  return unique;
}

void Selector::set(Block* block, size_t choice) {
  ir::Builder b(function_, block);
  b.write(variable_, isFlag_ ? b.boolean(choice != 0) : b.i32(static_cast<uint32_t>(choice)));
}

void Selector::dispatch(Block* block, const std::vector<Block*>& targets) {
  ir::Builder b(function_, block);
  if (targets.size() == 1) return b.branch(targets[0]);
  if (isFlag_) return b.branch(b.read(variable_), targets[1], targets[0]);
  std::vector<uint32_t> cases;
  for (uint32_t i = 1; i < targets.size(); ++i) cases.push_back(i);
  b.switchOn(b.read(variable_), targets[0], cases, {targets.data() + 1, targets.size() - 1});
}

void separateEntry(ir::Function& function) {
  function.removeUnreachableBlocks();
  function.computePredecessors();
  Block* entry = function.blocks.front();
  if (entry->predecessors.empty()) return;
  Block* fresh = function.addBlock();
  fresh->terminator = {ir::Terminator::Kind::Branch, nullptr, {entry}, {}};
  std::rotate(function.blocks.begin(), function.blocks.end() - 1, function.blocks.end());
}

}  // namespace mulciber::passes
