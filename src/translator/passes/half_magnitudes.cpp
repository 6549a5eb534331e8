#include "translator/passes/half_magnitudes.h"

#include "translator/passes/folded_flushes.h"
#include "translator/passes/hidden_values.h"

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;

// The place of the operand whose sign an integer operation clears or sets, where that is the bits of an f16 number.
Instruction** changedSign(Instruction& i) {
  if ((i.op != Op::And && i.op != Op::Or) || i.type != ir::I16) return nullptr;
  for (size_t n = 0; n < 2; ++n) {
    const Instruction *bits = i.operands[n], *mask = i.operands[1 - n];
    if (bits->op == Op::Bitcast && bits->operands[0]->type == ir::F16 && mask->isConstant() &&
        mask->payload == (i.op == Op::And ? 0x7FFF : 0x8000))
      return &i.operands[n];
  }
  return nullptr;
}

// Of one number or of a pair.
void makeIntegerOperation(Instruction& magnitude, HiddenValues& hidden) {
  Instruction* value = magnitude.operands[0];
  ir::Builder b = hidden.after(value);
  const ir::Type type = maskType(value->type);
  Instruction* bits = hidden.hide(b, b.bitcast(type, value));
  magnitude.op = Op::Bitcast;
  magnitude.fp = {};
  magnitude.operands = {b.bitAnd(bits, b.constant(type, type.bits == 16 ? 0x7FFF : 0x7FFF'7FFF))};
}

}  // namespace

bool hideHalfMagnitudes(ir::Function& function) {
  HiddenValues hidden(function);
  for (const ir::Block* block : function.blocks)
    for (Instruction* i : block->instructions) {
      if (i->op == Op::FAbs && i->type.scalar() == ir::F16) makeIntegerOperation(*i, hidden);
      else if (Instruction** bits = changedSign(*i)) *bits = hidden.hide(*bits);
    }
  return hidden.apply();
}

bool HalfMagnitudes::run(ir::Function& function, PassContext& context) {
  return leavesFlushingToDevice(context) && hideHalfMagnitudes(function);
}

}  // namespace mulciber::passes
