// SIMD video instructions: scalar ones on a selected byte, half or word (vadd ... vset, vmad), and those on two halves
// or four bytes at once (vadd2 ... vset4).
#include "translator/lower/arithmetic.h"

namespace mulciber::lower {
namespace {

using ir::Op;
using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;
using Select = ptx::Operand::Select;

// What an opcode computes, whatever its width.
enum class Operation : uint8_t { Add, Sub, AbsDiff, Average, Min, Max, Set, ShiftLeft, ShiftRight };

struct Shape {
  Operation operation;
  unsigned lanes;  // 1, 2 or 4
};

Shape shapeOf(Opcode opcode) {
  switch (opcode) {
    case Opcode::Vadd: return {Operation::Add, 1};
    case Opcode::Vadd2: return {Operation::Add, 2};
    case Opcode::Vadd4: return {Operation::Add, 4};
    case Opcode::Vsub: return {Operation::Sub, 1};
    case Opcode::Vsub2: return {Operation::Sub, 2};
    case Opcode::Vsub4: return {Operation::Sub, 4};
    case Opcode::Vabsdiff: return {Operation::AbsDiff, 1};
    case Opcode::Vabsdiff2: return {Operation::AbsDiff, 2};
    case Opcode::Vabsdiff4: return {Operation::AbsDiff, 4};
    case Opcode::Vavrg2: return {Operation::Average, 2};
    case Opcode::Vavrg4: return {Operation::Average, 4};
    case Opcode::Vmin: return {Operation::Min, 1};
    case Opcode::Vmin2: return {Operation::Min, 2};
    case Opcode::Vmin4: return {Operation::Min, 4};
    case Opcode::Vmax: return {Operation::Max, 1};
    case Opcode::Vmax2: return {Operation::Max, 2};
    case Opcode::Vmax4: return {Operation::Max, 4};
    case Opcode::Vset: return {Operation::Set, 1};
    case Opcode::Vset2: return {Operation::Set, 2};
    case Opcode::Vset4: return {Operation::Set, 4};
    case Opcode::Vshl: return {Operation::ShiftLeft, 1};
    default: return {Operation::ShiftRight, 1};
  }
}

// Both operands are signed numbers with room to spare.
Value compute(ir::Builder& b, const Instruction& instruction, Operation operation, Value x, Value y) {
  switch (operation) {
    case Operation::Add: return b.add(x, y);
    case Operation::Sub: return b.sub(x, y);
    case Operation::AbsDiff: return absInt(b, b.sub(x, y));
    case Operation::Average: {  // rounds away from zero
      Value sum = b.add(x, y);
      Value up = b.convert(Op::ZExt, sum->type, b.compare(Op::SLe, b.constant(sum->type, 0), sum));
      return b.ashr(b.add(sum, up), b.i32(1));
    }
    case Operation::Min: return b.binary(Op::SMin, x, y);
    case Operation::Max: return b.binary(Op::SMax, x, y);
    default: break;
  }
  Value holds = compareInt(b, comparisonOf(instruction).compare, true, x, y);
  return b.convert(Op::ZExt, x->type, holds);
}

struct Part {
  unsigned first, bits;
};

Part partOf(Select select) {
  if (select >= Select::B0 && select <= Select::B3) return {8 * (unsigned(select) - unsigned(Select::B0)), 8};
  if (select == Select::H0 || select == Select::H1) return {16 * (unsigned(select) - unsigned(Select::H0)), 16};
  return {0, 32};
}

// The register without the sign that an operand of vmad may carry.
Value plain(FunctionLowering& f, Operand operand) {
  operand.negated = false;
  return f.value(operand, ir::I32);
}

// The selected part as an i64.
Value selected(FunctionLowering& f, const Operand& operand, Type type) {
  ir::Builder& b = f.b;
  Part part = partOf(operand.select);
  bool isSigned = ptx::isSigned(type);
  Value v = plain(f, operand);
  if (part.bits < 32) v = lane(b, v, part.first / part.bits, part.bits, isSigned);
  return resize(b, v, ir::I64, isSigned);
}

Value saturate(ir::Builder& b, Value x, bool isSigned, unsigned bits) {
  int64_t high = static_cast<int64_t>(lowMask(isSigned ? bits - 1 : bits));
  return clampInt(b, true, x, isSigned ? -high - 1 : 0, high);
}

// No GPU of today has the scalar instructions: ptxas makes them of others, in 64 bits, and what comes out differs from
// the manual where a part of the register saturates. Both are as seen on an H200.
Value saturatePart(ir::Builder& b, Value x, bool isSigned, unsigned bits) {
  return b.binary(Op::UMin, x, b.i64(lowMask(isSigned ? bits - 1 : bits)));  // negative numbers count as large
}

Value shifted(FunctionLowering& f, const Instruction& instruction, Operation operation, Value x, Value amount) {
  ir::Builder& b = f.b;
  Value count = b.convert(Op::Trunc, ir::I32, amount);
  count = instruction.has(Mod::wrap) ? b.bitAnd(count, b.i32(31)) : b.binary(Op::UMin, count, b.i32(32));
  Value v = operation == Operation::ShiftRight ? b.ashr(x, count) : b.shl(x, count);
  if (!instruction.has(Mod::sat)) return v;
  v = b.ashr(b.shl(v, b.i32(30)), b.i32(30));  // 34 bits are kept; it is the whole register that saturates
  return saturate(b, v, ptx::isSigned(instruction.type(0)), 32);
}

// What becomes of the result: combined with c by a second operation, or put into a part of c.
Value finish(FunctionLowering& f, const Instruction& instruction, Value result, bool isSigned) {
  ir::Builder& b = f.b;
  if (instruction.operands.size() < 4) return b.convert(Op::Trunc, ir::I32, result);
  Value c = f.value(instruction.operands[3], ir::I32);
  const Mod second = instruction.first({Mod::add, Mod::min, Mod::max}, Mod::b32);
  if (second == Mod::min || second == Mod::max) {
    const Operation operation = shapeOf(instruction.opcode).operation;
    const bool isShift = operation == Operation::ShiftLeft || operation == Operation::ShiftRight;
    if (operation == Operation::Add || operation == Operation::Sub || (isShift && instruction.has(Mod::sat)))
      result = b.convert(Op::SExt, ir::I64, b.convert(Op::Trunc, ir::I32, result));
    Value wide = resize(b, c, ir::I64, isSigned);
    return b.convert(Op::Trunc, ir::I32,
                     second == Mod::min ? minInt(b, isSigned, result, wide) : maxInt(b, isSigned, result, wide));
  }
  result = b.convert(Op::Trunc, ir::I32, result);
  if (second == Mod::add) return b.add(result, c);
  Part part = partOf(instruction.operands[0].select);
  if (part.bits == 32) return result;
  if (part.bits == 16 && part.first == 16) result = b.lshr(result, b.i32(16));  // for .h1 the upper half is taken
  return b.emit(Op::BitInsert, ir::I32, {c, result, b.i32(part.first), b.i32(part.bits)});
}

void lowerScalar(FunctionLowering& f, const Instruction& instruction) {
  ir::Builder& b = f.b;
  Operation operation = shapeOf(instruction.opcode).operation;
  bool isSet = operation == Operation::Set;
  bool isSigned = ptx::isSigned(instruction.type(0));
  Value x = selected(f, instruction.operands[1], instruction.type(isSet ? 0 : 1));
  Value y = selected(f, instruction.operands[2], instruction.type(isSet ? 1 : 2));
  bool isShift = operation == Operation::ShiftLeft || operation == Operation::ShiftRight;
  Value v = isShift ? shifted(f, instruction, operation, x, y) : compute(b, instruction, operation, x, y);
  const unsigned bits = partOf(instruction.operands[0].select).bits;
  if (instruction.has(Mod::sat) && !isShift) {
    if (bits < 32) v = saturatePart(b, v, isSigned, bits);
    else if (isSigned) v = saturate(b, v, isSigned, bits);
    else v = b.binary(Op::SMax, v, b.i64(0));  // what is too large wraps
  }
  f.write(instruction.operands[0], finish(f, instruction, v, isSigned));
}

// a * b + c in 64 bits, as ptxas does it: all three taken as signed, whatever their types; negated by complement and 1.
void lowerVmad(FunctionLowering& f, const Instruction& instruction) {
  ir::Builder& b = f.b;
  const Operand &first = instruction.operands[1], &second = instruction.operands[2], &third = instruction.operands[3];
  auto word = [&](const Operand& operand, Type type) {
    return resize(b, b.convert(Op::Trunc, ir::I32, selected(f, operand, type)), ir::I64, true);
  };
  Value product = b.mul(word(first, instruction.type(1)), word(second, instruction.type(2))), c = plain(f, third);
  const bool negatesProduct = first.negated != second.negated;
  const bool isSigned =
      ptx::isSigned(instruction.type(1)) || ptx::isSigned(instruction.type(2)) || negatesProduct || third.negated;
  if (negatesProduct) product = b.bitNot(product);
  else if (third.negated) c = b.bitNot(c);
  Value sum = b.add(product, resize(b, c, ir::I64, true));
  if (negatesProduct || third.negated || instruction.has(Mod::po)) sum = b.add(sum, b.i64(1));
  unsigned shift = instruction.has(Mod::shr7) ? 7 : instruction.has(Mod::shr15) ? 15 : 0;
  if (shift != 0) sum = isSigned ? b.ashr(sum, b.i32(shift)) : b.lshr(sum, b.i32(shift));
  if (instruction.has(Mod::sat)) sum = saturate(b, sum, isSigned, 32);
  f.write(instruction.operands[0], b.convert(Op::Trunc, ir::I32, sum));
}

// The i-th of the selected lanes of the pair {b, a}; without a selector a's or b's own.
Value simdLane(FunctionLowering& f, const Instruction& instruction, unsigned which, unsigned index, unsigned lanes,
               bool isSigned) {
  const Operand& operand = instruction.operands[which];
  unsigned source = index + (which == 2 ? lanes : 0);
  if (operand.select == Select::Bytes || operand.select == Select::Halves) source = operand.lanes >> (4 * index) & 7;
  Value word = plain(f, instruction.operands[source < lanes ? 1 : 2]);
  return lane(f.b, word, source % lanes, 32 / lanes, isSigned);
}

// Which lanes of the result are wanted; all without a selector.
uint32_t laneMask(const Operand& destination, unsigned lanes) {
  Select select = destination.select;
  if (select >= Select::B0 && select <= Select::B3) return 1u << (unsigned(select) - unsigned(Select::B0));
  if (select == Select::H0 || select == Select::H1) return 1u << (unsigned(select) - unsigned(Select::H0));
  if (select != Select::Bytes && select != Select::Halves) return (1u << lanes) - 1;
  uint32_t mask = 0;
  for (uint32_t digits = destination.lanes; digits > 1; digits >>= 4) mask |= 1u << (digits & 7);
  return mask;
}

// All lanes at once, of the whole registers; null where lanes must be taken apart.
Value computeWhole(FunctionLowering& f, const Instruction& instruction, Shape shape) {
  ir::Builder& b = f.b;
  const unsigned bits = 32 / shape.lanes;
  for (unsigned i = 0; i < 3; i++)
    if (instruction.operands[i].select != Select::Whole) return nullptr;
  if (instruction.has(Mod::sat)) return nullptr;
  const bool accumulates = instruction.has(Mod::add);
  Value x = plain(f, instruction.operands[1]), y = plain(f, instruction.operands[2]);
  if (shape.operation == Operation::Add && !accumulates) return addLanes(b, x, y, bits);
  if (shape.operation == Operation::Sub && !accumulates) return subtractLanes(b, x, y, bits);
  if (shape.operation != Operation::AbsDiff || ptx::isSigned(instruction.type(1)) || ptx::isSigned(instruction.type(2)))
    return nullptr;
  Value distances = laneDistances(b, x, y, bits);
  if (!accumulates) return distances;
  Value c = f.value(instruction.operands[3], ir::I32);
  if (bits == 8 && f.profile().integerDotProduct)
    return b.add(b.emit(Op::DotU8, ir::I32, {distances, b.i32(0x01010101)}), c);
  for (unsigned i = 0; i < shape.lanes; i++) c = b.add(c, lane(b, distances, i, bits, false));
  return c;
}

void lowerSimd(FunctionLowering& f, const Instruction& instruction) {
  ir::Builder& b = f.b;
  if (Value whole = computeWhole(f, instruction, shapeOf(instruction.opcode)))
    return f.write(instruction.operands[0], whole);
  auto [operation, lanes] = shapeOf(instruction.opcode);
  bool isSet = operation == Operation::Set, accumulates = instruction.has(Mod::add);
  unsigned bits = 32 / lanes;
  bool isSigned = !isSet && ptx::isSigned(instruction.type(0));
  uint32_t mask = laneMask(instruction.operands[0], lanes);
  Value c = f.value(instruction.operands[3], ir::I32), sum = c;
  std::vector<Value> results;
  for (unsigned i = 0; i < lanes; i++) {
    if (!(mask >> i & 1)) {
      results.push_back(lane(b, c, i, bits, false));
      continue;
    }
    Value x = simdLane(f, instruction, 1, i, lanes, ptx::isSigned(instruction.type(isSet ? 0 : 1)));
    Value y = simdLane(f, instruction, 2, i, lanes, ptx::isSigned(instruction.type(isSet ? 1 : 2)));
    Value v = compute(b, instruction, operation, x, y);
    if (instruction.has(Mod::sat)) v = saturate(b, v, isSigned, bits);
    results.push_back(v);
    if (accumulates) sum = b.add(sum, v);  // whole, not cut to the lane's width
  }
  f.write(instruction.operands[0], accumulates ? sum : packLanes(b, results, bits));
}

constexpr Lowering rows[] = {
    {Opcode::Vadd, lowerScalar},    {Opcode::Vsub, lowerScalar}, {Opcode::Vabsdiff, lowerScalar},
    {Opcode::Vmin, lowerScalar},    {Opcode::Vmax, lowerScalar}, {Opcode::Vset, lowerScalar},
    {Opcode::Vshl, lowerScalar},    {Opcode::Vshr, lowerScalar}, {Opcode::Vmad, lowerVmad},
    {Opcode::Vadd2, lowerSimd},     {Opcode::Vsub2, lowerSimd},  {Opcode::Vabsdiff2, lowerSimd},
    {Opcode::Vavrg2, lowerSimd},    {Opcode::Vmin2, lowerSimd},  {Opcode::Vmax2, lowerSimd},
    {Opcode::Vset2, lowerSimd},     {Opcode::Vadd4, lowerSimd},  {Opcode::Vsub4, lowerSimd},
    {Opcode::Vabsdiff4, lowerSimd}, {Opcode::Vavrg4, lowerSimd}, {Opcode::Vmin4, lowerSimd},
    {Opcode::Vmax4, lowerSimd},     {Opcode::Vset4, lowerSimd},
};

}  // namespace

std::span<const Lowering> videoLowerings() { return rows; }

}  // namespace mulciber::lower
