#include "translator/passes/looped_constants.h"

#include <algorithm>

#include "translator/ir/dominators.h"
#include "translator/passes/hidden_values.h"
#include "translator/passes/structured_loops.h"

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;

// The vector that an instruction stores, where it is made of variables and constants and takes several registers.
Instruction* storedVector(const Instruction& i) {
  if (i.op != Op::Store || i.memory.space == ir::Space::Local) return nullptr;
  Instruction* value = i.operands[1];
  while (value->op == Op::Bitcast) value = value->operands[0];
  if (value->op != Op::VecBuild || value->type.totalBits() <= 32) return nullptr;
  const auto constants = std::ranges::count_if(value->operands, &Instruction::isConstant);
  return constants != 0 && static_cast<size_t>(constants) != value->operands.size() ? value : nullptr;
}

}  // namespace

bool hideLoopedConstants(ir::Function& function) {
  const ir::DominatorTree tree(function);
  const StructuredLoops loops(function, tree);
  HiddenValues hidden(function);
  for (const ir::Block* block : tree.reversePostOrder()) {
    if (!loops.around(block)) continue;
    for (const Instruction* i : block->instructions) {
      Instruction* vector = storedVector(*i);
      if (!vector) continue;
      for (Instruction*& part : vector->operands)
        if (part->isConstant()) part = hidden.hide(part);
    }
  }
  return hidden.apply();
}

bool LoopedConstants::run(ir::Function& function, PassContext& context) {
  return context.profile.misplacesLoopedConstants && hideLoopedConstants(function);
}

}  // namespace mulciber::passes
