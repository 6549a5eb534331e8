#include "translator/passes/constant_zeros.h"

#include "translator/ir/float_bits.h"
#include "translator/passes/expand.h"

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;

bool isPositiveZero(const Instruction& value) { return value.isConstant() && value.payload == 0; }
bool isNegativeZero(const Instruction& value) { return value.isConstant() && value.payload == signBit(value.type); }
bool isZero(const Instruction& value) { return isPositiveZero(value) || isNegativeZero(value); }

bool isUnit(const Instruction& value) {  // 1 or -1
  return value.isConstant() && (value.payload & (signBit(value.type) - 1)) == one(value.type);
}

// x + 0, x - (-0), 0 - x and the fused sum of x or -x and 0, none of which is -0. Not by a comparison of floats, of
// which drivers know too much.
Instruction* withoutMinusZero(ir::Builder& b, const Instruction& sum) {
  Instruction* copy = b.emit(sum.op, sum.type, {});
  copy->operands = sum.operands;
  copy->fp = sum.fp;
  Instruction* pattern = b.bitcast(sum.type.asInt(), copy);
  Instruction* isMinusZero = b.compare(Op::IEq, pattern, b.constant(pattern->type, signBit(sum.type)));
  return b.select(isMinusZero, b.constant(sum.type, 0), copy);
}

// As a product with an infinity: zeros give NaNs, and all else infinities of the sign that quotients have.
Instruction* dividedByZero(ir::Builder& b, Instruction* x, const Instruction& zero) {
  return b.binary(Op::FMul, x, b.constant(x->type, infinity(x->type) | zero.payload));
}

// A zero, but for 0 / 0 and NaNs.
Instruction* zeroDivided(ir::Builder& b, const Instruction& zero, Instruction* x) {
  Instruction* pattern = b.bitcast(x->type.asInt(), x);
  auto constant = [&](uint64_t bits) { return b.constant(pattern->type, bits); };
  Instruction* magnitude = b.bitAnd(pattern, constant(signBit(x->type) - 1));
  Instruction* quotient =
      b.bitcast(x->type, b.bitAnd(b.bitXor(pattern, constant(zero.payload)), constant(signBit(x->type))));
  Instruction* isNumber =
      b.bitAnd(b.compare(Op::INe, magnitude, constant(0)), b.compare(Op::ULe, magnitude, constant(infinity(x->type))));
  return b.select(isNumber, quotient, b.binary(Op::FMul, x, b.constant(x->type, infinity(x->type))));
}

Instruction* expand(ir::Builder& b, const Instruction& i) {
  if (!i.type.isFloat() || i.type.isVector() || i.operands.empty()) return nullptr;
  Instruction *x = i.operands[0], *y = i.operands.back();
  switch (i.op) {
    case Op::FAdd: return isPositiveZero(*x) || isPositiveZero(*y) ? withoutMinusZero(b, i) : nullptr;
    case Op::FSub: return isPositiveZero(*x) || isNegativeZero(*y) ? withoutMinusZero(b, i) : nullptr;
    case Op::Fma:
      return isPositiveZero(*y) && (isUnit(*x) || isUnit(*i.operands[1])) ? withoutMinusZero(b, i) : nullptr;
    case Op::FDiv: return isZero(*y) ? dividedByZero(b, x, *y) : isZero(*x) ? zeroDivided(b, *x, y) : nullptr;
    case Op::FAbs: return isNegativeZero(*x) ? b.bitcast(i.type, b.constant(i.type.asInt(), 0)) : nullptr;
    default: return nullptr;
  }
}

}  // namespace

bool protectConstantZeros(ir::Function& function) { return expandInPlace(function, expand); }

bool ConstantZeros::run(ir::Function& function, PassContext& context) {
  return context.profile.foldsZeros && protectConstantZeros(function);
}

}  // namespace mulciber::passes
