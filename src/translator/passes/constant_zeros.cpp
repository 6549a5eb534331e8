#include "translator/passes/constant_zeros.h"

#include <algorithm>

#include "translator/analyses/known_values.h"
#include "translator/ir/float_bits.h"
#include "translator/passes/hidden_values.h"

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;

bool isZero(const Instruction& constant) { return (constant.payload & (signBit(constant.type) - 1)) == 0; }

// Whether the operand is a zero that leaves the other one as it is, or negates it, also where that is a zero.
bool isNeutral(const Instruction& i, size_t operand) {
  const Instruction& zero = *i.operands[operand];
  if (!zero.isConstant() || (i.op != Op::FAdd && i.op != Op::FSub)) return false;
  const bool isNegative = zero.payload != 0;
  return isNegative == (i.op == Op::FAdd || operand == 0);
}

class Hiding {
 public:
  explicit Hiding(ir::Function& function) : known_(function), hidden_(function) {}

  void visit(Instruction& i) {
    if (i.op == Op::Select || i.op == Op::Phi) return visitChoice(i);
    if (!i.type.isFloat() || i.type.isVector()) return;
    switch (i.op) {
      case Op::FAdd:
      case Op::FSub:
      case Op::FDiv:
      case Op::FAbs:
        for (size_t n = 0; n < i.operands.size(); ++n)
          if (mayBeZero(i.operands[n]) && !isNeutral(i, n)) hide(i.operands[n]);
        break;
      case Op::Fma: visitFma(i.operands[0], i.operands[1], i.operands[2]); break;
      default: break;
    }
  }
  bool apply() { return hidden_.apply(); }

 private:
  // Instead of choosing between 1 and -0, or -1 and 0, the driver converts a boolean, and its zero gets the sign of the
  // one. It recognises the constants by their bits, whatever their type.
  void visitChoice(Instruction& i) {
    const ir::Type type = i.type;
    if (type.isBool() || type.isVector() || type.bits < 16) return;
    const ir::Type number = ir::floatType(type.bits);
    for (Instruction*& zero : i.operands) {
      if (!zero->isConstant() || (zero->payload & ~signBit(number)) != 0) continue;
      const uint64_t one = ir::one(number) | (zero->payload ^ signBit(number));
      const auto isOne = [one](const Instruction* value) { return value->isConstant() && value->payload == one; };
      if (std::ranges::any_of(i.operands, isOne)) hide(zero);
    }
  }
  void visitFma(Instruction*& x, Instruction* y, Instruction*& z) {
    const bool isXKnown = known_.mayBeKnown(x), isYKnown = known_.mayBeKnown(y);
    if ((isXKnown || isYKnown) && mayBeZero(z)) hide(z);
    if (known_.mayRoundProduct(x, y) || (isXKnown && isYKnown && (mayBeZero(x) || mayBeZero(y)))) hide(x);
  }
  bool mayBeZero(const Instruction* value) const {
    return value->isConstant() ? isZero(*value) : known_.mayBeKnown(value);
  }
  void hide(Instruction*& value) { value = hidden_.hide(value); }

  const analyses::KnownValues known_;
  HiddenValues hidden_;
};

}  // namespace

bool hideConstantZeros(ir::Function& function) {
  Hiding hiding(function);
  for (const ir::Block* block : function.blocks)
    for (Instruction* i : block->instructions) hiding.visit(*i);
  return hiding.apply();
}

bool ConstantZeros::run(ir::Function& function, PassContext& context) {
  return context.profile.foldsZeros && hideConstantZeros(function);
}

}  // namespace mulciber::passes
