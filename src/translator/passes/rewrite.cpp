#include "translator/passes/rewrite.h"

#include <algorithm>

namespace mulciber::passes {

using ir::Instruction;

void Replacements::replace(const Instruction* value, Instruction* by) {
  if (by_.size() < function_.instructionIdBound()) by_.resize(function_.instructionIdBound());
  by_[value->id] = by;
}

Instruction* Replacements::find(Instruction* value) {
  Instruction* result = value;
  while (isReplaced(result)) result = by_[result->id];
  while (isReplaced(value)) {  // shorten the way for the next time
    Instruction* next = by_[value->id];
    by_[value->id] = result;
    value = next;
  }
  return result;
}

void Replacements::apply() {
  for (ir::Block* block : function_.blocks) {
    std::erase_if(block->instructions, [&](const Instruction* instruction) { return isReplaced(instruction); });
    for (Instruction* instruction : block->instructions)
      for (Instruction*& operand : instruction->operands) operand = find(operand);
    if (block->terminator.value) block->terminator.value = find(block->terminator.value);
  }
}

}  // namespace mulciber::passes
