// Logic, shifts, bit fields, bit counts and byte permutations.
#include <algorithm>
#include <array>
#include <bit>
#include <set>

#include "translator/lower/arithmetic.h"
#include "translator/lower/lop3.h"

namespace mulciber::lower {
namespace {

using ir::Op;
using ptx::Mod;
using ptx::Opcode;
using ptx::Type;

Value logicOperand(FunctionLowering& f, const ptx::Instruction& instruction, unsigned index) {
  if (instruction.type() == Type::Pred) return f.predicate(instruction.operands[index]);
  return operand(f, instruction, index, instruction.type());
}

void lowerLogic(FunctionLowering& f, const ptx::Instruction& instruction) {
  Op op = instruction.opcode == Opcode::And ? Op::And : instruction.opcode == Opcode::Or ? Op::Or : Op::Xor;
  Value x = logicOperand(f, instruction, 1), y = logicOperand(f, instruction, 2);
  f.write(instruction.operands[0], f.b.binary(op, x, y));
}

void lowerNot(FunctionLowering& f, const ptx::Instruction& instruction) {
  f.write(instruction.operands[0], f.b.bitNot(logicOperand(f, instruction, 1)));
}

void lowerCnot(FunctionLowering& f, const ptx::Instruction& instruction) {
  Value x = operand(f, instruction, 1, instruction.type());
  Value isZero = f.b.compare(Op::IEq, x, f.b.constant(x->type, 0));
  f.write(instruction.operands[0], f.b.convert(Op::ZExt, x->type, isZero));
}

void lowerLop3(FunctionLowering& f, const ptx::Instruction& instruction) {
  auto [destination, predicate] = FunctionLowering::pair(instruction.operands[0]);
  Value x = f.value(instruction.operands[1], ir::I32), y = f.value(instruction.operands[2], ir::I32);
  Value z = f.value(instruction.operands[3], ir::I32);
  Value result = emitTruthTable(f.b, static_cast<uint8_t>(instruction.operands[4].bits), x, y, z);
  if (predicate) {
    Mod boolOp = instruction.first({Mod::and_, Mod::or_}, Mod::or_);
    Value nonZero = f.b.compare(Op::INe, result, f.b.i32(0));
    Value combined = combine(f.b, boolOp, nonZero, f.predicate(instruction.operands[5]));
    f.write(*destination, result);
    f.write(*predicate, combined);
    return;
  }
  f.write(*destination, result);
}

void lowerShift(FunctionLowering& f, const ptx::Instruction& instruction) {
  Type type = instruction.type();
  Value x = operand(f, instruction, 1, type), amount = f.value(instruction.operands[2], ir::I32);
  bool isSigned = ptx::isSigned(type);
  Value result = instruction.opcode == Opcode::Shl ? shiftLeft(f.b, x, amount) : shiftRight(f.b, x, amount, isSigned);
  f.write(instruction.operands[0], result, isSigned);
}

// The upper (.l) or lower (.r) word of b:a shifted. A shift by 32 (clamped) moves a whole word.
void lowerFunnelShift(FunctionLowering& f, const ptx::Instruction& instruction) {
  ir::Builder& b = f.b;
  bool left = instruction.has(Mod::l), wraps = instruction.has(Mod::wrap);
  Value low = f.value(instruction.operands[1], ir::I32), high = f.value(instruction.operands[2], ir::I32);
  Value amount = f.value(instruction.operands[3], ir::I32);
  Value moved = left ? low : high;  // the result of a shift by 32
  Value kept = left ? high : low;   // the result of a shift by 0
  if (amount->isConstant()) {
    uint64_t count = wraps ? amount->payload & 31 : std::min<uint64_t>(amount->payload, 32);
    Value result;
    if (count == 0) result = kept;
    else if (count == 32) result = moved;
    else if (left) result = b.bitOr(b.shl(high, b.i32(uint32_t(count))), b.lshr(low, b.i32(uint32_t(32 - count))));
    else result = b.bitOr(b.shl(high, b.i32(uint32_t(32 - count))), b.lshr(low, b.i32(uint32_t(count))));
    return f.write(instruction.operands[0], result);
  }
  Value pair = b.bitcast(ir::I64, b.vector(std::array{low, high}));
  Value count = wraps ? b.bitAnd(amount, b.i32(31)) : b.binary(Op::UMin, amount, b.i32(32));
  Value shifted = left ? b.lshr(b.shl(pair, count), b.i32(32)) : b.lshr(pair, count);
  f.write(instruction.operands[0], b.convert(Op::Trunc, ir::I32, shifted));
}

void lowerCount(FunctionLowering& f, const ptx::Instruction& instruction) {
  ir::Builder& b = f.b;
  Value x = operand(f, instruction, 1, instruction.type());
  Value result;
  if (instruction.opcode == Opcode::Popc) {
    result = b.convert(Op::PopCount, ir::I32, x);
  } else {  // without a bit set, the highest one is number -1: width - 1 - -1 is the width
    result = b.sub(b.i32(x->type.bits - 1), b.convert(Op::FindMsbU, ir::I32, x));
  }
  f.write(instruction.operands[0], result);
}

void lowerBrev(FunctionLowering& f, const ptx::Instruction& instruction) {
  f.write(instruction.operands[0], f.b.unary(Op::BitReverse, operand(f, instruction, 1, instruction.type())));
}

void lowerBfind(FunctionLowering& f, const ptx::Instruction& instruction) {
  ir::Builder& b = f.b;
  Type type = instruction.type();
  Value x = operand(f, instruction, 1, type);
  Value result = b.convert(ptx::isSigned(type) ? Op::FindMsbS : Op::FindMsbU, ir::I32, x);
  if (instruction.has(Mod::shiftamt)) {
    Value none = b.compare(Op::IEq, result, b.i32(~0u));
    result = b.select(none, result, b.sub(b.i32(x->type.bits - 1), result));
  }
  f.write(instruction.operands[0], result);
}

// The n-th set bit of a mask, counted from a base upward or downward. Downward is upward in the reversed mask.
void lowerFns(FunctionLowering& f, const ptx::Instruction& instruction) {
  ir::Builder& b = f.b;
  Value mask = f.value(instruction.operands[1], ir::I32), base = f.value(instruction.operands[2], ir::I32);
  Value offset = f.value(instruction.operands[3], ir::I32);
  Value downward = b.compare(Op::SLt, offset, b.i32(0));
  Value bits = b.select(downward, b.unary(Op::BitReverse, mask), mask);
  Value start = b.select(downward, b.sub(b.i32(31), base), base);
  Value inRange = b.compare(Op::ULt, base, b.i32(32));
  Value from = b.shl(b.i32(~0u), b.bitAnd(start, b.i32(31)));
  Value candidates = b.bitAnd(bits, from);
  // Offset 0 asks for the base bit itself; offset n for the n-th bit, the base counted.
  Value isZero = b.compare(Op::IEq, offset, b.i32(0));
  candidates = b.select(isZero, b.bitAnd(bits, b.bitXor(from, b.shl(from, b.i32(1)))), candidates);
  Value wanted = b.select(isZero, b.i32(0), b.sub(absInt(b, offset), b.i32(1)));
  Value total = b.convert(Op::PopCount, ir::I32, candidates);
  Value found = b.bitAnd(inRange, b.compare(Op::ULt, wanted, total));
  // ptxas's instructions find bit 0 for the lowest offset.
  Value isLowest = b.compare(Op::IEq, offset, b.i32(0x80000000));
  // Halve the window: skip its low half when too few bits are in it.
  Value position = b.i32(0);
  for (unsigned half = 16; half != 0; half /= 2) {
    Value window = b.bitAnd(b.lshr(candidates, position), b.i32((1u << half) - 1));
    Value inLow = b.convert(Op::PopCount, ir::I32, window);
    Value skip = b.compare(Op::ULe, inLow, wanted);
    wanted = b.select(skip, b.sub(wanted, inLow), wanted);
    position = b.select(skip, b.add(position, b.i32(half)), position);
  }
  position = b.select(downward, b.sub(b.i32(31), position), position);
  f.write(instruction.operands[0], b.select(isLowest, b.i32(0), b.select(found, position, b.i32(~0u))));
}

// Ones in the low `count` bits, for any count.
Value onesBelow(ir::Builder& b, ir::Type type, Value count) {
  return b.bitNot(shiftLeft(b, b.constant(type, ~uint64_t(0)), count));
}

// Position or length of a bit field. 32-bit forms use the low 8 bits; the hardware's 64-bit forms use all of them.
Value fieldOperand(FunctionLowering& f, const ptx::Operand& operand, unsigned width) {
  Value v = f.value(operand, ir::I32);
  if (width == 64) return v;
  return v->isConstant() ? f.b.i32(v->payload & 0xFF) : f.b.bitAnd(v, f.b.i32(0xFF));
}

void lowerBfe(FunctionLowering& f, const ptx::Instruction& instruction) {
  ir::Builder& b = f.b;
  Type type = instruction.type();
  bool isSigned = ptx::isSigned(type);
  Value x = operand(f, instruction, 1, type);
  unsigned width = x->type.bits;
  Value position = fieldOperand(f, instruction.operands[2], width);
  Value length = fieldOperand(f, instruction.operands[3], width);
  Value result;
  if (position->isConstant() && length->isConstant() && position->payload + length->payload <= width) {
    result = b.emit(isSigned ? Op::BitExtractS : Op::BitExtractU, x->type, {x, position, length});
  } else if (!isSigned) {
    result = b.bitAnd(shiftRight(b, x, position, false), onesBelow(b, x->type, length));
  } else {
    // Beyond the top the shifted value is the sign already; then the field's own sign is spread from the top.
    Value shifted = shiftRight(b, x, position, true);
    Value unused = b.sub(b.i32(width), b.binary(Op::UMin, length, b.i32(width)));
    Value amount = b.binary(Op::UMin, unused, b.i32(width - 1));
    Value spread = b.ashr(b.shl(shifted, amount), amount);
    result = b.select(b.compare(Op::IEq, length, b.i32(0)), b.constant(x->type, 0), spread);
  }
  f.write(instruction.operands[0], result, isSigned);
}

void lowerBfi(FunctionLowering& f, const ptx::Instruction& instruction) {
  ir::Builder& b = f.b;
  Type type = instruction.type();
  Value insert = operand(f, instruction, 1, type), base = operand(f, instruction, 2, type);
  unsigned width = base->type.bits;
  Value position = fieldOperand(f, instruction.operands[3], width);
  Value length = fieldOperand(f, instruction.operands[4], width);
  Value result;
  if (position->isConstant() && length->isConstant() && position->payload + length->payload <= width) {
    result = b.emit(Op::BitInsert, base->type, {base, insert, position, length});
  } else {
    Value mask = shiftLeft(b, onesBelow(b, base->type, length), position);
    Value placed = b.bitAnd(shiftLeft(b, insert, position), mask);
    result = b.bitOr(b.bitAnd(base, b.bitNot(mask)), placed);
  }
  f.write(instruction.operands[0], result);
}

void lowerSzext(FunctionLowering& f, const ptx::Instruction& instruction) {
  ir::Builder& b = f.b;
  bool isSigned = ptx::isSigned(instruction.type());
  Value x = f.value(instruction.operands[1], ir::I32), count = f.value(instruction.operands[2], ir::I32);
  count = instruction.has(Mod::wrap) ? b.bitAnd(count, b.i32(31)) : b.binary(Op::UMin, count, b.i32(32));
  Value result;
  if (isSigned) {
    Value unused = b.binary(Op::UMin, b.sub(b.i32(32), count), b.i32(31));
    Value spread = b.ashr(b.shl(x, unused), unused);
    result = b.select(b.compare(Op::IEq, count, b.i32(0)), b.i32(0), spread);
  } else {
    result = b.bitAnd(x, onesBelow(b, ir::I32, count));
  }
  f.write(instruction.operands[0], result, isSigned);
}

void lowerBmsk(FunctionLowering& f, const ptx::Instruction& instruction) {
  ir::Builder& b = f.b;
  Value position = f.value(instruction.operands[1], ir::I32), count = f.value(instruction.operands[2], ir::I32);
  if (instruction.has(Mod::wrap)) {
    position = b.bitAnd(position, b.i32(31));
    count = b.bitAnd(count, b.i32(31));
  }
  f.write(instruction.operands[0], shiftLeft(b, onesBelow(b, ir::I32, count), position));
}

// prmt: each result byte is one of eight, {b, a}, chosen by a nibble whose top bit asks for the byte's sign instead.
class Permutation {
 public:
  Permutation(ir::Builder& b, Value low, Value high) : b_(b), low_(low), high_(high) {}

