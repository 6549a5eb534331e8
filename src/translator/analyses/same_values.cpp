#include "translator/analyses/same_values.h"

namespace mulciber::analyses {

using ir::Block;
using ir::Instruction;
using ir::Op;

SameValues::SameValues(const ir::Function& function, const ir::DominatorTree& tree)
    : held_(function.variables.size()), leaders_(function.instructionIdBound()) {
  countWrites(function);
  for (Block* block : tree.reversePostOrder())  // each behind its dominators
    for (Instruction* instruction : block->instructions) leaders_[instruction->id] = find(*instruction, block, tree);
}

void SameValues::countWrites(const ir::Function& function) {
  for (const Block* block : function.blocks)
    for (const Instruction* i : block->instructions) {
      if (i->op == Op::WriteVar) ++held_[i->payload].writes;
      for (const ir::VariableId result : i->results) held_[result].writes = 2;  // of calls: not known here
    }
}

Instruction* SameValues::find(Instruction& instruction, const Block* block, const ir::DominatorTree& tree) {
  if (instruction.op == Op::WriteVar) {
    Held& held = held_[instruction.payload];
    if (held.writes == 1) held = {1, block, leader(instruction.operands[0])};
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
