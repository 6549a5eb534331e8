#include "translator/passes/chosen_denormals.h"

#include <algorithm>
#include <vector>

#include "translator/analyses/fixpoint.h"
#include "translator/passes/hidden_values.h"

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;

bool isDenormal(const Instruction& constant) {
  return constant.type.bits == 32 && (constant.payload & 0x7F80'0000) == 0 && (constant.payload & 0x007F'FFFF) != 0;
}

bool isOneOfOperands(Op op) {
  switch (op) {
    case Op::Phi:
    case Op::Select:
    case Op::Bitcast:
    case Op::FNeg:
    case Op::FAbs: return true;
    default: return false;
  }
}

bool flushes(const Instruction& i) {
  const ir::Family family = ir::family(i.op);
  return i.type == ir::F32 && (family == ir::Family::FloatArithmetic || family == ir::Family::FloatFunction) &&
         !isOneOfOperands(i.op);
}

}  // namespace

bool hideChosenDenormals(ir::Function& function) {
  std::vector<bool> mayBeDenormal(function.instructionIdBound());
  analyses::updateUntilSettled(function, [&](const Instruction& i, const ir::Block&) {
    if (mayBeDenormal[i.id] || !isOneOfOperands(i.op)) return false;
    mayBeDenormal[i.id] = std::ranges::any_of(i.operands, [&](const Instruction* x) {
      return x->isConstant() ? isDenormal(*x) : bool{mayBeDenormal[x->id]};
    });
    return bool{mayBeDenormal[i.id]};
  });

  HiddenValues hidden(function);
  for (const ir::Block* block : function.blocks)
    for (Instruction* i : block->instructions) {
      if (!flushes(*i)) continue;
      if (std::ranges::all_of(i->operands, [](const Instruction* x) { return x->isConstant(); })) {
        i->operands[0] = hidden.hide(i->operands[0]);  // the result may be denormal
        continue;
      }
      for (Instruction*& operand : i->operands)
        if (operand->type == ir::F32 && mayBeDenormal[operand->id]) operand = hidden.hide(operand);
    }
  return hidden.apply();
}

bool leavesFlushingToDevice(const PassContext& context) {
  const TargetProfile& profile = context.profile;
  return context.program.denormals32 == ir::Denormals::Flush && (profile.denormFlush32 || !profile.denormsByDefault32);
}

bool ChosenDenormals::run(ir::Function& function, PassContext& context) {
  return leavesFlushingToDevice(context) && hideChosenDenormals(function);
}

}  // namespace mulciber::passes
