#include "translator/passes/first_rounds.h"

#include <algorithm>

#include "translator/passes/hidden_values.h"

namespace mulciber::passes {

using ir::Block;
using ir::Instruction;

bool hideFirstRounds(ir::Function& function) {
  HiddenValues hidden(function);
  for (const Block* header : function.blocks) {
    if (header->merge.kind != ir::Merge::Kind::Loop) continue;
    for (Instruction* phi : header->instructions) {
      if (phi->op != ir::Op::Phi) break;
      if (!std::ranges::all_of(phi->operands, &Instruction::isConstant)) continue;
      for (size_t n = 0; n < phi->operands.size(); ++n)
        if (header->predecessors[n] != header->merge.continueTarget) phi->operands[n] = hidden.hide(phi->operands[n]);
    }
  }
  return hidden.apply();
}

bool FirstRounds::run(ir::Function& function, PassContext& context) {
  return context.profile.crashesOnFirstRounds && hideFirstRounds(function);
}

}  // namespace mulciber::passes
