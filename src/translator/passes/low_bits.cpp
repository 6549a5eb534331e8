#include "translator/passes/low_bits.h"

#include "translator/passes/hidden_values.h"

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;

bool isConstant(const Instruction& i, uint64_t value) { return i.isConstant() && i.payload == value; }

bool isLowBit(const Instruction& i) {
  if (i.type.isBool() || i.type.isVector()) return false;
  const auto& x = i.operands;
  switch (i.op) {
    case Op::And: return isConstant(*x[0], 1) || isConstant(*x[1], 1);
    case Op::BitExtractU: return isConstant(*x[1], 0) && isConstant(*x[2], 1);
    case Op::URem: return isConstant(*x[1], 2);
    case Op::ZExt:
    case Op::SExt:
    case Op::Trunc: return isLowBit(*x[0]);
    default: return false;
  }
}

}  // namespace

bool hideLowBits(ir::Function& function) {
  HiddenValues hidden(function);
  for (const ir::Block* block : function.blocks)
    for (Instruction* i : block->instructions) {
      if (i->op != Op::Mul && i->op != Op::UToF && i->op != Op::SToF) continue;
      for (Instruction*& operand : i->operands)
        if (isLowBit(*operand)) operand = hidden.hide(operand);
    }
  return hidden.apply();
}

bool LowBits::run(ir::Function& function, PassContext& context) {
  return context.profile.mistakesLowBits && hideLowBits(function);
}

}  // namespace mulciber::passes
