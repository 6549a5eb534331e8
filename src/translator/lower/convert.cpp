// cvt: between integers, floats and both, and the packed small formats.
#include <cmath>

#include "translator/lower/float_formats.h"

namespace mulciber::lower {
namespace {

using ir::FloatControl;
using ir::Op;
using ir::Rounding;
using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Type;

// The range of an integer type, as the numbers below and above which cvt clamps.
struct Range {
  bool isSigned;
  unsigned bits;
  int64_t low() const { return isSigned ? static_cast<int64_t>(~uint64_t(0) << (bits - 1)) : 0; }
  uint64_t high() const { return isSigned ? lowMask(bits - 1) : lowMask(bits); }
};

Range rangeOf(Type type) { return {ptx::isSigned(type), ptx::bitWidth(type)}; }

void convertInteger(FunctionLowering& f, const Instruction& instruction) {
  ir::Builder& b = f.b;
  Type to = instruction.type(0), from = instruction.type(1);
  Value x = operand(f, instruction, 1, from);
  Range source = rangeOf(from), target = rangeOf(to);
  if (instruction.has(Mod::sat)) {
    if (source.isSigned && target.low() > source.low())
      x = b.binary(Op::SMax, x, b.constant(x->type, static_cast<uint64_t>(target.low())));
    if (target.high() < source.high()) x = minInt(b, source.isSigned, x, b.constant(x->type, target.high()));
  }
  f.write(instruction.operands[0], resize(b, x, irType(to), source.isSigned), target.isSigned);
}

Value roundToInteger(FunctionLowering& f, const Instruction& instruction, Value x) {
  FloatControl fp;
  fp.flush = flushes(f, instruction);
  switch (instruction.first({Mod::rni, Mod::rzi, Mod::rmi, Mod::rpi}, Mod::f32)) {
    case Mod::rni: return f.b.floating(Op::FRound, fp, {x});
    case Mod::rzi: return f.b.floating(Op::FTrunc, fp, {x});
    case Mod::rmi: return f.b.floating(Op::FFloor, fp, {x});
    case Mod::rpi: return f.b.floating(Op::FCeil, fp, {x});
    default: return x;
  }
}

// Whether the device's own conversion does all that cvt does. What narrower results get of an f64's NaN is their own.
bool clampsByItself(FunctionLowering& f, Value x, Range range) {
  const bool isNarrow = range.bits < 32;
  return f.profile().saturatesToInteger && !x->isConstant() && (!isNarrow || x->type == ir::F32);
}

void convertClamped(FunctionLowering& f, const Instruction& instruction, Value x, Range range) {
  ir::Builder& b = f.b;
  if (!instruction.has(Mod::rzi)) x = roundToInteger(f, instruction, x);
  const ir::Type type = ir::intType(std::max(range.bits, 32u));
  Value result = b.convert(range.isSigned ? Op::FToSClamped : Op::FToUClamped, type, x);
  if (range.bits < 32) {
    result = minInt(b, range.isSigned, result, b.constant(type, range.high()));
    if (range.isSigned) result = b.binary(Op::SMax, result, b.constant(type, static_cast<uint64_t>(range.low())));
  }
  f.write(instruction.operands[0], resize(b, result, irType(instruction.type(0)), range.isSigned), range.isSigned);
}

// Out of range clamps. A NaN gives 0, or the top bit alone when either side has 64 bits.
void convertToInteger(FunctionLowering& f, const Instruction& instruction) {
  ir::Builder& b = f.b;
  Type to = instruction.type(0), from = instruction.type(1);
  Value x = unpackFloats(f, instruction.operands[1], from)[0];
  if (x->type == ir::F16) x = b.convert(Op::FConvert, ir::F32, x);
  Range range = rangeOf(to);
  if (clampsByItself(f, x, range)) return convertClamped(f, instruction, x, range);
  x = roundToInteger(f, instruction, x);

  ir::Type type = range.bits < 32 ? ir::I32 : irType(to);
  // Rounded already: below 0 is -1 or less, which denormals are not in question for.
  Value low = floatConstant(b, x->type, range.isSigned ? static_cast<double>(range.low()) : -1);
  Value above = floatConstant(b, x->type, std::ldexp(1.0, int(range.bits) - (range.isSigned ? 1 : 0)));
  Value isLow = b.compare(range.isSigned ? Op::FLt : Op::FLe, x, low), isHigh = b.compare(Op::FLe, above, x);
  Value outside = b.bitOr(b.bitOr(isLow, isHigh), isNan(b, x));
  Value inside = b.select(outside, floatConstant(b, x->type, 0), x);
  Value result = b.convert(range.isSigned ? Op::FToS : Op::FToU, type, inside);
  result = b.select(isLow, b.constant(type, static_cast<uint64_t>(range.low())), result);
  result = b.select(isHigh, b.constant(type, range.high()), result);
  if (range.bits == 64 || from == Type::F64)
    result = b.select(isNan(b, x), b.constant(type, uint64_t(1) << (range.bits - 1)), result);
  f.write(instruction.operands[0], resize(b, result, irType(to), range.isSigned), range.isSigned);
}

void convertFromInteger(FunctionLowering& f, const Instruction& instruction) {
  ir::Builder& b = f.b;
  Type to = instruction.type(0), from = instruction.type(1);
  bool isSigned = ptx::isSigned(from);
  Value x = operand(f, instruction, 1, from);
  Op op = isSigned ? Op::SToF : Op::UToF;
  Rounding rounding = roundingOf(instruction);
  bool isNarrow = to == Type::F16 || to == Type::BF16;
  // Narrow results come from f32. What that cannot hold is infinite in f16; for bf16, rounding to odd keeps the last
  // step exact.
  FloatControl first{rounding};
  const bool isHeld = to == Type::F16 || x->type.bits <= 16;
  if (isNarrow) first.rounding = isHeld ? Rounding::NearestEven : Rounding::ToOdd;
  if (x->type.bits < 32) x = resize(b, x, ir::I32, isSigned);
  Value result = b.convert(op, isNarrow ? ir::F32 : irType(to), x, first);
  if (to == Type::BF16) {
    Value bits = narrowFloat(b, result, bfloat, {rounding});
    return f.write(instruction.operands[0], b.convert(Op::Trunc, ir::I16, bits));
  }
  if (isNarrow) result = b.convert(Op::FConvert, ir::F16, result, {rounding});
  if (instruction.has(Mod::sat)) result = clampToUnit(b, result);
  f.write(instruction.operands[0], result);
}

// f16's largest number in place of an infinity, for .satfinite.
Value saturateHalf(ir::Builder& b, Value x) {
  Value bits = bitsOf(b, x);
  Value magnitude = b.bitAnd(bits, b.constant(ir::I16, 0x7FFF));
  Value isInfinite = b.compare(Op::IEq, magnitude, b.constant(ir::I16, half.infinity()));
  return b.bitcast(ir::F16, b.select(isInfinite, b.sub(bits, b.constant(ir::I16, 1)), bits));
}

// Of f32 numbers, rectified before if so asked.
Value toBfloats(FunctionLowering& f, const Instruction& instruction, std::vector<Value> lanes) {
  ir::Builder& b = f.b;
  if (flushes(f, instruction))
    for (Value& x : lanes) x = b.floating(Op::FMul, {Rounding::NearestEven, true}, {x, b.f32(1)});
  return packBfloats(f, lanes, {roundingOf(instruction), false, instruction.has(Mod::satfinite)});
}

// f32 or f64 to the 16-bit float types; the result as it is stored (f16, or i16 for bf16).
Value toNarrowFloat(FunctionLowering& f, const Instruction& instruction, Value x, bool isBfloat) {
  ir::Builder& b = f.b;
  // From f64 the upper bits of a NaN's payload stay.
  Value payload = nullptr;
  if (x->type == ir::F64) {
    x = b.convert(Op::FConvert, ir::F32, x, {Rounding::ToOdd});
    Value bits = bitsOf(b, x);
    payload = b.lshr(bits, b.i32(16));
    if (!isBfloat) payload = b.bitOr(b.bitAnd(payload, b.i32(0x8000)), b.bitAnd(b.lshr(bits, b.i32(13)), b.i32(0x3FF)));
    payload = b.convert(Op::Trunc, ir::I16, b.bitOr(payload, b.i32(isBfloat ? 0x7FC0 : 0x7E00)));
  }
  if (x->type == ir::F16) x = b.convert(Op::FConvert, ir::F32, x);
  if (instruction.has(Mod::relu)) x = rectify(b, x);
  if (isBfloat) {
    Value bits = toBfloats(f, instruction, {x});
    return payload ? b.select(isNan(b, x), payload, bits) : bits;
  }
  Value result = b.convert(Op::FConvert, ir::F16, x, {roundingOf(instruction)});  // whatever .ftz says: seen on an H200
  if (payload) result = b.select(isNan(b, x), b.bitcast(ir::F16, payload), result);
  else if (!f.profile().nvidiaNan) result = orNan(b, isNan(b, x), result);
  return instruction.has(Mod::satfinite) ? saturateHalf(b, result) : result;
}

void convertFloat(FunctionLowering& f, const Instruction& instruction) {
  ir::Builder& b = f.b;
  Type to = instruction.type(0), from = instruction.type(1);
  Value x = unpackFloats(f, instruction.operands[1], from)[0];
  bool narrows = (to == Type::F16 && from != Type::F16) || to == Type::BF16;
  if (to == Type::BF16 && from == Type::BF16) {
    x = orNan(b, isNan(b, x), roundToInteger(f, instruction, x));
    return f.write(instruction.operands[0], b.convert(Op::Trunc, ir::I16, b.lshr(bitsOf(b, x), b.i32(16))));
  }
  bool flush = flushes(f, instruction);
  // Flushing is a product, of which every NaN comes out as the hardware's; f16 has an addition in its place.
  bool unites = (flush && x->type == ir::F32) || (to == Type::F16 && from == Type::F16);
  if (unites && !narrows) x = orNan(b, isNan(b, x), x);
  Value result;
  if (narrows) {
    result = toNarrowFloat(f, instruction, x, to == Type::BF16);
  } else if (x->type == irType(to)) {
    result = roundToInteger(f, instruction, x);
    // A plain move flushes: multiplying by one does so too.
    if (result == x && flush) result = b.floating(Op::FMul, {Rounding::NearestEven, true}, {x, b.f32(1)});
  } else {
    result = b.convert(Op::FConvert, irType(to), x, {roundingOf(instruction), flush});
  }
  if (instruction.has(Mod::sat)) result = clampToUnit(b, result, flush && to == Type::F32);
  f.write(instruction.operands[0], result);
}

// cvt.f16x2.f32 d, a, b and cvt.bf16x2.f32: a becomes the upper half.
void convertToHalves(FunctionLowering& f, const Instruction& instruction, bool isBfloat) {
  ir::Builder& b = f.b;
  std::vector<Value> lanes = {operand(f, instruction, 2, Type::F32), operand(f, instruction, 1, Type::F32)};
  if (isBfloat) {
    if (instruction.has(Mod::relu))
      for (Value& x : lanes) x = rectify(b, x);
    return f.write(instruction.operands[0], toBfloats(f, instruction, lanes));
  }
  for (Value& x : lanes) x = toNarrowFloat(f, instruction, x, false);
  f.write(instruction.operands[0], b.bitcast(ir::I32, b.vector(lanes)));
}

// cvt.rs.bf16x2.f32 d, a, b, r: 16 random bits are added below the last place of the result, and what lies there is cut
// off. The upper half of r is for a.
void convertToBfloatsAtRandom(FunctionLowering& f, const Instruction& instruction) {
  ir::Builder& b = f.b;
  Value random = f.value(instruction.operands[3], ir::I32);
  Value added[] = {b.bitAnd(random, b.i32(0xFFFF)), b.lshr(random, b.i32(16))};
  Value result[2];
  for (unsigned i = 0; i < 2; ++i) {
    Value x = operand(f, instruction, 2 - i, Type::F32);
    if (instruction.has(Mod::relu)) x = rectify(b, x);
    Value bits = b.lshr(b.add(bitsOf(b, x), added[i]), b.i32(16));
    if (instruction.has(Mod::satfinite)) {
      Value isInfinite = b.compare(Op::IEq, b.bitAnd(bits, b.i32(0x7FFF)), b.i32(0x7F80));
      bits = b.select(isInfinite, b.sub(bits, b.i32(1)), bits);
    }
    result[i] = b.select(isNan(b, x), b.i32(0x7FFF), bits);
  }
  f.write(instruction.operands[0], b.bitOr(result[0], b.shl(result[1], b.i32(16))));
}

// tf32 is f32 with 10 bits of mantissa, the rest zero.
void convertToTensorFloat(FunctionLowering& f, const Instruction& instruction) {
  ir::Builder& b = f.b;
  Value x = operand(f, instruction, 1, Type::F32);
  if (instruction.has(Mod::relu)) x = rectify(b, x);
  bool tiesAway = instruction.has(Mod::rna), finite = instruction.has(Mod::satfinite);
  Value bits = b.shl(narrowFloat(b, x, tensorFloat, {roundingOf(instruction), tiesAway, finite}), b.i32(13));
  // .rna is made of integer operations that cut NaNs off, and then lower what has no smaller exponent.
  Value nan = b.i32(0x7FFFE000);
  if (tiesAway) nan = b.bitAnd(bitsOf(b, x), b.i32(0xFFFFE000));
  if (tiesAway && finite) nan = b.sub(nan, b.i32(0x2000));
  f.write(instruction.operands[0], b.select(isNan(b, x), nan, bits));
}

struct SmallPair {
  Type type;
  FloatFormat format;
  unsigned laneBits;  // each number's place in the packed value
};
constexpr SmallPair smallPairs[] = {
    {Type::E4M3x2, e4m3, 8}, {Type::E5M2x2, e5m2, 8}, {Type::E2M3x2, e2m3, 8},
    {Type::E3M2x2, e3m2, 8}, {Type::E2M1x2, e2m1, 4},
};

const SmallPair* findSmallPair(Type type) {
  for (const SmallPair& pair : smallPairs)
    if (pair.type == type) return &pair;
  return nullptr;
}

void writePair(FunctionLowering& f, const Instruction& instruction, Value low, Value high, unsigned laneBits) {
  ir::Builder& b = f.b;
  Value bits = b.bitOr(low, b.shl(high, b.i32(laneBits)));
  f.write(instruction.operands[0], b.convert(Op::Trunc, ir::intType(2 * laneBits), bits));
}

void convertToSmallPair(FunctionLowering& f, const Instruction& instruction, const SmallPair& pair) {
  ir::Builder& b = f.b;
  Value lanes[2];
  if (instruction.type(1) == Type::F32) {
    for (unsigned i = 0; i < 2; i++) lanes[i] = operand(f, instruction, 2 - i, Type::F32);
  } else {
    std::vector<Value> halves = unpackFloats(f, instruction.operands[1], Type::F16x2);
    for (unsigned i = 0; i < 2; i++) lanes[i] = b.convert(Op::FConvert, ir::F32, halves[i]);
  }
  for (Value& lane : lanes) {
    if (instruction.has(Mod::relu)) lane = rectify(b, lane);
    lane = narrowToSmall(b, lane, pair.format);
  }
  writePair(f, instruction, lanes[0], lanes[1], pair.laneBits);
}

void convertFromSmallPair(FunctionLowering& f, const Instruction& instruction, const SmallPair& pair) {
  ir::Builder& b = f.b;
  Value packed = resize(b, f.value(instruction.operands[1], ir::intType(2 * pair.laneBits)), ir::I32, false);
  std::vector<Value> lanes = widenSmallPair(b, lane(b, packed, 0, pair.laneBits, false),
                                            lane(b, packed, 1, pair.laneBits, false), pair.format);
  for (Value& lane : lanes)
    if (instruction.has(Mod::relu)) lane = rectify(b, lane);
  writeFloats(f, instruction.operands[0], Type::F16x2, lanes);
}

// ue8m0 is an exponent: the power of two below (.rz) or not below (.rp) the magnitude; 0xFF is NaN.
Value toExponent(FunctionLowering& f, const Instruction& instruction, Value x) {
  ir::Builder& b = f.b;
  Value magnitude = b.bitAnd(bitsOf(b, x), b.i32(0x7FFFFFFF));
  // Subnormal numbers lie below 2^-126, which is exponent 1; 2^-127 is exponent 0.
  Value rounded = magnitude;
  if (roundingOf(instruction) == Rounding::Up) {
    Value isTiny = b.compare(Op::ULe, magnitude, b.i32(0x00400000));
    rounded = b.select(isTiny, b.i32(0), b.add(magnitude, b.i32(0x007FFFFF)));
  }
  Value exponent = b.lshr(rounded, b.i32(23));
  if (instruction.has(Mod::satfinite)) exponent = b.binary(Op::UMin, exponent, b.i32(0xFE));
  return b.select(isNan(b, x), b.i32(0xFF), exponent);
}

void convertToExponents(FunctionLowering& f, const Instruction& instruction) {
  Value lanes[2];
  if (instruction.type(1) == Type::F32) {
    for (unsigned i = 0; i < 2; i++) lanes[i] = operand(f, instruction, 2 - i, Type::F32);
  } else {
    std::vector<Value> halves = unpackFloats(f, instruction.operands[1], Type::BF16x2);
    for (unsigned i = 0; i < 2; i++) lanes[i] = halves[i];
  }
  for (Value& lane : lanes) lane = toExponent(f, instruction, lane);
  writePair(f, instruction, lanes[0], lanes[1], 8);
}

void convertFromExponents(FunctionLowering& f, const Instruction& instruction) {
  ir::Builder& b = f.b;
  Value packed = resize(b, f.value(instruction.operands[1], ir::I16), ir::I32, false);
  Value result = nullptr;
  for (unsigned i = 0; i < 2; i++) {
    Value exponent = lane(b, packed, i, 8, false);
    Value bits = b.select(b.compare(Op::IEq, exponent, b.i32(0)), b.i32(0x40), b.shl(exponent, b.i32(7)));
    bits = b.select(b.compare(Op::IEq, exponent, b.i32(0xFF)), b.i32(0x7FFF), bits);
    result = result ? b.bitOr(result, b.shl(bits, b.i32(16))) : bits;
  }
  f.write(instruction.operands[0], result);
}

// cvt.pack: a and b saturated, a above b; the low part of c above both.
void lowerPack(FunctionLowering& f, const Instruction& instruction) {
  ir::Builder& b = f.b;
  Range range = rangeOf(instruction.type(0));
  Value result = nullptr;
  for (unsigned i = 0; i < 2; i++) {
    Value x = f.value(instruction.operands[2 - i], ir::I32);
    x = clampInt(b, true, x, range.low(), static_cast<int64_t>(range.high()));
    x = b.shl(b.bitAnd(x, b.i32(static_cast<uint32_t>(lowMask(range.bits)))), b.i32(i * range.bits));
    result = result ? b.bitOr(result, x) : x;
  }
  if (instruction.operands.size() > 3)
    result = b.bitOr(result, b.shl(f.value(instruction.operands[3], ir::I32), b.i32(2 * range.bits)));
  f.write(instruction.operands[0], result);
}

void lowerCvt(FunctionLowering& f, const Instruction& instruction) {
  if (instruction.has(Mod::pack)) return lowerPack(f, instruction);
  Type to = instruction.type(0), from = instruction.type(1);
  if (instruction.has(Mod::rs)) {
    if (to == Type::BF16x2) return convertToBfloatsAtRandom(f, instruction);
    return f.refuse(instruction, "how the device rounds small numbers at random is known for bf16 alone");
  }
  if (const SmallPair* pair = findSmallPair(to)) return convertToSmallPair(f, instruction, *pair);
  if (const SmallPair* pair = findSmallPair(from)) return convertFromSmallPair(f, instruction, *pair);
  switch (to) {
    case Type::UE8M0x2: return convertToExponents(f, instruction);
    case Type::TF32: return convertToTensorFloat(f, instruction);
    case Type::F16x2: return convertToHalves(f, instruction, false);
    case Type::BF16x2:
      return from == Type::UE8M0x2 ? convertFromExponents(f, instruction) : convertToHalves(f, instruction, true);
    default: break;
  }
  bool fromFloat = ptx::isFloat(from), toFloat = ptx::isFloat(to);
  if (fromFloat && toFloat) return convertFloat(f, instruction);
  if (fromFloat) return convertToInteger(f, instruction);
  if (toFloat) return convertFromInteger(f, instruction);
  convertInteger(f, instruction);
}

constexpr Lowering rows[] = {{Opcode::Cvt, lowerCvt}};

}  // namespace

std::span<const Lowering> convertLowerings() { return rows; }

}  // namespace mulciber::lower
