// Operations made of others, in the places where they stand.
#pragma once

#include "translator/ir/builder.h"

namespace mulciber::passes {

// `expand(builder, instruction)` emits what is to stand for an instruction and returns the last of it, or null to leave
// it. The instruction becomes that last step, so that its uses stay. True when something changed.
template <typename Expand>
bool expandInPlace(ir::Function& function, Expand expand) {
  bool changed = false;
  for (ir::Block* block : function.blocks) {
    ir::Block rewritten;
    ir::Builder b(function, &rewritten);
    for (ir::Instruction* instruction : block->instructions) {
      if (const ir::Instruction* last = expand(b, *instruction)) {
        instruction->op = last->op;
        instruction->fp = last->fp;
        instruction->operands = last->operands;
        changed = true;
      }
      rewritten.instructions.push_back(instruction);
    }
    block->instructions = std::move(rewritten.instructions);
  }
  return changed;
}

}  // namespace mulciber::passes
