#include "translator/passes/rounded_arithmetic.h"

#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "translator/ir/float_bits.h"
#include "translator/passes/soft_float.h"

namespace mulciber::passes {

using ir::F16;
using ir::F32;
using ir::F64;
using ir::I32;
using ir::I64;
using ir::Op;
using ir::Rounding;
using Value = RoundedArithmetic::Value;

namespace {

Value first(std::initializer_list<Value> operands) { return *operands.begin(); }

}  // namespace

Value RoundedArithmetic::magnitudeBits(Value x) {
  Value pattern = bits(x);
  return b.bitAnd(pattern, like(pattern, signBit(x->type) - 1));
}

// A comparison that flushes its operands says the same.
Value RoundedArithmetic::isDenormal(Value x) {
  return b.compare(Op::FLt, b.unary(Op::FAbs, x), like(x, smallestNormal(x->type)));
}

Value RoundedArithmetic::flush(Value x) {
  if (x->isConstant() && profile_.foldsZeros) {  // what is then a zero must be seen to be one
    const uint64_t sign = signBit(x->type), magnitude = x->payload & (sign - 1);
    return magnitude < smallestNormal(x->type) ? b.constant(x->type, x->payload & sign) : x;
  }
  Value pattern = bits(x);
  Value zero = b.bitcast(x->type, b.bitAnd(pattern, like(pattern, signBit(x->type))));
  return b.select(isDenormal(x), zero, x);
}

Value RoundedArithmetic::minMax(bool isMin, Value x, Value y) {
  Value result = b.binary(isMin ? Op::FMin : Op::FMax, x, y);
  // Equal numbers are the same bits, except for two zeros: the signs' union is their minimum.
  Value both = isMin ? b.bitOr(bits(x), bits(y)) : b.bitAnd(bits(x), bits(y));
  return b.select(b.compare(Op::FEq, x, y), b.bitcast(x->type, both), result);
}

Value RoundedArithmetic::oneNan(Value x) {
  uint64_t nan = x->type == F16 ? 0x7FFF : 0x7FFF'FFFF;
  return b.select(b.emit(Op::FIsNan, ir::Bool, {x}), b.constant(x->type, nan), x);
}

// Computed again for operands that are a power of two larger, where nothing is denormal.
Value RoundedArithmetic::isTiny(Op op, Rounding rounding, bool isNative, std::vector<Value> operands, Value result) {
  ir::Type type = result->type;
  int steps = type == F16 ? 8 : 24, mantissa = type == F16 ? 10 : 23;
  auto raisedBits = [&](uint64_t bits) { return bits + (static_cast<uint64_t>(steps) << mantissa); };
  auto raised = [&](Value x) { return b.binary(Op::FMul, x, b.constant(type, raisedBits(one(type)))); };
  if (op == Op::FRcp) {
    operands.insert(operands.begin(), b.constant(type, one(type)));
    op = Op::FDiv;
  }
  if (op != Op::FDiv) {  // of two factors the smaller one has the room
    Value swap = b.compare(Op::ULt, magnitudeBits(operands[0]), magnitudeBits(operands[1]));
    Value small = b.select(swap, operands[0], operands[1]);
    operands[1] = b.select(swap, operands[1], operands[0]);
    operands[0] = small;
  }
  operands[0] = raised(operands[0]);
  if (op == Op::Fma) operands[2] = raised(operands[2]);
  Value again = !isNative       ? compute(op, rounding, operands)
                : op == Op::Fma ? b.emit(op, type, {operands[0], operands[1], operands[2]})
                                : b.binary(op, operands[0], operands[1]);
  Value isEdge = b.compare(Op::IEq, magnitudeBits(result), like(bits(result), smallestNormal(type)));
  Value limit = like(bits(result), raisedBits(smallestNormal(type)));
  return b.bitAnd(isEdge, b.compare(Op::ULt, magnitudeBits(again), limit));
}

Value RoundedArithmetic::widen(Value x) {
  if (x->type == F64) return x;
  const bool isZero = x->isConstant() && (x->payload & (signBit(x->type) - 1)) == 0;
  return isZero && profile_.foldsZeros ? b.f64(x->payload == 0 ? 0.0 : -0.0) : b.convert(Op::FConvert, F64, x);
}

// By its bits: NVIDIA's driver takes a conversion to f16 and back for no conversion.
Value RoundedArithmetic::widenHalf(Value x) {
  Value pattern = b.convert(Op::ZExt, I32, bits(x));
  Value magnitude = b.bitAnd(pattern, b.i32(0x7FFF));
  Value normal = b.add(b.shl(magnitude, b.i32(13)), b.i32(112u << 23));
  Value tiny = b.bitcast(I32, b.binary(Op::FMul, b.convert(Op::UToF, F32, magnitude), b.f32(0x1p-24f)));
  Value result = b.select(b.compare(Op::ULt, magnitude, b.i32(0x400)), tiny, normal);
  Value infinite = b.bitOr(b.shl(magnitude, b.i32(13)), b.i32(0x7F80'0000));
  result = b.select(b.compare(Op::ULe, b.i32(0x7C00), magnitude), infinite, result);
  return b.bitcast(F32, b.bitOr(result, b.shl(b.bitAnd(pattern, b.i32(0x8000)), b.i32(16))));
}

// One unit away from `result`, to where the exact value is, if the rounding wants that neighbour. `remainder` is of the
// sign of exact - result, in a type that is not narrower; a NaN is no remainder. Of an infinity that finite operands
// gave it is the infinity of the other sign: one unit less is the largest number.
Value RoundedArithmetic::step(Value result, Value remainder, Rounding rounding) {
  Value pattern = bits(result);
  auto one = [&] { return like(pattern, 1); };
  // 1 or -1, as the number grows.
  auto upwards = [&] { return b.bitOr(b.ashr(pattern, b.i32(result->type.bits - 1)), one()); };
  Value moved = pattern, zero = b.constant(remainder->type, 0);
  switch (rounding) {
    case Rounding::NearestEven: break;
    case Rounding::Down:
      moved = b.select(b.compare(Op::FLt, remainder, zero), b.sub(pattern, upwards()), pattern);
      break;
    case Rounding::Up: moved = b.select(b.compare(Op::FLt, zero, remainder), b.add(pattern, upwards()), pattern); break;
    case Rounding::TowardZero:
    case Rounding::ToOdd: {
      Value away = withSignOf(remainder, result);  // less than zero: the exact magnitude is less
      moved = b.select(b.compare(Op::FLt, away, zero), b.sub(pattern, one()), pattern);
      if (rounding == Rounding::ToOdd)
        moved = b.select(b.compare(Op::FNe, remainder, zero), b.bitOr(moved, one()), moved);
      break;
    }
  }
  return b.bitcast(result->type, moved);
}

// x, its sign changed where y is negative.
Value RoundedArithmetic::withSignOf(Value x, Value y) {
  Value sign = b.bitAnd(bits(y), like(bits(y), signBit(y->type)));
  if (const unsigned more = x->type.bits - y->type.bits)
    sign = b.shl(b.convert(Op::ZExt, x->type.asInt(), sign), b.i32(more));
  return b.bitcast(x->type, b.bitXor(bits(x), sign));
}

// An exact sum of zero: rounding down it is negative unless both terms are positive.
Value RoundedArithmetic::signedZero(Value result, Value x, Value y, Rounding rounding) {
  if (rounding != Rounding::Down) return result;
  Value signs = b.bitOr(bits(x), bits(y));
  Value zero = b.bitcast(result->type, b.bitAnd(signs, like(signs, signBit(result->type))));
  return b.select(b.compare(Op::FEq, result, b.constant(result->type, 0)), zero, result);
}

// x + y of a type whose denormals are kept. The smaller operand's lost part is exact: (x + y) - x, subtracted from y.
// Of an infinite operand it is a NaN, of two finite ones whose sum is infinite the other infinity.
Value RoundedArithmetic::sum(Rounding rounding, Value x, Value y) {
  Value nearest = b.binary(Op::FAdd, x, y);
  Value swap = b.compare(Op::FLt, b.unary(Op::FAbs, x), b.unary(Op::FAbs, y));
  Value large = b.select(swap, y, x), small = b.select(swap, x, y);
  Value remainder = b.binary(Op::FSub, small, b.binary(Op::FSub, nearest, large));
  return signedZero(step(nearest, remainder, rounding), x, y, rounding);
}

Value RoundedArithmetic::sumOdd(Value x, Value y, Rounding zeroSign) {
  return signedZero(sum(Rounding::ToOdd, x, y), x, y, zeroSign);
}

Value RoundedArithmetic::fma64(Value x, Value y, Value z) {
  if (profile_.exactFma64) return b.emit(Op::Fma, F64, {x, y, z});
  return softFma(b, Rounding::NearestEven, x, y, z);
}

Value RoundedArithmetic::wideProduct(Rounding rounding, Value x, Value y) {
  if (!profile_.exactFma64) return softFma(b, rounding, x, y, zeroOfProduct(x, y));
  Value zero = b.f64(0);
  Value product = b.binary(Op::FMul, x, y);
  // The remainder of a tiny product would underflow: find it for a factor 2^600 times larger.
  Value isTiny = b.compare(Op::ULt, magnitudeBits(product), b.i64(uint64_t(1023 - 900) << 52));
  Value factor = b.select(isTiny, b.constant(F64, uint64_t(1023 + 600) << 52), b.f64(1));
  Value swap = b.compare(Op::ULt, magnitudeBits(x), magnitudeBits(y));
  Value small = b.select(swap, x, y), large = b.select(swap, y, x);
  Value remainder = b.emit(
      Op::Fma, F64, {b.binary(Op::FMul, small, factor), large, b.unary(Op::FNeg, b.binary(Op::FMul, product, factor))});
  // A product that vanished has its sign left.
  Value vanished =
      b.bitAnd(b.compare(Op::FEq, product, zero), b.bitAnd(b.compare(Op::FNe, x, zero), b.compare(Op::FNe, y, zero)));
  Value unit = b.bitcast(F64, b.bitOr(b.bitAnd(bits(product), b.i64(signBit(F64))), b.i64(one(F64))));
  remainder = b.select(vanished, unit, remainder);
  return step(product, remainder, rounding);
}

// Where x is tiny the remainder would underflow: both x and y are made larger, unless y is large already.
Value RoundedArithmetic::residual(Value x, Value q, Value y) {
  Value tiny = b.compare(Op::ULt, magnitudeBits(x), b.i64(uint64_t(1023 - 800) << 52));
  Value room = b.compare(Op::ULt, magnitudeBits(y), b.i64(uint64_t(1023 + 100) << 52));
  Value factor = b.select(b.bitAnd(tiny, room), b.constant(F64, uint64_t(1023 + 200) << 52), b.f64(1));
  return fma64(b.unary(Op::FNeg, q), b.binary(Op::FMul, y, factor), b.binary(Op::FMul, x, factor));
}

Value RoundedArithmetic::wideQuotient(Rounding rounding, Value x, Value y) {
  if (!profile_.exactDivSqrt64) return refinedQuotient(rounding, x, y);
  Value quotient = b.binary(Op::FDiv, x, y);
  if (rounding == Rounding::NearestEven) return quotient;
  return step(quotient, withSignOf(residual(x, quotient, y), y), rounding);
}

Value RoundedArithmetic::wideRoot(Rounding rounding, Value x) {
  if (!profile_.exactDivSqrt64) return refinedRoot(rounding, x);
  Value root = b.unary(Op::FSqrt, x);
  if (rounding == Rounding::NearestEven) return root;
  Value tiny = b.compare(Op::ULt, magnitudeBits(x), b.i64(uint64_t(1023 - 800) << 52));
  Value scaledX = b.binary(Op::FMul, x, b.select(tiny, b.constant(F64, uint64_t(1023 + 200) << 52), b.f64(1)));
  Value scaledRoot = b.binary(Op::FMul, root, b.select(tiny, b.constant(F64, uint64_t(1023 + 100) << 52), b.f64(1)));
  Value remainder = fma64(b.unary(Op::FNeg, scaledRoot), scaledRoot, scaledX);
  return step(root, remainder, rounding);
}

// The quotient of the significands, cut off, and a bit for the remainder: a device's own quotient, which may be off by
// a few units, refined once. The remainder of numbers in [1, 2) is exact.
Value RoundedArithmetic::refinedQuotient(Rounding rounding, Value x, Value y) {
  Value plain = b.binary(Op::FDiv, x, y);  // right for zeros, infinities and NaNs
  Scaled numerator = scaled(x), divisor = scaled(y);
  Value q = b.binary(Op::FDiv, numerator.value, divisor.value);
  Value remainder = fma64(b.unary(Op::FNeg, q), divisor.value, numerator.value);
  q = b.binary(Op::FAdd, q, b.binary(Op::FDiv, remainder, divisor.value));
  remainder = fma64(b.unary(Op::FNeg, q), divisor.value, numerator.value);
  q = stepBelow(q, remainder);
  remainder = fma64(b.unary(Op::FNeg, q), divisor.value, numerator.value);
  Value half = b.binary(Op::FMul, divisor.value, halfUnit(q));
  Value isHalf = b.compare(Op::FLe, half, remainder);
  Value beyond = b.bitAnd(b.compare(Op::FNe, remainder, b.f64(0)), b.compare(Op::FNe, remainder, half));
  Value negative = b.compare(Op::SLt, b.bitXor(bits(x), bits(y)), b.i64(0));
  Value result = assemble(rounding, negative, b.sub(numerator.exponent, divisor.exponent), q, isHalf, beyond);
  return b.select(b.bitOr(isSpecial(x), isSpecial(y)), plain, result);
}

Value RoundedArithmetic::refinedRoot(Rounding rounding, Value x) {
  Value plain = b.unary(Op::FSqrt, x);
  Scaled radicand = scaled(x);
  // An odd exponent leaves a factor of two with the significand.
  Value odd = b.bitAnd(radicand.exponent, b.i32(1));
  Value isOdd = b.compare(Op::INe, odd, b.i32(0));
  Value value = b.select(isOdd, b.binary(Op::FAdd, radicand.value, radicand.value), radicand.value);
  Value root = b.unary(Op::FSqrt, value);
  Value remainder = fma64(b.unary(Op::FNeg, root), root, value);
  root = b.binary(Op::FAdd, root, b.binary(Op::FDiv, remainder, b.binary(Op::FAdd, root, root)));
  remainder = fma64(b.unary(Op::FNeg, root), root, value);
  root = stepBelow(root, remainder);
  remainder = fma64(b.unary(Op::FNeg, root), root, value);
  // The square of root + half a unit is a little more than the value and this: equal is below.
  Value half = b.binary(Op::FMul, b.binary(Op::FAdd, root, root), halfUnit(root));
  Value isHalf = b.compare(Op::FLt, half, remainder), beyond = b.compare(Op::FNe, remainder, b.f64(0));
  Value exponent = b.ashr(b.sub(radicand.exponent, odd), b.i32(1));
  Value result = assemble(rounding, b.boolean(false), exponent, root, isHalf, beyond);
  Value negative = b.compare(Op::SLt, bits(x), b.i64(0));
  return b.select(b.bitOr(isSpecial(x), negative), plain, result);
}

Value RoundedArithmetic::isSpecial(Value x) {  // 0, infinity, NaN
  Value magnitude = magnitudeBits(x);
  return b.bitOr(b.compare(Op::IEq, magnitude, b.i64(0)), b.compare(Op::ULe, b.i64(infinity(F64)), magnitude));
}

// |x| as a number in [1, 2) and the power of two that is missing.
RoundedArithmetic::Scaled RoundedArithmetic::scaled(Value x) {
  Value magnitude = magnitudeBits(x);
  Value zeros = b.sub(b.i32(63), b.convert(Op::FindMsbU, I32, magnitude));
  Value shift = b.bitAnd(b.sub(zeros, b.i32(11)), b.i32(63));
  Value tiny = b.compare(Op::ULt, magnitude, b.i64(smallestNormal(F64)));
  Value field = b.convert(Op::Trunc, I32, b.lshr(magnitude, b.i32(52)));
  Value fraction = b.bitAnd(b.select(tiny, b.shl(magnitude, shift), magnitude), b.i64(smallestNormal(F64) - 1));
  Value exponent = b.sub(b.select(tiny, b.sub(b.i32(1), shift), field), b.i32(1023));
  return {b.bitcast(F64, b.bitOr(fraction, b.i64(one(F64)))), exponent};
}

// The next number below where the remainder says that this one is too large.
Value RoundedArithmetic::stepBelow(Value value, Value remainder) {
  Value pattern = bits(value);
  Value smaller = b.sub(pattern, b.i64(1));
  return b.bitcast(F64, b.select(b.compare(Op::FLt, remainder, b.f64(0)), smaller, pattern));
}

// Half a unit in the last place of a number in [0.5, 2).
Value RoundedArithmetic::halfUnit(Value value) {
  Value isSmall = b.compare(Op::FLt, value, b.f64(1));
  return b.select(isSmall, b.constant(F64, uint64_t(1023 - 54) << 52), b.constant(F64, uint64_t(1023 - 53) << 52));
}

// (value and what it lacks: half a unit, and or more) * 2^exponent, where value is in [0.5, 2).
Value RoundedArithmetic::assemble(Rounding rounding, Value isNegative, Value exponent, Value value, Value isHalf,
                                  Value beyond) {
  Value pattern = bits(value);
  Value leading = b.bitOr(b.bitAnd(pattern, b.i64(smallestNormal(F64) - 1)), b.i64(smallestNormal(F64)));
  Value below = b.bitOr(b.shl(b.convert(Op::ZExt, I64, isHalf), b.i32(10)), b.convert(Op::ZExt, I64, beyond));
  Value significand = b.bitOr(b.shl(leading, b.i32(11)), below);
  Value field = b.convert(Op::Trunc, I32, b.lshr(pattern, b.i32(52)));
  return packFloat(b, F64, rounding, isNegative, b.add(field, exponent), significand);
}

// 2 to the nearest integer and, by its Taylor series, to the fraction. The power of the integer is multiplied in two
// halves: it may be denormal or infinite.
Value RoundedArithmetic::power(Value x) {
  x = b.select(b.compare(Op::FLt, x, b.f32(-160)), b.f32(-160), x);
  x = b.select(b.compare(Op::FLt, b.f32(160), x), b.f32(160), x);
  Value whole = b.unary(Op::FRound, x), fraction = b.binary(Op::FSub, x, whole);
  constexpr double ln2 = 0.6931471805599453;
  constexpr int terms = 7;
  std::array<float, terms + 1> factors{1};
  for (double n = 1, factor = 1; n <= terms; ++n) factors[static_cast<size_t>(n)] = float(factor *= ln2 / n);
  Value result = b.f32(factors[terms]);
  for (size_t n = terms; n-- > 0;) result = b.emit(Op::Fma, F32, {result, fraction, b.f32(factors[n])});
  Value exponent = b.convert(Op::FToS, I32, whole), half = b.ashr(exponent, b.i32(1));
  for (Value part : {half, b.sub(exponent, half)})
    result = b.binary(Op::FMul, result, b.bitcast(F32, b.shl(b.add(part, b.i32(127)), b.i32(23))));
  return result;
}

// f32 operations without f64.
Value RoundedArithmetic::softSingle(Op op, Rounding rounding, std::initializer_list<Value> operands) {
  const Value* x = operands.begin();
  switch (op) {
    case Op::FAdd: return softFma(b, rounding, x[0], b.f32(1), x[1]);
    case Op::FSub: return softFma(b, rounding, x[0], b.f32(1), b.unary(Op::FNeg, x[1]));
    case Op::FMul: return softFma(b, rounding, x[0], x[1], zeroOfProduct(x[0], x[1]));
    case Op::Fma: return softFma(b, rounding, x[0], x[1], x[2]);
    case Op::FDiv: return softQuotient32(b, rounding, x[0], x[1]);
    case Op::FRcp: return softQuotient32(b, rounding, b.f32(1), x[0]);
    default: return softRoot32(b, rounding, x[0]);
  }
}

// A zero that does not change the sign of the product it is added to.
Value RoundedArithmetic::zeroOfProduct(Value x, Value y) {
  Value signs = b.bitXor(bits(x), bits(y));
  return b.bitcast(x->type, b.bitAnd(signs, like(signs, signBit(x->type))));
}

// f32 operations in f64: sums and products keep all their bits there, or are rounded to odd.
Value RoundedArithmetic::single(Op op, Rounding rounding, std::initializer_list<Value> operands) {
  if (!profile_.float64) return softSingle(op, rounding, operands);
  std::vector<Value> wide;
  for (Value v : operands) wide.push_back(widen(v));
  switch (op) {
    case Op::FAdd: return convert(F32, sumOdd(wide[0], wide[1], rounding), rounding);
    case Op::FSub: return convert(F32, sumOdd(wide[0], b.unary(Op::FNeg, wide[1]), rounding), rounding);
    case Op::FMul: return convert(F32, b.binary(Op::FMul, wide[0], wide[1]), rounding);
    case Op::Fma: return convert(F32, sumOdd(b.binary(Op::FMul, wide[0], wide[1]), wide[2], rounding), rounding);
    default: break;
  }
  // The nearest result is found first; times the divisor (or itself) it is exact in f64, and so is the remainder.
  Value dividend = op == Op::FRcp ? b.f64(1) : wide[0];
  Value divisor = op == Op::FDiv ? wide[1] : wide[0];
  bool isRoot = op == Op::FSqrt;
  Value result;
  if (profile_.exactDivSqrt32) {
    result = b.emit(op, F32, operands);
  } else {  // the nearest f64 number is close enough for the nearest f32 number
    Value wideNearest =
        isRoot ? wideRoot(Rounding::NearestEven, divisor) : wideQuotient(Rounding::NearestEven, dividend, divisor);
    result = b.convert(Op::FConvert, F32, wideNearest);
  }
  if (rounding == Rounding::NearestEven) return result;
  Value wideResult = widen(result);
  Value remainder = b.binary(Op::FSub, dividend, b.binary(Op::FMul, wideResult, isRoot ? wideResult : divisor));
  return step(result, isRoot ? remainder : withSignOf(remainder, divisor), rounding);
}

// f16 in f32: a sum or product of two is exact there or survives two roundings; fma needs the odd one.
Value RoundedArithmetic::half(Op op, Rounding rounding, std::initializer_list<Value> operands) {
  std::vector<Value> wide;
  for (Value v : operands) wide.push_back(b.convert(Op::FConvert, F32, v));
  Value result;
  switch (op) {
    case Op::FMul: result = b.binary(Op::FMul, wide[0], wide[1]); break;
    case Op::FAdd: result = sumOdd(wide[0], wide[1], rounding); break;
    case Op::FSub: result = sumOdd(wide[0], b.unary(Op::FNeg, wide[1]), rounding); break;
    case Op::Fma: result = sumOdd(b.binary(Op::FMul, wide[0], wide[1]), wide[2], rounding); break;
    case Op::FDiv: result = single(op, Rounding::ToOdd, {wide[0], wide[1]}); break;
    default: result = single(op, Rounding::ToOdd, {wide[0]}); break;
  }
  return convert(F16, result, rounding);
}

Value RoundedArithmetic::compute(Op op, Rounding rounding, std::initializer_list<Value> operands) {
  ir::Type type = first(operands)->type;
  if (type == F32) return single(op, rounding, operands);
  if (type == F16) return half(op, rounding, operands);
  const Value* x = operands.begin();
  switch (op) {
    case Op::FAdd: return sum(rounding, x[0], x[1]);
    case Op::FSub: return sum(rounding, x[0], b.unary(Op::FNeg, x[1]));
    case Op::FMul: return wideProduct(rounding, x[0], x[1]);
    case Op::Fma: return softFma(b, rounding, x[0], x[1], x[2]);
    case Op::FDiv: return wideQuotient(rounding, x[0], x[1]);
    case Op::FRcp: return wideQuotient(rounding, b.f64(1), x[0]);
    default: return wideRoot(rounding, x[0]);
  }
}

Value RoundedArithmetic::compute(Op op, Rounding rounding, const std::vector<Value>& x) {
  if (x.size() == 1) return compute(op, rounding, {x[0]});
  if (x.size() == 2) return compute(op, rounding, {x[0], x[1]});
  return compute(op, rounding, {x[0], x[1], x[2]});
}

Value RoundedArithmetic::convert(ir::Type to, Value x, Rounding rounding) {
  if (to.bits >= x->type.bits) return b.convert(Op::FConvert, to, x);
  // Through f32 in two steps; rounding to odd keeps the second one right.
  if (to == F16 && x->type == F64) x = convert(F32, x, Rounding::ToOdd);
  Value result = b.convert(Op::FConvert, to, x);
  if (rounding == Rounding::NearestEven) return result;
  Value back = to == F16 && x->type == F32 ? widenHalf(result) : b.convert(Op::FConvert, x->type, result);
  return step(result, b.binary(Op::FSub, x, back), rounding);
}

// An integer that may have too many bits is cut into two parts that have not: their sum is rounded.
Value RoundedArithmetic::fromInteger(ir::Type to, Value x, bool isSigned, Rounding rounding) {
  const Op convertsInteger = isSigned ? Op::SToF : Op::UToF;
  if (x->type.bits < to.bits) return b.convert(convertsInteger, to, x);
  if (x->type.bits == to.bits) {
    const uint64_t lowPart = to == F32 ? 0xFF : 0xFFF;
    Value high = b.convert(convertsInteger, to, b.bitAnd(x, like(x, ~lowPart)));
    return sum(rounding, high, b.convert(Op::UToF, to, b.bitAnd(x, like(x, lowPart))));
  }
  if (profile_.float64) return convert(to, fromInteger(F64, x, isSigned, Rounding::ToOdd), rounding);
  // The leading bits, and one that stands for all others, are rounded as a float's.
  Value isNegative = isSigned ? b.compare(Op::SLt, x, b.i64(0)) : b.boolean(false);
  Value magnitude = isSigned ? b.select(isNegative, b.unary(Op::Neg, x), x) : x;
  Value isZero = b.compare(Op::IEq, magnitude, b.i64(0));
  Value zeros = b.binary(Op::UMin, b.sub(b.i32(63), b.convert(Op::FindMsbU, I32, magnitude)), b.i32(63));
  Value significand = b.shl(magnitude, zeros);
  Value exponent = b.sub(b.i32(1023 + 63), zeros);
  Value packed = packFloat(b, to, rounding, isNegative, exponent, significand);
  return b.select(isZero, b.constant(to, 0), packed);
}

}  // namespace mulciber::passes
