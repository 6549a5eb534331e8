#include "translator/passes/switch_chains.h"

#include <algorithm>
#include <unordered_map>

#include "translator/analyses/convergent_blocks.h"
#include "translator/ir/builder.h"

namespace mulciber::passes {
namespace {

using ir::Block;

void chain(ir::Function& function, LoopForest& forest, Block* block) {
  ir::Terminator original = std::move(block->terminator);
  ir::VariableId variable = function.addVariable(ir::I32);
  ir::Builder b(function, block);
  b.write(variable, original.value);
  Block* otherwise = original.targets[0];
  std::vector<std::pair<Block*, std::vector<uint32_t>>> arms;
  std::unordered_map<Block*, size_t> armOf;
  for (size_t i = 0; i < original.cases.size(); ++i) {
    Block* target = original.targets[i + 1];
    if (target == otherwise) continue;
    auto [entry, isNew] = armOf.try_emplace(target, arms.size());
    if (isNew) arms.push_back({target, {}});
    arms[entry->second].second.push_back(original.cases[i]);
  }
  for (size_t i = 0; i < arms.size(); ++i) {
    ir::Instruction* value = b.read(variable);
    ir::Instruction* matches = nullptr;
    for (uint32_t number : arms[i].second) {
      ir::Instruction* equal = b.compare(ir::Op::IEq, value, b.i32(number));
      matches = matches ? b.bitOr(matches, equal) : equal;
    }
    Block* next = otherwise;
    if (i + 1 < arms.size()) {
      next = function.addBlock();
      forest.place(next, forest.loopOf(block));
    }
    b.branch(matches, arms[i].first, next);
    b.setBlock(next);
  }
  if (arms.empty()) b.branch(otherwise);
}

}  // namespace

void chainConvergentSwitches(ir::Function& function, LoopForest& forest) {
  auto isSwitch = [](const Block* block) { return block->terminator.kind == ir::Terminator::Kind::Switch; };
  if (std::none_of(function.blocks.begin(), function.blocks.end(), isSwitch)) return;
  function.computePredecessors();
  const analyses::ConvergentBlocks convergent(function);
  std::vector<Block*> chained;
  for (Block* block : convergent.tree().reversePostOrder()) {
    if (!isSwitch(block)) continue;
    const auto& targets = block->terminator.targets;
    if (std::any_of(targets.begin(), targets.end(),
                    [&](const Block* target) { return convergent.isConvergentArm(*target, {block}); }))
      chained.push_back(block);
  }
  for (Block* block : chained) chain(function, forest, block);
}

}  // namespace mulciber::passes
