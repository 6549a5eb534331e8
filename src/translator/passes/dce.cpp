#include "translator/passes/dce.h"

#include <algorithm>

namespace mulciber::passes {
namespace {

using ir::Instruction;

bool isRoot(const Instruction& instruction) {
  if (ir::hasSideEffects(instruction.op)) return true;
  const ir::MemoryAccess& memory = instruction.memory;
  return instruction.op == ir::Op::Load && (memory.isVolatile || memory.order != ir::Order::Weak);
}

}  // namespace

bool removeDeadInstructions(ir::Function& function) {
  std::vector<bool> isNeeded(function.instructionIdBound());
  std::vector<const Instruction*> work;
  auto need = [&](const Instruction* instruction) {
    if (isNeeded[instruction->id]) return;
    isNeeded[instruction->id] = true;
    work.push_back(instruction);
  };
  for (const ir::Block* block : function.blocks) {
    for (const Instruction* instruction : block->instructions)
      if (isRoot(*instruction)) need(instruction);
    if (block->terminator.value) need(block->terminator.value);
  }
  while (!work.empty()) {
    const Instruction* instruction = work.back();
    work.pop_back();
    for (const Instruction* operand : instruction->operands) need(operand);
  }
  size_t removed = 0;
  for (ir::Block* block : function.blocks)
    removed +=
        std::erase_if(block->instructions, [&](const Instruction* instruction) { return !isNeeded[instruction->id]; });
  return removed != 0;
}

bool Dce::run(ir::Function& function, PassContext&) { return removeDeadInstructions(function); }

}  // namespace mulciber::passes
