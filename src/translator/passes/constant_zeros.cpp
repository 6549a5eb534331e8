#include "translator/passes/constant_zeros.h"

#include <unordered_set>

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
  explicit Hiding(ir::Function& function) : known_(function), hidden_(function) {
    for (const ir::Block* block : function.blocks)
      for (const Instruction* i : block->instructions)
        if (isPrivateStore(*i) && i->operands[1]->isConstant()) stored_.insert(i->operands[1]->payload);
  }

  void visit(Instruction& i) {
    if (i.op == Op::Select || i.op == Op::Phi) return visitChoice(i);
    if (isPrivateStore(i)) return visitPrivateStore(i.operands[1]);
    if (!i.type.isFloat() || i.type.isVector()) return;
    switch (i.op) {
      case Op::FAdd:
      case Op::FSub:
      case Op::FDiv:
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
  // one. It recognises the constants by their bits, whatever their type. A float may also be one that it computes.
  void visitChoice(Instruction& i) {
    if (i.type.isBool() || i.type.isVector() || i.type.bits < 16) return;
    std::unordered_set<uint64_t> constants;
    const Instruction *known = nullptr, *otherKnown = nullptr;
    for (const Instruction* choice : i.operands) {
      if (choice->type != i.type || !known_.mayBeKnown(choice)) continue;  // the first may be a condition
      if (choice->isConstant()) constants.insert(choice->payload);
      if (!known) known = choice;
      if (choice != known) otherKnown = choice;
    }
    if (!otherKnown) return;
    for (Instruction*& choice : i.operands) {
      if (choice->type != i.type) continue;
      const bool isZero = choice->isConstant() && isZeroBesideOne(*choice, constants);
      const bool isComputed = i.type.isFloat() && !choice->isConstant() && known_.mayBeKnown(choice);
      // Where the driver knows which it is, it must not find the zero that hides this in what hides the choice.
      if (isZero || isComputed) choice = hidden_.hide(choice, ++choices_);
    }
  }
  // The driver keeps private memory in registers, and chooses between what is stored there.
  static bool isPrivateStore(const Instruction& i) {
    return i.op == Op::Store && i.memory.space == ir::Space::Local && !i.operands[1]->type.isVector() &&
           i.operands[1]->type.bits >= 16;
  }
  void visitPrivateStore(Instruction*& value) {
    // What hides the number where it is loaded must not take this away.
    if (value->isConstant() && isZeroBesideOne(*value, stored_)) value = hidden_.hide(value, ++choices_);
  }
  static bool isZeroBesideOne(const Instruction& zero, const std::unordered_set<uint64_t>& others) {
    const ir::Type number = ir::floatType(zero.type.bits);
    const uint64_t one = ir::one(number) | (zero.payload ^ signBit(number));
    return (zero.payload & ~signBit(number)) == 0 && others.contains(one);
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
  std::unordered_set<uint64_t> stored_;  // constants in private memory
  unsigned choices_ = 0;
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
