// What is known of each instruction from what is known of its operands, over loops as well.
#pragma once

#include "translator/ir/ir.h"

namespace mulciber::analyses {

// Calls `update(instruction, block)` for all instructions in order, again and again until no call returns true. Each
// call says whether it has changed what is known.
template <typename Update>
void updateUntilSettled(const ir::Function& function, Update update) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const ir::Block* block : function.blocks)
      for (const ir::Instruction* instruction : block->instructions) changed |= update(*instruction, *block);
  }
}

}  // namespace mulciber::analyses
