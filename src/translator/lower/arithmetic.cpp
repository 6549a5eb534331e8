#include "translator/lower/arithmetic.h"

#include <algorithm>

namespace mulciber::lower {

using ir::Op;
using ptx::Mod;

Value minInt(ir::Builder& b, bool isSigned, Value x, Value y) { return b.binary(isSigned ? Op::SMin : Op::UMin, x, y); }

Value maxInt(ir::Builder& b, bool isSigned, Value x, Value y) { return b.binary(isSigned ? Op::SMax : Op::UMax, x, y); }

Value clampInt(ir::Builder& b, bool isSigned, Value x, int64_t low, int64_t high) {
  if (isSigned || low > 0) x = maxInt(b, isSigned, x, b.constant(x->type, static_cast<uint64_t>(low)));
  return minInt(b, isSigned, x, b.constant(x->type, static_cast<uint64_t>(high)));
}

Value absInt(ir::Builder& b, Value x) { return b.binary(Op::SMax, x, b.unary(Op::Neg, x)); }

Value resize(ir::Builder& b, Value x, ir::Type type, bool isSigned) {
  if (x->type == type) return x;
  if (x->type.bits > type.bits) return b.convert(Op::Trunc, type, x);
  return b.convert(isSigned ? Op::SExt : Op::ZExt, type, x);
}

Value highProduct(ir::Builder& b, bool isSigned, Value x, Value y) {
  if (x->type.bits >= 32) return b.binary(isSigned ? Op::MulHiS : Op::MulHiU, x, y);
  Value product = b.mul(resize(b, x, ir::I32, isSigned), resize(b, y, ir::I32, isSigned));
  return b.convert(Op::Trunc, x->type, b.lshr(product, b.i32(x->type.bits)));
}

namespace {

// Of twice as many bits a word has zeros for what lies beyond its width: all that is left is to bound the amount, which
// costs less than a selection.
Value shiftWide(ir::Builder& b, Op op, Value x, Value amount) {
  Value wide = b.convert(Op::ZExt, ir::I64, x);
  return b.convert(Op::Trunc, ir::I32, b.binary(op, wide, b.binary(Op::UMin, amount, b.i32(63))));
}

}  // namespace

Value shiftLeft(ir::Builder& b, Value x, Value amount) {
  unsigned width = x->type.bits;
  if (amount->isConstant()) return amount->payload < width ? b.shl(x, amount) : b.constant(x->type, 0);
  if (x->type == ir::I32) return shiftWide(b, Op::Shl, x, amount);
  Value shifted = b.shl(x, b.bitAnd(amount, b.i32(width - 1)));
  return b.select(b.compare(Op::ULt, amount, b.i32(width)), shifted, b.constant(x->type, 0));
}

Value shiftRight(ir::Builder& b, Value x, Value amount, bool isSigned) {
  unsigned width = x->type.bits;
  if (isSigned) {
    if (amount->isConstant())
      return b.ashr(x, b.i32(static_cast<uint32_t>(std::min<uint64_t>(amount->payload, width - 1))));
    return b.ashr(x, b.binary(Op::UMin, amount, b.i32(width - 1)));
  }
  if (amount->isConstant()) return amount->payload < width ? b.lshr(x, amount) : b.constant(x->type, 0);
  if (x->type == ir::I32) return shiftWide(b, Op::LShr, x, amount);
  Value shifted = b.lshr(x, b.bitAnd(amount, b.i32(width - 1)));
  return b.select(b.compare(Op::ULt, amount, b.i32(width)), shifted, b.constant(x->type, 0));
}

Value lane(ir::Builder& b, Value packed, unsigned index, unsigned bits, bool isSigned) {
  unsigned above = 32 - (index + 1) * bits;
  if (isSigned) {
    if (above != 0) packed = b.shl(packed, b.i32(above));
    return b.ashr(packed, b.i32(32 - bits));
  }
  if (index != 0) packed = b.lshr(packed, b.i32(index * bits));
  return above == 0 ? packed : b.bitAnd(packed, b.i32(static_cast<uint32_t>(lowMask(bits))));
}

Value packLanes(ir::Builder& b, const std::vector<Value>& lanes, unsigned bits) {
  Value result = nullptr;
  for (unsigned i = 0; i < lanes.size(); i++) {
    Value part = lanes[i];
    if ((i + 1) * bits < 32) part = b.bitAnd(part, b.i32(static_cast<uint32_t>(lowMask(bits))));
    if (i != 0) part = b.shl(part, b.i32(i * bits));
    result = result ? b.bitOr(result, part) : part;
  }
  return result;
}

namespace {

constexpr uint32_t byteTops = 0x80808080;

// The upper half of one word and the lower half of another.
Value joinHalves(ir::Builder& b, Value upper, Value lower) {
  return b.emit(Op::BitInsert, ir::I32, {upper, lower, b.i32(0), b.i32(16)});
}

}  // namespace

// Halves: the upper ones are right where nothing comes from below, the lower ones in any case. Bytes: no carry leaves a
// lane whose operands' top bits are taken out; they are added apart, without a carry.
Value addLanes(ir::Builder& b, Value x, Value y, unsigned bits) {
  if (bits == 16) return joinHalves(b, b.add(x, b.bitAnd(y, b.i32(0xFFFF0000))), b.add(x, y));
  Value tops = b.i32(byteTops), others = b.i32(~byteTops);
  return b.bitXor(b.add(b.bitAnd(x, others), b.bitAnd(y, others)), b.bitAnd(b.bitXor(x, y), tops));
}

// Likewise; no borrow leaves a byte that has a top bit to take it from.
Value subtractLanes(ir::Builder& b, Value x, Value y, unsigned bits) {
  if (bits == 16) return joinHalves(b, b.sub(x, b.bitAnd(y, b.i32(0xFFFF0000))), b.sub(x, y));
  Value tops = b.i32(byteTops);
  Value difference = b.sub(b.bitOr(x, tops), b.bitAnd(y, b.i32(~byteTops)));
  return b.bitXor(difference, b.bitAnd(b.bitNot(b.bitXor(x, y)), tops));
}

Value laneDistances(ir::Builder& b, Value x, Value y, unsigned bits) {
  Value difference = subtractLanes(b, x, y, bits);
  Value borrows = b.bitOr(b.bitAnd(b.bitNot(x), y), b.bitAnd(b.bitNot(b.bitXor(x, y)), difference));
  Value isNegative = b.lshr(b.bitAnd(borrows, b.i32(bits == 16 ? 0x80008000 : byteTops)), b.i32(bits - 1));
  Value mask = b.mul(isNegative, b.i32(static_cast<uint32_t>(lowMask(bits))));
  return b.add(b.bitXor(difference, mask), isNegative);
}

Value compareInt(ir::Builder& b, Mod mod, bool isSigned, Value x, Value y) {
  Op less = isSigned ? Op::SLt : Op::ULt, lessEqual = isSigned ? Op::SLe : Op::ULe;
  switch (mod) {
    case Mod::eq: return b.compare(Op::IEq, x, y);
    case Mod::ne: return b.compare(Op::INe, x, y);
    case Mod::lt: return b.compare(less, x, y);
    case Mod::le: return b.compare(lessEqual, x, y);
    case Mod::gt: return b.compare(less, y, x);
    case Mod::ge: return b.compare(lessEqual, y, x);
    case Mod::lo: return b.compare(Op::ULt, x, y);
    case Mod::ls: return b.compare(Op::ULe, x, y);
    case Mod::hi: return b.compare(Op::ULt, y, x);
    default: return b.compare(Op::ULe, y, x);  // hs
  }
}

Value compareFloat(ir::Builder& b, Mod mod, bool flush, Value x, Value y) {
  auto emit = [&](Op op, Value left, Value right) {
    Value result = b.compare(op, left, right);
    result->fp.flush = flush;
    return result;
  };
  switch (mod) {
    case Mod::eq: return emit(Op::FEq, x, y);
    case Mod::ne: return emit(Op::FNe, x, y);
    case Mod::lt: return emit(Op::FLt, x, y);
    case Mod::le: return emit(Op::FLe, x, y);
    case Mod::gt: return emit(Op::FLt, y, x);
    case Mod::ge: return emit(Op::FLe, y, x);
    case Mod::equ: return emit(Op::FEqU, x, y);
    case Mod::neu: return emit(Op::FNeU, x, y);
    case Mod::ltu: return emit(Op::FLtU, x, y);
    case Mod::leu: return emit(Op::FLeU, x, y);
    case Mod::gtu: return emit(Op::FLtU, y, x);
    case Mod::geu: return emit(Op::FLeU, y, x);
    default: break;
  }
  Value isNan = b.bitOr(b.emit(Op::FIsNan, ir::Bool, {x}), b.emit(Op::FIsNan, ir::Bool, {y}));
  return mod == Mod::nan ? isNan : b.bitNot(isNan);
}

Comparison comparisonOf(const ptx::Instruction& instruction) {
  Comparison result{};
  for (Mod mod : instruction.modifiers) {
    bool isCompare = mod >= Mod::eq && mod <= Mod::nan;
    bool isCombine = mod == Mod::and_ || mod == Mod::or_ || mod == Mod::xor_;
    if (isCompare) result.compare = mod;
    if (isCombine) {
      result.combine = mod;
      result.hasCombine = true;
    }
  }
  return result;
}

Value combine(ir::Builder& b, Mod boolOp, Value x, Value y) {
  Op op = boolOp == Mod::and_ ? Op::And : boolOp == Mod::or_ ? Op::Or : Op::Xor;
  return b.binary(op, x, y);
}

}  // namespace mulciber::lower