  Value constant(uint32_t selector) {
    std::vector<unsigned> numbers, signs;  // of the bytes of the result
    std::set<uint32_t> sources;            // of the signs
    for (unsigned i = 0; i < 4; i++) {
      const uint32_t nibble = selector >> (4 * i) & 15;
      (nibble & 8 ? signs : numbers).push_back(i);
      if (nibble & 8) sources.insert(nibble & 7);
    }
    Value result = numbers.empty() ? nullptr : moved(selector, numbers);
    auto merge = [&](Value part) { result = result ? b_.bitOr(result, part) : part; };
    if (sources.size() > 2) {  // all signs at once
      merge(filled(b_.lshr(moved(selector, signs), b_.i32(7))));
      return result;
    }
    for (uint32_t source : sources) {
      uint32_t mask = 0;
      for (unsigned i : signs)
        if ((selector >> (4 * i) & 7) == source) mask |= 0xFFu << (8 * i);
      Value sign = lane(b_, source & 4 ? high_ : low_, source & 3, 8, true);
      merge(b_.bitAnd(b_.ashr(sign, b_.i32(7)), b_.i32(mask)));
    }
    return result;
  }

  // `mayBeSigns`: the top bits of the nibbles count.
  Value dynamic(Value selector, bool mayBeSigns) {
    Value pair = b_.bitcast(ir::I64, b_.vector(std::array{low_, high_}));
    std::vector<Value> bytes;
    for (unsigned i = 0; i < 4; i++) {
      Value eightfold = i == 0 ? b_.shl(selector, b_.i32(3)) : b_.lshr(selector, b_.i32(4 * i - 3));
      bytes.push_back(b_.convert(Op::Trunc, ir::I32, b_.lshr(pair, b_.bitAnd(eightfold, b_.i32(0x38)))));
    }
    Value result = packLanes(b_, bytes, 8);
    if (!mayBeSigns) return result;
    // The top bits of the nibbles become those of the low halves of bytes.
    Value tops = b_.bitAnd(selector, b_.i32(0x8888));
    tops = b_.bitAnd(b_.bitOr(tops, b_.shl(tops, b_.i32(8))), b_.i32(0x00880088));
    tops = b_.bitOr(tops, b_.shl(tops, b_.i32(4)));
    Value isSign = filled(b_.lshr(tops, b_.i32(3)));
    return b_.bitOr(b_.bitAnd(result, b_.bitNot(isSign)), b_.bitAnd(filled(b_.lshr(result, b_.i32(7))), isSign));
  }

