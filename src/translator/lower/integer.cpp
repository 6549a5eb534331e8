// Integer arithmetic: add to rem, and the 24-bit and saturating forms. Carries are in carry.cpp.
#include "translator/lower/arithmetic.h"

namespace mulciber::lower {
namespace {

using ir::Op;
using ptx::Mod;
using ptx::Opcode;
using ptx::Type;

bool isPair(Type type) { return type == Type::U16x2 || type == Type::S16x2; }

// x + y or x - y, clamped to s32.
Value saturate(ir::Builder& b, bool subtract, Value x, Value y) {
  Value result = b.binary(subtract ? Op::Sub : Op::Add, x, y);
  // It overflows when the result's sign is wrong: sum: x and y differ from it; difference: x differs from y and it.
  Value other = subtract ? b.bitXor(x, y) : b.bitXor(result, y);
  Value overflow = b.compare(Op::SLt, b.bitAnd(b.bitXor(result, x), other), b.i32(0));
  Value limit = b.bitXor(b.ashr(x, b.i32(31)), b.i32(0x7FFFFFFF));
  return b.select(overflow, limit, result);
}

void lowerAddSub(FunctionLowering& f, const ptx::Instruction& instruction) {
  if (instruction.has(Mod::cc)) return lowerCarry(f, instruction);
  Type type = instruction.type();
  if (ptx::isFloat(type)) return lowerFloatArithmetic(f, instruction);
  ir::Builder& b = f.b;
  bool subtract = instruction.opcode == Opcode::Sub;
  Value x = operand(f, instruction, 1, type), y = operand(f, instruction, 2, type);
  Op op = subtract ? Op::Sub : Op::Add;
  Value result;
  if (instruction.has(Mod::sat)) {
    result = saturate(b, subtract, x, y);
  } else if (isPair(type)) {
    result = subtract ? subtractLanes(b, x, y, 16) : addLanes(b, x, y, 16);
  } else {
    result = b.binary(op, x, y);
  }
  f.write(instruction.operands[0], result, ptx::isSigned(type));
}

// mul and mad: .lo, .hi or .wide of the product, and the sum.
void lowerMulMad(FunctionLowering& f, const ptx::Instruction& instruction) {
  if (instruction.has(Mod::cc)) return lowerCarry(f, instruction);
  Type type = instruction.type();
  if (ptx::isFloat(type)) return lowerFloatArithmetic(f, instruction);
  ir::Builder& b = f.b;
  bool isSigned = ptx::isSigned(type);
  Value x = operand(f, instruction, 1, type), y = operand(f, instruction, 2, type);
  Value result;
  if (instruction.has(Mod::wide)) {
    ir::Type wide = ir::intType(2 * x->type.bits);
    result = b.mul(resize(b, x, wide, isSigned), resize(b, y, wide, isSigned));
  } else if (instruction.has(Mod::hi)) {
    result = highProduct(b, isSigned, x, y);
  } else {
    result = b.mul(x, y);
  }
  if (instruction.opcode == Opcode::Mad) {
    Value addend = f.value(instruction.operands[3], result->type);
    result = instruction.has(Mod::sat) ? saturate(b, false, result, addend) : b.add(result, addend);
  }
  f.write(instruction.operands[0], result, isSigned);
}

// The 48-bit product of the low 24 bits: .lo is its low 32 bits, .hi its bits 16 to 47.
void lowerMul24(FunctionLowering& f, const ptx::Instruction& instruction) {
  ir::Builder& b = f.b;
  Type type = instruction.type();
  bool isSigned = ptx::isSigned(type);
  auto low24 = [&](unsigned index) {
    Value v = operand(f, instruction, index, type);
    return isSigned ? b.ashr(b.shl(v, b.i32(8)), b.i32(8)) : b.bitAnd(v, b.i32(0xFFFFFF));
  };
  Value x = low24(1), y = low24(2);
  Value result = b.mul(x, y);
  if (instruction.has(Mod::hi)) {
    Value high = b.binary(isSigned ? Op::MulHiS : Op::MulHiU, x, y);
    result = b.bitOr(b.shl(high, b.i32(16)), b.lshr(result, b.i32(16)));
  }
  if (instruction.opcode == Opcode::Mad24) {
    Value addend = operand(f, instruction, 3, type);
    result = instruction.has(Mod::sat) ? saturate(b, false, result, addend) : b.add(result, addend);
  }
  f.write(instruction.operands[0], result, isSigned);
}

void lowerSad(FunctionLowering& f, const ptx::Instruction& instruction) {
  Type type = instruction.type();
  bool isSigned = ptx::isSigned(type);
  Value x = operand(f, instruction, 1, type), y = operand(f, instruction, 2, type);
  Value difference = f.b.sub(x, y);
  Value isNegative = f.b.compare(isSigned ? Op::SLt : Op::ULt, x, y);
  Value distance = f.b.select(isNegative, f.b.unary(Op::Neg, difference), difference);
  f.write(instruction.operands[0], f.b.add(distance, operand(f, instruction, 3, type)), isSigned);
}

// By zero the hardware gives all ones, for the remainder too. The smallest value by -1 wraps, with remainder 0.
void lowerDivRem(FunctionLowering& f, const ptx::Instruction& instruction) {
  Type type = instruction.type();
  if (ptx::isFloat(type)) return lowerFloatArithmetic(f, instruction);
  ir::Builder& b = f.b;
  bool isSigned = ptx::isSigned(type), isDivision = instruction.opcode == Opcode::Div;
  Value x = operand(f, instruction, 1, type), y = operand(f, instruction, 2, type);
  auto constant = [&](uint64_t bits) { return b.constant(x->type, bits); };
  Op op = isDivision ? (isSigned ? Op::SDiv : Op::UDiv) : (isSigned ? Op::SRem : Op::URem);
  Value result;
  if (y->isConstant() && y->payload != 0 && y->payload != lowMask(y->type.bits)) {
    result = b.binary(op, x, y);
  } else {
    Value isZero = b.compare(Op::IEq, y, constant(0));
    Value unsafe = isZero;
    if (isSigned) unsafe = b.bitOr(unsafe, b.compare(Op::IEq, y, constant(~uint64_t(0))));
    result = b.binary(op, x, b.select(unsafe, constant(1), y));
    if (isSigned) {
      Value byMinusOne = isDivision ? b.unary(Op::Neg, x) : constant(0);
      result = b.select(b.compare(Op::IEq, y, constant(~uint64_t(0))), byMinusOne, result);
    }
    result = b.select(isZero, constant(~uint64_t(0)), result);
  }
  f.write(instruction.operands[0], result, isSigned);
}

void lowerAbsNeg(FunctionLowering& f, const ptx::Instruction& instruction) {
  Type type = instruction.type();
  if (ptx::isFloat(type)) return lowerFloatArithmetic(f, instruction);
  Value x = operand(f, instruction, 1, type);
  Value result = instruction.opcode == Opcode::Abs ? absInt(f.b, x) : f.b.unary(Op::Neg, x);
  f.write(instruction.operands[0], result, true);
}

void lowerMinMax(FunctionLowering& f, const ptx::Instruction& instruction) {
  Type type = instruction.type();
  if (ptx::isFloat(type)) return lowerFloatArithmetic(f, instruction);
  ir::Builder& b = f.b;
  bool isSigned = ptx::isSigned(type);
  auto extremum = [&](Value x, Value y) {
    Value v = instruction.opcode == Opcode::Min ? minInt(b, isSigned, x, y) : maxInt(b, isSigned, x, y);
    return instruction.has(Mod::relu) ? maxInt(b, true, v, b.constant(v->type, 0)) : v;
  };
  Value x = operand(f, instruction, 1, type), y = operand(f, instruction, 2, type);
  Value result;
  if (isPair(type)) {
    // The upper half of a word decides by itself, whatever follows it.
    Value lower = extremum(b.shl(x, b.i32(16)), b.shl(y, b.i32(16)));
    result = b.bitOr(b.bitAnd(extremum(x, y), b.i32(0xFFFF0000)), b.lshr(lower, b.i32(16)));
  } else {
    result = extremum(x, y);
  }
  f.write(instruction.operands[0], result, isSigned);
}

// Sums of products of bytes (dp4a), or of a pair of 16-bit values and two bytes (dp2a).
void lowerDotProduct(FunctionLowering& f, const ptx::Instruction& instruction) {
  ir::Builder& b = f.b;
  bool signedA = ptx::isSigned(instruction.type(0)), signedB = ptx::isSigned(instruction.type(1));
  Value x = f.value(instruction.operands[1], ir::I32), y = f.value(instruction.operands[2], ir::I32);
  Value sum = f.value(instruction.operands[3], ir::I32);
  if (instruction.opcode == Opcode::Dp4a && f.profile().integerDotProduct) {
    Value dot;
    if (signedA == signedB) dot = b.emit(signedA ? Op::DotS8 : Op::DotU8, ir::I32, {x, y});
    else dot = signedA ? b.emit(Op::DotSU8, ir::I32, {x, y}) : b.emit(Op::DotSU8, ir::I32, {y, x});
    f.write(instruction.operands[0], b.add(dot, sum), signedA || signedB);
    return;
  }
  bool isDp4a = instruction.opcode == Opcode::Dp4a;
  unsigned first = instruction.has(Mod::hi) ? 2 : 0;
  for (unsigned i = 0; i < (isDp4a ? 4u : 2u); i++)
    sum = b.add(sum, b.mul(lane(b, x, i, isDp4a ? 8 : 16, signedA), lane(b, y, first + i, 8, signedB)));
  f.write(instruction.operands[0], sum, signedA || signedB);
}

constexpr Lowering rows[] = {
    {Opcode::Add, lowerAddSub}, {Opcode::Sub, lowerAddSub},      {Opcode::Mul, lowerMulMad},
    {Opcode::Mad, lowerMulMad}, {Opcode::Mul24, lowerMul24},     {Opcode::Mad24, lowerMul24},
    {Opcode::Sad, lowerSad},    {Opcode::Div, lowerDivRem},      {Opcode::Rem, lowerDivRem},
    {Opcode::Abs, lowerAbsNeg}, {Opcode::Neg, lowerAbsNeg},      {Opcode::Min, lowerMinMax},
    {Opcode::Max, lowerMinMax}, {Opcode::Dp2a, lowerDotProduct}, {Opcode::Dp4a, lowerDotProduct},
};

}  // namespace

std::span<const Lowering> integerLowerings() { return rows; }

}  // namespace mulciber::lower
