#include "translator/analyses/same_values.h"

namespace mulciber::analyses {

using ir::Block;
using ir::Instruction;
using ir::Op;

SameValues::SameValues(const ir::Function& function, const ir::DominatorTree& tree,
                       const std::vector<Instruction*>& roots)
    : held_(function.variables.size()), leaders_(function.instructionIdBound()) {
  findWrites(function);
  const std::vector<bool> isPart = findParts(function, roots);
  for (Block* block : tree.reversePostOrder())  // each behind its dominators
    for (Instruction* i : block->instructions)
      if (isPart[i->id] || (i->op == Op::WriteVar && isPart[i->operands[0]->id]))
        leaders_[i->id] = find(*i, block, tree);
}

void SameValues::findWrites(const ir::Function& function) {
  for (const Block* block : function.blocks)
    for (const Instruction* i : block->instructions) {
      if (i->op == Op::WriteVar) {
        ++held_[i->payload].writes;
        held_[i->payload].written = i->operands[0];
      }
      for (const ir::VariableId result : i->results) held_[result].writes = 2;  // of calls: not known here
    }
}

std::vector<bool> SameValues::findParts(const ir::Function& function, std::vector<Instruction*> roots) const {
  std::vector<bool> isPart(function.instructionIdBound());
  const auto add = [&](Instruction* i) {
    if (!isPart[i->id]) roots.push_back(i);
    isPart[i->id] = true;
  };
  for (const Instruction* root : std::vector(roots)) isPart[root->id] = true;
  while (!roots.empty()) {
    const Instruction* i = roots.back();
    roots.pop_back();
    if (i->op == Op::ReadVar && held_[i->payload].writes == 1) add(held_[i->payload].written);
    if (ir::isExpression(*i))
      for (Instruction* operand : i->operands) add(operand);
  }
  return isPart;
}

Instruction* SameValues::find(Instruction& instruction, const Block* block, const ir::DominatorTree& tree) {
  if (instruction.op == Op::WriteVar) {
    Held& held = held_[instruction.payload];
    if (held.writes == 1) held = {1, held.written, block, leader(instruction.operands[0])};
    return &instruction;
  }
  if (instruction.op == Op::ReadVar) {
    const Held& held = held_[instruction.payload];
    return held.since && tree.dominates(held.since, block) ? held.value : &instruction;
  }
  if (!ir::isExpression(instruction)) return &instruction;
  Instruction& copy = copies_.emplace_back(instruction);
  for (Instruction*& operand : copy.operands) operand = leader(operand);
  const auto [found, isNew] = known_.insert(&copy);
  if (!isNew) copies_.pop_back();
  return *found;
}

}  // namespace mulciber::analyses
