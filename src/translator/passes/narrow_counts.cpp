#include "translator/passes/narrow_counts.h"

#include "translator/passes/extended_numbers.h"
#include "translator/passes/hidden_values.h"

namespace mulciber::passes {

using ir::Instruction;
using ir::Op;

bool hideNarrowCounted(ir::Function& function) {
  HiddenValues hidden(function);
  for (const ir::Block* block : function.blocks)
    for (Instruction* i : block->instructions)
      if (i->op == Op::PopCount && mayBeExtended(*i->operands[0], Op::ZExt))
        i->operands[0] = hidden.hide(i->operands[0]);
  return hidden.apply();
}

bool NarrowCounts::run(ir::Function& function, PassContext& context) {
  return context.profile.countsBeyondNarrow && hideNarrowCounted(function);
}

}  // namespace mulciber::passes
