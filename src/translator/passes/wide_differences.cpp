#include "translator/passes/wide_differences.h"

#include "translator/passes/hidden_values.h"

namespace mulciber::passes {

using ir::Instruction;
using ir::Op;

bool hideWideSums(ir::Function& function) {
  HiddenValues hidden(function);
  for (const ir::Block* block : function.blocks)
    for (Instruction* i : block->instructions) {
      if ((i->op != Op::Add && i->op != Op::Sub) || i->type != ir::I64) continue;
      for (Instruction*& part : i->operands)
        if (part->op == Op::Sub || (part->op == Op::Add && i->op == Op::Sub)) part = hidden.hide(part);
    }
  return hidden.apply();
}

bool WideDifferences::run(ir::Function& function, PassContext& context) {
  return context.profile.losesCarries && hideWideSums(function);
}

}  // namespace mulciber::passes
