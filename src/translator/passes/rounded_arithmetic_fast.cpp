// RoundedArithmetic's guesses: short ways that are right but for operands or results of unusual size.
#include <bit>
#include <cmath>

#include "translator/ir/float_bits.h"
#include "translator/passes/rounded_arithmetic.h"

namespace mulciber::passes {

using ir::F32;
using ir::F64;
using ir::I32;
using ir::Op;
using ir::Rounding;
using Value = RoundedArithmetic::Value;

// Is `lowest` <= x < `highest`? Not for a NaN.
Value RoundedArithmetic::isBetween(Value x, float lowest, float highest) {
  return b.bitAnd(b.compare(Op::FLe, b.f32(lowest), x), b.compare(Op::FLt, x, b.f32(highest)));
}

// Is the magnitude of one of them less than `lowest`, or not less than `highest`, or a NaN's? Null where none can be.
// In integers, two operations for each: doubled bits have lost the sign.
Value RoundedArithmetic::isBeyond(std::initializer_list<Operand> operands, float lowest, float highest) {
  const uint32_t low = 2 * std::bit_cast<uint32_t>(lowest), width = 2 * std::bit_cast<uint32_t>(highest) - low;
  Value farthest = nullptr;
  for (const auto& [x, range] : operands) {
    const bool isAbove = range.low >= lowest && range.high < highest;
    const bool isBelow = range.high <= -lowest && range.low > -highest;
    if (!range.mayBeNan && (isAbove || isBelow)) continue;
    Value distance = b.sub(b.shl(bits(x), b.i32(1)), b.i32(low));
    farthest = farthest ? b.binary(Op::UMax, farthest, distance) : distance;
  }
  return farthest ? b.compare(Op::ULe, b.i32(width), farthest) : nullptr;
}

// What the reciprocal's error leaves: 1 - y * reciprocal, and the like.
Value RoundedArithmetic::remainder(Value x, Value q, Value y) {
  return b.emit(Op::Fma, F32, {b.unary(Op::FNeg, q), y, x});
}

// One step of Newton's from an estimate of 1 / y.
Value RoundedArithmetic::refinedReciprocal(Value estimate, Value y) {
  return b.emit(Op::Fma, F32, {estimate, remainder(b.f32(1), estimate, y), estimate});
}

// Of the significands of a divisor only few of the largest resist the methods below.
Value RoundedArithmetic::isEasyDivisor(Value y) {
  Value isClear = b.compare(Op::ULt, b.bitAnd(bits(y), b.i32(0x7F'FFFF)), b.i32(0x7F'FFC0));
  return b.bitAnd(isBetween(b.unary(Op::FAbs, y), 0x1p-60f, 0x1p60f), isClear);
}

Value RoundedArithmetic::estimatedReciprocal(Value y) {
  return b.floating(Op::FRcp, {Rounding::NearestEven, false, true}, {y});
}

// Of a constant: a quotient of doubles is near enough for the nearest.
std::optional<float> RoundedArithmetic::knownReciprocal(const Operand& y) {
  if (y.range.low != y.range.high) return std::nullopt;
  return static_cast<float>(1 / double{y.range.low});
}

// The nearest reciprocal or, for a few significands, a neighbour. NVIDIA's driver scales divisors around its own
// reciprocal, but nothing around this. The divisor's last bit serves as well as the estimate's, and on NVIDIA's
// hardware keeps the neighbours away from the significands where they lead to wrong quotients.
Value RoundedArithmetic::reciprocalByRoot(Value y) {
  Value size = b.floating(Op::FRsqrt, {Rounding::NearestEven, false, true}, {b.binary(Op::FMul, y, y)});
  Value ends = b.bitAnd(bits(y), b.i32(0x8000'0001));
  return refinedReciprocal(b.bitcast(F32, b.bitOr(b.bitAnd(bits(size), b.i32(0x7FFF'FFFE)), ends)), y);
}

RoundedArithmetic::Guess RoundedArithmetic::quickReciprocal(const Operand& y) {
  if (const auto known = knownReciprocal(y)) return {b.f32(*known), isBeyond({y}, 0x1p-125f, 0x1p125f)};
  if (profile_.refinesInOneStep32)
    return {refinedReciprocal(estimatedReciprocal(y.value), y.value), isBeyond({y}, 0x1p-125f, 0x1p125f)};
  Value refined = refinedReciprocal(estimatedReciprocal(y.value), y.value);
  return {refinedReciprocal(refined, y.value), b.bitNot(isEasyDivisor(y.value))};
}

// Markstein's theorem: a quotient within one unit, corrected by its exact remainder times the nearest reciprocal, is
// the nearest. docs/arithmetic.md says how it was seen to hold for a quotient within two units, and, with two
// corrections, for a reciprocal that is nearly the nearest.
RoundedArithmetic::Guess RoundedArithmetic::quickQuotient(const Operand& dividend, const Operand& divisor) {
  const Value x = dividend.value, y = divisor.value;
  const bool once = profile_.refinesInOneStep32;
  const auto known = knownReciprocal(divisor);
  Value reciprocal = known                       ? b.f32(*known)
                     : profile_.dividesByRoots32 ? reciprocalByRoot(y)
                                                 : refinedReciprocal(estimatedReciprocal(y), y);
  Value q = b.binary(Op::FMul, x, reciprocal);
  for (int i = 0; i < (once ? 1 : 2); ++i) q = b.emit(Op::Fma, F32, {remainder(x, q, y), reciprocal, q});
  auto zero = [=, this] { return quotientOfZero(x, y); };
  if (once) return {q, isBeyond({dividend, divisor}, 0x1p-62f, 0x1p61f), zero};
  Value inRange = isBetween(b.unary(Op::FAbs, x), 0x1p-60f, 0x1p60f);
  return {q, b.bitNot(b.bitAnd(inRange, isEasyDivisor(y))), zero};
}

// Which programs divide often: masked numbers, and differences of what is equal.
RoundedArithmetic::Closer RoundedArithmetic::quotientOfZero(Value x, Value y) {
  Value sign = b.bitAnd(b.bitXor(bits(x), bits(y)), b.i32(0x8000'0000));
  Value isZero = b.compare(Op::IEq, b.shl(bits(x), b.i32(1)), b.i32(0));
  // No zero and no NaN, and no denormal, which may have to count as a zero.
  Value isDivisor = b.compare(Op::FLe, b.f32(0x1p-126f), b.unary(Op::FAbs, y));
  return {b.bitcast(F32, sign), b.bitNot(b.bitAnd(isZero, isDivisor))};
}

// As above: the root's remainder, times half the reciprocal of the root, corrects it. The remainder is not denormal.
RoundedArithmetic::Guess RoundedArithmetic::quickRoot(Value x) {
  if (!profile_.refinesInOneStep32) return {longerRoot(x), nullptr};
  Value inverse = b.floating(Op::FRsqrt, {Rounding::NearestEven, false, true}, {x});
  Value root = b.binary(Op::FMul, x, inverse), half = b.binary(Op::FMul, inverse, b.f32(0.5f));
  const uint32_t low = std::bit_cast<uint32_t>(0x1p-78f), width = static_cast<uint32_t>(infinity(F32)) - low;
  Value isRare = b.compare(Op::ULe, b.i32(width), b.sub(bits(x), b.i32(low)));  // zero, infinity, and below zero too
  auto zero = [=, this] { return Closer{x, b.compare(Op::INe, b.shl(bits(x), b.i32(1)), b.i32(0))}; };
  return {b.emit(Op::Fma, F32, {remainder(x, root, root), half, root}), isRare, zero};
}

// Where one step is not enough, root and half its reciprocal are refined side by side before. Small numbers are raised
// first.
Value RoundedArithmetic::longerRoot(Value x) {
  Value isSmall = b.compare(Op::FLt, x, b.f32(0x1p-60f));
  x = b.binary(Op::FMul, x, b.select(isSmall, b.f32(0x1p80f), b.f32(1)));
  Value inverse = b.floating(Op::FRsqrt, {Rounding::NearestEven, false, true}, {x});
  Value root = b.binary(Op::FMul, x, inverse), half = b.binary(Op::FMul, inverse, b.f32(0.5f));
  Value error = remainder(b.f32(0.5f), half, root);
  root = b.emit(Op::Fma, F32, {root, error, root});
  half = b.emit(Op::Fma, F32, {half, error, half});
  root = b.emit(Op::Fma, F32, {remainder(x, root, root), half, root});
  root = b.binary(Op::FMul, root, b.select(isSmall, b.f32(0x1p-40f), b.f32(1)));
  Value isItself = b.bitOr(b.compare(Op::FEq, x, b.f32(0)), b.compare(Op::FEq, x, like(x, infinity(F32))));
  return b.select(isItself, x, root);
}

// x * y + z towards one side. Where the sum stays near z, sum - z is exact, and so is the sign of what was rounded
// away. Of a sum that is z all of the product was, which may be denormal.
std::optional<RoundedArithmetic::Guess> RoundedArithmetic::quickFmaNear(Rounding rounding, Value x, Value y, Value z,
                                                                        const analyses::FloatRange& product) {
  if (!z->isConstant() || rounding == Rounding::NearestEven || rounding == Rounding::ToOdd) return std::nullopt;
  const float addend = std::bit_cast<float>(static_cast<uint32_t>(z->payload)), size = std::abs(addend);
  if (!(size >= 0x1p-20f && size <= 0x1p100f)) return std::nullopt;
  const bool isNegative = addend < 0;
  const bool grows = rounding == (isNegative ? Rounding::Down : Rounding::Up);
  const bool stepsWhenAbove = rounding == Rounding::Up || (rounding == Rounding::TowardZero && isNegative);
  Value sum = b.emit(Op::Fma, F32, {x, y, z});
  // What the rounding lost, its sign such that the neighbour is wanted where it is negative.
  Value taken = stepsWhenAbove ? b.binary(Op::FSub, sum, z) : b.binary(Op::FSub, z, sum);
  Value lost = b.emit(Op::Fma, F32, {stepsWhenAbove ? b.unary(Op::FNeg, x) : x, y, taken});
  Value step = b.ashr(bits(lost), b.i32(31));
  Value result = b.bitcast(F32, grows ? b.sub(bits(sum), step) : b.add(bits(sum), step));

  const double ends[] = {double{addend} + product.low, double{addend} + product.high};
  const double least = isNegative ? -ends[1] : ends[0], most = isNegative ? -ends[0] : ends[1];
  const bool isAlwaysNear = !product.mayBeNan && least >= size / 2 && most < size * 1.99;
  const bool neverStepsFromAddend = stepsWhenAbove ? product.high <= 0 : product.low >= 0;
  Value isRare = nullptr;
  if (!isAlwaysNear) isRare = b.bitNot(isBetween(isNegative ? b.unary(Op::FNeg, sum) : sum, size / 2, size * 2));
  if (!neverStepsFromAddend) {
    Value isAddend = b.compare(Op::FEq, sum, z);
    isRare = isRare ? b.bitOr(isRare, isAddend) : isAddend;
  }
  return Guess{result, isRare};
}

// What x + y has more than the nearest sum, whichever is larger (Knuth).
Value RoundedArithmetic::lostBySum(Value sum, Value x, Value y) {
  Value fromY = b.binary(Op::FSub, sum, x), fromX = b.binary(Op::FSub, sum, fromY);
  return b.binary(Op::FAdd, b.binary(Op::FSub, x, fromX), b.binary(Op::FSub, y, fromY));
}

// A sum loses nothing by underflow, but the remainder may be denormal where the sum is small. A zero is exact, or was
// made of a denormal: rounding down that makes a difference.
RoundedArithmetic::Guess RoundedArithmetic::quickSum(Rounding rounding, Value x, Value y, bool flushes) {
  Value result = sum(rounding, x, y);
  if (!flushes) return {result, nullptr};
  Value nearest = b.binary(Op::FAdd, x, y);
  auto closer = [=, this] {
    Value isNone = b.compare(Op::FNe, nearest, b.f32(0));
    if (rounding == Rounding::Down) isNone = b.bitOr(isNone, b.compare(Op::FNe, x, b.unary(Op::FNeg, y)));
    return Closer{result, isNone};
  };
  return {result, b.compare(Op::FLt, b.unary(Op::FAbs, nearest), b.f32(0x1p-76f)), closer};
}

// The remainder of a product is at least 2^-48 of it: no denormal if the product is at least 2^-77. Where a denormal
// factor was flushed the remainder is the whole product.
RoundedArithmetic::Guess RoundedArithmetic::quickProduct(Rounding rounding, Value x, Value y) {
  Value product = b.binary(Op::FMul, x, y);
  Value remainder = b.emit(Op::Fma, F32, {x, y, b.unary(Op::FNeg, product)});
  Value least = b.binary(Op::FAdd, b.unary(Op::FAbs, remainder), b.f32(0x1p-77f));
  Value result = step(product, remainder, rounding);
  auto closer = [=, this] {
    return Closer{result, b.bitAnd(b.compare(Op::FNe, x, b.f32(0)), b.compare(Op::FNe, y, b.f32(0)))};
  };
  return {result, b.compare(Op::FLe, b.unary(Op::FAbs, product), least), closer};
}

// With z - sum = difference + lost, without an error, the remainder is (x * y + difference) + lost, and of the right
// sign: docs/arithmetic.md says why. A remainder of zero may be one that underflowed, or a factor's that was flushed.
RoundedArithmetic::Guess RoundedArithmetic::quickFma(Rounding rounding, Value x, Value y, Value z) {
  const ir::Type type = x->type;
  auto magnitude = [this](Value v) { return b.unary(Op::FAbs, v); };
  Value zero = b.constant(type, 0), least = type == F32 ? b.f32(0x1p-77f) : b.f64(0x1p-900);
  Value sum = b.emit(Op::Fma, type, {x, y, z});
  Value difference = b.binary(Op::FSub, z, sum);
  Value lost = lostBySum(difference, z, b.unary(Op::FNeg, sum));
  Value remainder = b.binary(Op::FAdd, b.emit(Op::Fma, type, {x, y, difference}), lost);
  Value isSmall = b.compare(Op::FLt, magnitude(sum), least);
  Value result = step(sum, remainder, rounding);
  auto closer = [=, this] {
    // A zero factor leaves the addend, unless it was flushed; of two zeros the sign depends on the rounding.
    Value isAddend = b.bitOr(b.compare(Op::FEq, x, zero), b.compare(Op::FEq, y, zero));
    isAddend = b.bitAnd(isAddend, b.compare(Op::FEq, sum, z));
    if (rounding == Rounding::Down) isAddend = b.bitAnd(isAddend, b.compare(Op::FNe, sum, zero));
    // The remainder is zero, and nothing can have been flushed.
    Value isExact = b.bitAnd(b.compare(Op::FEq, remainder, zero), b.bitNot(isSmall));
    Value product = magnitude(b.binary(Op::FMul, x, y)), smallest = like(x, smallestNormal(type));
    isExact = b.bitAnd(isExact, b.compare(Op::FLe, least, product));
    isExact = b.bitAnd(isExact, b.compare(Op::FLt, product, like(x, infinity(type))));
    for (Value factor : {x, y}) isExact = b.bitAnd(isExact, b.compare(Op::FLe, smallest, magnitude(factor)));
    return Closer{result, b.bitNot(b.bitOr(isAddend, isExact))};
  };
  return {result, b.bitOr(isSmall, b.compare(Op::FEqU, remainder, zero)), closer};
}

// With operands 2^24, 2^24 and 2^48 times as large nothing is denormal, and a sum from 2^-126 on is this sum's. A
// smaller one is a multiple of 2^-149, which is the last bit of 2^-78 when enlarged: 2^-78 is added to round it there,
// and taken away again. The addend must have room beside it, so a small sum of larger numbers is rare.
RoundedArithmetic::Guess RoundedArithmetic::quickSmallFma(Value x, Value y, Value z) {
  auto times = [this](Value v, float factor) { return b.binary(Op::FMul, v, b.f32(factor)); };
  auto isBelow = [this](Value v, Value bound) { return b.compare(Op::FLt, b.unary(Op::FAbs, v), bound); };
  Value largeX = times(x, 0x1p24f), largeY = times(y, 0x1p24f), largeZ = times(z, 0x1p48f), unit = b.f32(0x1p-78f);
  Value sum = b.emit(Op::Fma, F32, {largeX, largeY, largeZ});
  Value rounder = withSignOf(unit, sum);
  Value rounded = b.emit(Op::Fma, F32, {largeX, largeY, b.binary(Op::FAdd, largeZ, rounder)});
  Value isSmall = isBelow(sum, unit);
  Value result = times(b.select(isSmall, b.binary(Op::FSub, rounded, rounder), sum), 0x1p-48f);
  Value magnitude = b.bitcast(F32, b.bitAnd(bits(result), b.i32(0x7FFF'FFFF)));  // the device's might flush
  Value isFinite = isBelow(sum, b.constant(F32, infinity(F32)));
  Value isUnfit = b.bitAnd(isSmall, b.compare(Op::FLe, unit, b.unary(Op::FAbs, largeZ)));
  return {withSignOf(magnitude, sum), b.bitOr(isUnfit, b.bitNot(isFinite))};
}

// The product has all its bits. Rounding the sum's nearest f32 number once more is wrong only if that is inexact and
// in the middle between two bf16 numbers; or where the product was too large for f32; or too small, and next to such a
// middle or to zero.
RoundedArithmetic::Guess RoundedArithmetic::quickBfloatFma(Value x, Value y, Value z) {
  Value product = b.binary(Op::FMul, x, y), sum = b.binary(Op::FAdd, product, z);
  Value isMiddle = b.compare(Op::IEq, b.bitAnd(bits(sum), b.i32(0xFFFF)), b.i32(0x8000));
  Value belowZero = b.sub(b.shl(bits(sum), b.i32(1)), b.i32(1));  // a zero is now the largest, next to infinities, NaNs
  Value isEnd = b.compare(Op::ULe, b.i32(2 * static_cast<uint32_t>(infinity(F32)) - 1), belowZero);
  auto closer = [=, this] {
    Value isExact = b.compare(Op::FLe, b.f32(0x1p-100f), b.unary(Op::FAbs, product));
    for (Value factor : {x, y}) isExact = b.bitOr(isExact, b.compare(Op::FEq, factor, b.f32(0)));
    isExact = b.bitAnd(isExact, b.compare(Op::FEq, lostBySum(sum, product, z), b.f32(0)));
    return Closer{sum, b.bitNot(isExact)};
  };
  return {sum, b.bitOr(isMiddle, isEnd), closer};
}

}  // namespace mulciber::passes
