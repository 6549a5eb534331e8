#include "translator/passes/divisions.h"

#include "translator/passes/expand.h"

namespace mulciber::passes {
namespace {

using ir::InputKind;
using ir::Instruction;
using ir::Op;

bool isDivision(const Instruction& instruction) {
  switch (instruction.op) {
    case Op::UDiv:
    case Op::SDiv:
    case Op::URem:
    case Op::SRem: return instruction.type == ir::I32;
    default: return false;
  }
}

bool isKnownToDriver(const Instruction& value) {
  if (value.isConstant()) return true;
  if (value.op != Op::Input) return false;
  const auto kind = static_cast<InputKind>(value.payload);
  return kind == InputKind::BlockDimX || kind == InputKind::BlockDimY || kind == InputKind::BlockDimZ;
}

struct Division {
  Instruction *quotient, *remainder;
};

// docs/arithmetic.md shows why two corrections are enough.
Division divide(ir::Builder& b, Instruction* n, Instruction* d) {
  constexpr ir::FloatControl approximate{ir::Rounding::NearestEven, false, true};
  Instruction* almostTwoTo32 = b.constant(ir::F32, 0x4F7FFFF8);
  Instruction* inverse = b.floating(Op::FRcp, approximate, {b.convert(Op::UToF, ir::F32, d)});
  Instruction* z = b.convert(Op::FToU, ir::I32, b.floating(Op::FMul, {}, {inverse, almostTwoTo32}));
  z = b.add(z, b.binary(Op::MulHiU, z, b.mul(b.unary(Op::Neg, d), z)));
  Instruction* quotient = b.binary(Op::MulHiU, n, z);
  Instruction* remainder = b.sub(n, b.mul(quotient, d));
  for (int i = 0; i < 2; ++i) {
    Instruction* isTooSmall = b.compare(Op::ULe, d, remainder);
    quotient = b.select(isTooSmall, b.add(quotient, b.i32(1)), quotient);
    // Below zero it would be a large number: one operation on NVIDIA's hardware.
    remainder = b.binary(Op::UMin, remainder, b.sub(remainder, d));
  }
  return {quotient, remainder};
}

Instruction* withSign(ir::Builder& b, Instruction* value, Instruction* sign) {  // 0, or all ones to negate
  return b.sub(b.bitXor(value, sign), sign);
}

Instruction* expand(ir::Builder& b, const Instruction& division) {
  Instruction *n = division.operands[0], *d = division.operands[1];
  if (division.op == Op::UDiv) return divide(b, n, d).quotient;
  if (division.op == Op::URem) return divide(b, n, d).remainder;
  Instruction *signOfN = b.ashr(n, b.i32(31)), *signOfD = b.ashr(d, b.i32(31));
  const Division magnitudes = divide(b, withSign(b, n, signOfN), withSign(b, d, signOfD));
  if (division.op == Op::SRem) return withSign(b, magnitudes.remainder, signOfN);
  return withSign(b, magnitudes.quotient, b.bitXor(signOfN, signOfD));
}

}  // namespace

bool divideByReciprocals(ir::Function& function) {
  return expandInPlace(function, [](ir::Builder& b, const Instruction& instruction) {
    const bool isSlow = isDivision(instruction) && !isKnownToDriver(*instruction.operands[1]);
    return isSlow ? expand(b, instruction) : nullptr;
  });
}

bool Divisions::run(ir::Function& function, PassContext& context) {
  return context.profile.slowDivision32 && divideByReciprocals(function);
}

}  // namespace mulciber::passes