 private:
  // These bytes of the result where they belong, zeros elsewhere. Those that move by the same distance out of the same
  // word move together.
  Value moved(uint32_t selector, const std::vector<unsigned>& bytes) {
    Value result = nullptr;
    for (bool high : {false, true}) {
      Value word = high ? high_ : low_;
      for (int distance = -3; distance <= 3; distance++) {
        uint32_t mask = 0;
        for (unsigned i : bytes) {
          const uint32_t nibble = selector >> (4 * i);
          if (((nibble & 4) != 0) == high && int(i) - int(nibble & 3) == distance) mask |= 0xFFu << (8 * i);
        }
        if (mask == 0) continue;
        const uint32_t whole = distance >= 0 ? ~0u << (8 * distance) : ~0u >> (-8 * distance);
        Value part = distance > 0   ? b_.shl(word, b_.i32(uint32_t(8 * distance)))
                     : distance < 0 ? b_.lshr(word, b_.i32(uint32_t(-8 * distance)))
                                    : word;
        if (mask != whole) part = b_.bitAnd(part, b_.i32(mask));
        result = result ? b_.bitOr(result, part) : part;
      }
    }
    return result;
  }

  // Bytes of all ones or of zeros, by the lowest bits of the bytes.
  Value filled(Value lowest) { return b_.mul(b_.bitAnd(lowest, b_.i32(0x01010101)), b_.i32(0xFF)); }

