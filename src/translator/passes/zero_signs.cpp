#include "translator/passes/zero_signs.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "translator/analyses/fixpoint.h"
#include "translator/analyses/known_values.h"
#include "translator/ir/float_bits.h"
#include "translator/passes/hidden_values.h"

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;

bool isNegativeZero(const Instruction& value) {
  return value.isConstant() && value.type.isFloat() && !value.type.isVector() && value.payload == signBit(value.type);
}

// What is stored may be loaded as another type, or half of it, and drivers put one in place of the other.
bool isStoredNegativeZero(const Instruction& value) {
  const ir::Type type = value.type;
  if (!value.isConstant() || type.isVector() || type.bits < 16) return false;
  constexpr uint64_t word = 0x8000'0000;
  const bool hasHalf = type.bits == 64 && (value.payload >> 32 == word || (value.payload & UINT32_MAX) == word);
  return hasHalf || value.payload == uint64_t(1) << (type.bits - 1);
}

// Numbers of which drivers may find that none is above or none below zero, and then take -0 for 0.
class ApparentSigns {
 public:
  explicit ApparentSigns(const ir::Function& function)
      : known_(function, analyses::KnownValues::Count::SureNumbers), apparent_(function.instructionIdBound()) {
    analyses::updateUntilSettled(function, [this](const Instruction& i, const ir::Block&) {
      if (apparent_[i.id] || !isApparent(i)) return false;
      apparent_[i.id] = true;
      return true;
    });
  }

  // What passes have hidden since then is not apparent.
  bool has(const Instruction* value) const { return value->id < apparent_.size() && apparent_[value->id]; }

 private:
  // Of what is not greater, or not less.
  bool givesSign(Op op, const Instruction& bound) const {
    if (!bound.isConstant()) return has(&bound);
    const uint64_t sign = signBit(bound.type);
    const bool isNegative = (bound.payload & sign) != 0, isZero = (bound.payload & ~sign) == 0;
    return isZero || isNegative == (op == Op::FMin);
  }
  bool isApparent(const Instruction& i) const {
    const auto has = [this](const Instruction* operand) { return this->has(operand); };
    switch (i.op) {
      case Op::FSqrt:
      case Op::FRsqrt:
      case Op::FAbs: return true;
      case Op::FMin:
      case Op::FMax:
        return std::ranges::all_of(i.operands, has) ||
               std::ranges::any_of(i.operands, [&](auto* bound) { return givesSign(i.op, *bound); });
      case Op::Select: return has(i.operands[1]) && has(i.operands[2]);
      case Op::Phi: return known_.mayBeKnown(&i) || std::ranges::all_of(i.operands, has);
      case Op::FMul:
        if (i.operands[0] == i.operands[1]) return true;
        [[fallthrough]];
      case Op::FAdd:
      case Op::FSub:
      case Op::FDiv:
      case Op::Fma:
      case Op::FNeg:
      case Op::FRcp:
      case Op::FFloor:
      case Op::FCeil:
      case Op::FTrunc:
      case Op::FRound:
      case Op::FConvert: return std::ranges::all_of(i.operands, has);
      default: return known_.mayBeKnown(&i);
    }
  }

  const analyses::KnownValues known_;
  std::vector<bool> apparent_;  // by instruction id
};

}  // namespace

bool keepZeroSigns(ir::Function& function) {
  std::optional<ApparentSigns> signs;  // few functions need them
  HiddenValues hidden(function);
  for (ir::Block* block : function.blocks)
    for (Instruction* i : block->instructions) {
      const bool looksAtSign = i->op == Op::FAbs || (i->op == Op::FSqrt && !i->fp.approximate);
      if (looksAtSign) {
        if (!signs) signs.emplace(function);
        if (signs->has(i->operands[0])) i->operands[0] = hidden.hide(i->operands[0]);
      }
      if (i->op == Op::Store || i->op == Op::VecBuild)  // which is stored as a vector
        for (Instruction*& stored : i->operands)
          if (isStoredNegativeZero(*stored)) stored = hidden.constant(stored->type, stored->payload);
      if (i->op != Op::Select && i->op != Op::Phi) continue;
      for (Instruction*& choice : i->operands)
        if (isNegativeZero(*choice)) choice = hidden.constant(choice->type, choice->payload);
    }
  return hidden.apply();
}

bool ZeroSigns::run(ir::Function& function, PassContext& context) {
  return context.profile.losesZeroSigns && keepZeroSigns(function);
}

}  // namespace mulciber::passes
