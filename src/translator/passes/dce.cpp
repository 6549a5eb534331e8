#include "translator/passes/dce.h"

#include <algorithm>

#include "translator/analyses/dependencies.h"

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
  std::vector<const Instruction*> roots;
  for (const ir::Block* block : function.blocks) {
    for (const Instruction* instruction : block->instructions)
      if (isRoot(*instruction)) roots.push_back(instruction);
    if (block->terminator.value) roots.push_back(block->terminator.value);
  }
  const std::vector<bool> isNeeded =
      analyses::findDependencies(function, roots, [](const Instruction&) { return true; });
  size_t removed = 0;
  for (ir::Block* block : function.blocks)
    removed +=
        std::erase_if(block->instructions, [&](const Instruction* instruction) { return !isNeeded[instruction->id]; });
  return removed != 0;
}

bool Dce::run(ir::Function& function, PassContext&) { return removeDeadInstructions(function); }

}  // namespace mulciber::passes
