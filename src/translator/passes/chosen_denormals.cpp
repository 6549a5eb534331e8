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
  switch (constant.type.bits) {
    case 16: return (constant.payload & 0x7C00) == 0 && (constant.payload & 0x03FF) != 0;
    case 32: return (constant.payload & 0x7F80'0000) == 0 && (constant.payload & 0x007F'FFFF) != 0;
    default: return false;
  }
}

// legalize_floats has made zeros of denormal f32 constants; those of f16 stand as they are.
bool isDenormalHalf(const Instruction& operand) {
  return operand.isConstant() && operand.type.bits == 16 && isDenormal(operand);
}

bool isOneOfOperands(Op op) {
  switch (op) {
    case Op::Phi:
    case Op::Select:
    case Op::Bitcast:
    case Op::VecBuild:
    case Op::VecExtract:
    case Op::FNeg:
    case Op::FAbs: return true;
    default: return false;
  }
}

// Operations of f16 are among them: the device keeps f16 denormals, but its compiler makes zeros of constant ones.
bool mayFlush(const Instruction& i) {
  const ir::Family family = ir::family(i.op);
  return i.type.isFloat() && i.type.bits <= 32 &&
         (family == ir::Family::FloatArithmetic || family == ir::Family::FloatFunction) && !isOneOfOperands(i.op);
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
      if (!mayFlush(*i)) continue;
      // The result of such an operation may be denormal even where no operand is.
      const bool ofConstants = std::ranges::all_of(i->operands, [](const Instruction* x) { return x->isConstant(); });
      for (size_t n = 0; n < i->operands.size(); ++n) {
        Instruction*& operand = i->operands[n];
        const bool mayBeZeroed = operand->type.isFloat() && (mayBeDenormal[operand->id] || isDenormalHalf(*operand));
        if (mayBeZeroed || (ofConstants && n == 0)) operand = hidden.hide(operand);
      }
    }
  return hidden.apply();
}

bool ChosenDenormals::run(ir::Function& function, PassContext& context) {
  const TargetProfile& profile = context.profile;
  const bool deviceFlushes = profile.denormFlush32 || !profile.denormsByDefault32;
  return context.program.denormals32 == ir::Denormals::Flush && deviceFlushes && hideChosenDenormals(function);
}

}  // namespace mulciber::passes