  ir::Builder& b_;
  Value low_, high_;
};

// The selectors of prmt's named modes for selector values 0 to 3.
uint32_t namedSelector(Mod mode, unsigned n) {
  static constexpr uint32_t f4e[] = {0x3210, 0x4321, 0x5432, 0x6543}, b4e[] = {0x5670, 0x6701, 0x7012, 0x0123};
  static constexpr uint32_t rc8[] = {0x0000, 0x1111, 0x2222, 0x3333}, ecl[] = {0x3210, 0x3211, 0x3222, 0x3333};
  static constexpr uint32_t ecr[] = {0x0000, 0x1110, 0x2210, 0x3210}, rc16[] = {0x1010, 0x3232, 0x1010, 0x3232};
  switch (mode) {
    case Mod::f4e: return f4e[n];
    case Mod::b4e: return b4e[n];
    case Mod::rc8: return rc8[n];
    case Mod::ecl: return ecl[n];
    case Mod::ecr: return ecr[n];
    default: return rc16[n];
  }
}

void lowerPrmt(FunctionLowering& f, const ptx::Instruction& instruction) {
  ir::Builder& b = f.b;
  Permutation permutation(b, f.value(instruction.operands[1], ir::I32), f.value(instruction.operands[2], ir::I32));
  Value selector = f.value(instruction.operands[3], ir::I32);
  Mod mode = instruction.first({Mod::f4e, Mod::b4e, Mod::rc8, Mod::ecl, Mod::ecr, Mod::rc16}, Mod::b32);
  Value result;
  if (selector->isConstant()) {
    uint32_t n = static_cast<uint32_t>(selector->payload);
    result = permutation.constant(mode == Mod::b32 ? n : namedSelector(mode, n & 3));
  } else if (mode == Mod::b32) {
    result = permutation.dynamic(selector, true);
  } else {
    Value n = b.bitAnd(selector, b.i32(3));
    Value chosen = b.i32(namedSelector(mode, 0));
    for (unsigned i = 1; i < 4; i++)
      chosen = b.select(b.compare(Op::IEq, n, b.i32(i)), b.i32(namedSelector(mode, i)), chosen);
    result = permutation.dynamic(chosen, false);
  }
  f.write(instruction.operands[0], result);
}

constexpr Lowering rows[] = {
    {Opcode::And, lowerLogic},       {Opcode::Or, lowerLogic},   {Opcode::Xor, lowerLogic}, {Opcode::Not, lowerNot},
    {Opcode::Cnot, lowerCnot},       {Opcode::Lop3, lowerLop3},  {Opcode::Shl, lowerShift}, {Opcode::Shr, lowerShift},
    {Opcode::Shf, lowerFunnelShift}, {Opcode::Popc, lowerCount}, {Opcode::Clz, lowerCount}, {Opcode::Brev, lowerBrev},
    {Opcode::Bfind, lowerBfind},     {Opcode::Fns, lowerFns},    {Opcode::Bfe, lowerBfe},   {Opcode::Bfi, lowerBfi},
    {Opcode::Szext, lowerSzext},     {Opcode::Bmsk, lowerBmsk},  {Opcode::Prmt, lowerPrmt},
};

}  // namespace

std::span<const Lowering> bitLowerings() { return rows; }

}  // namespace mulciber::lower
