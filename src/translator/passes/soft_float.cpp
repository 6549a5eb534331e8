#include "translator/passes/soft_float.h"

namespace mulciber::passes {
namespace {

using ir::I32;
using ir::I64;
using ir::Op;
using ir::Rounding;
using Value = ir::Instruction*;

// f32 or f64, whose numbers are unpacked into the same form.
struct Format {
  unsigned bits, mantissa;
  int bias;
  uint64_t infinity() const { return uint64_t(2 * bias + 1) << mantissa; }
};
Format formatOf(ir::Type type) { return type == ir::F32 ? Format{32, 23, 127} : Format{64, 52, 1023}; }

// A 128-bit unsigned number.
struct Wide {
  Value low, high;
};

class Soft {
 public:
  explicit Soft(ir::Builder& builder) : b(builder) {}

  Value zero() { return b.i64(0); }
  Value isZero(Value x) { return b.compare(Op::IEq, x, b.constant(x->type, 0)); }
  Value asBit(Value condition) { return b.convert(Op::ZExt, I64, condition); }

  // Shifts by 0 to 63, keeping in the lowest bit whether anything was lost.
  Value shiftRightSticky(Value x, Value amount) {
    Value lost = b.bitAnd(x, b.bitNot(b.shl(b.i64(~uint64_t(0)), amount)));
    return b.bitOr(b.lshr(x, amount), asBit(b.bitNot(isZero(lost))));
  }

  Value countLeadingZeros(Value x) { return b.sub(b.i32(63), b.convert(Op::FindMsbU, I32, x)); }

  // The same for 128 bits and any amount from 0 to 127.
  Wide shiftRightSticky(Wide x, Value amount) {
    Value isLarge = b.compare(Op::ULe, b.i32(64), amount);
    Value low = b.select(isLarge, x.high, x.low), high = b.select(isLarge, zero(), x.high);
    Value lostWord = b.select(isLarge, x.low, zero());
    Value n = b.bitAnd(amount, b.i32(63));
    Value lostBits = b.bitAnd(low, b.bitNot(b.shl(b.i64(~uint64_t(0)), n)));
    Value sticky = asBit(b.bitNot(isZero(b.bitOr(lostBits, lostWord))));
    Value across = b.shl(b.shl(high, b.i32(1)), b.bitXor(n, b.i32(63)));
    return {b.bitOr(b.bitOr(b.lshr(low, n), across), sticky), b.lshr(high, n)};
  }

  Wide shiftLeft(Wide x, Value amount) {
    Value isLarge = b.compare(Op::ULe, b.i32(64), amount);
    Value high = b.select(isLarge, x.low, x.high), low = b.select(isLarge, zero(), x.low);
    Value n = b.bitAnd(amount, b.i32(63));
    Value across = b.lshr(b.lshr(low, b.i32(1)), b.bitXor(n, b.i32(63)));
    return {b.shl(low, n), b.bitOr(b.shl(high, n), across)};
  }

  Wide select(Value condition, Wide x, Wide y) {
    return {b.select(condition, x.low, y.low), b.select(condition, x.high, y.high)};
  }

  Wide add(Wide x, Wide y) {
    Value low = b.add(x.low, y.low);
    return {low, b.add(b.add(x.high, y.high), asBit(b.compare(Op::ULt, low, x.low)))};
  }

  Wide subtract(Wide x, Wide y) {
    Value borrow = asBit(b.compare(Op::ULt, x.low, y.low));
    return {b.sub(x.low, y.low), b.sub(b.sub(x.high, y.high), borrow)};
  }

  Value less(Wide x, Wide y) {
    Value equal = b.compare(Op::IEq, x.high, y.high);
    return b.select(equal, b.compare(Op::ULt, x.low, y.low), b.compare(Op::ULt, x.high, y.high));
  }

  // A finite number: its significand with bit 52 set (unless it is 0) and the exponent of that bit, as biased as f64's.
  struct Parts {
    Value significand, exponent;
  };
  Parts unpack(Value x) {
    Format format = formatOf(x->type);
    Value all = bits(x);
    uint32_t fieldMask = static_cast<uint32_t>(2 * format.bias + 1);
    Value field = b.bitAnd(b.convert(Op::Trunc, I32, b.lshr(all, b.i32(format.mantissa))), b.i32(fieldMask));
    Value fraction = b.bitAnd(all, b.i64((uint64_t(1) << format.mantissa) - 1));
    if (format.mantissa < 52) fraction = b.shl(fraction, b.i32(52 - format.mantissa));
    Value isDenormal = isZero(field);
    Value shift = b.bitAnd(b.sub(countLeadingZeros(fraction), b.i32(11)), b.i32(63));
    Value significand = b.select(isDenormal, b.shl(fraction, shift), b.bitOr(fraction, b.i64(uint64_t(1) << 52)));
    Value exponent = b.select(isDenormal, b.sub(b.i32(1), shift), field);
    return {significand, b.add(exponent, b.i32(static_cast<uint32_t>(1023 - format.bias)))};
  }

  Value bits(Value x) {  // i64
    Value all = b.bitcast(x->type.asInt(), x);
    return x->type.bits < 64 ? b.convert(Op::ZExt, I64, all) : all;
  }
  Value magnitude(Value x) { return b.bitAnd(bits(x), b.i64((uint64_t(1) << (x->type.bits - 1)) - 1)); }
  Value isNegative(Value x) {
    Value all = b.bitcast(x->type.asInt(), x);
    return b.compare(Op::SLt, all, b.constant(all->type, 0));
  }
  Value isZeroFloat(Value x) { return isZero(magnitude(x)); }
  Value isInfiniteOrNan(Value x) { return b.compare(Op::ULe, b.i64(formatOf(x->type).infinity()), magnitude(x)); }
  Value isSpecial(Value x) { return b.bitOr(isZeroFloat(x), isInfiniteOrNan(x)); }

 private:
  ir::Builder& b;
};

}  // namespace

Value packFloat(ir::Builder& b, ir::Type type, Rounding rounding, Value isNegative, Value exponent, Value significand) {
  Soft soft(b);
  Format format = formatOf(type);
  unsigned dropped = 63 - format.mantissa;
  exponent = b.sub(exponent, b.i32(static_cast<uint32_t>(1023 - format.bias)));
  // A denormal result has fewer bits: shift them out first, so that there is one rounding.
  Value excess = b.sub(b.i32(1), exponent);
  Value shift = b.binary(Op::SMin, b.binary(Op::SMax, excess, b.i32(0)), b.i32(63));
  significand = soft.shiftRightSticky(significand, shift);
  exponent = b.binary(Op::SMax, exponent, b.i32(1));

  Value kept = b.lshr(significand, b.i32(dropped));
  Value rest = b.bitAnd(significand, b.i64((uint64_t(1) << dropped) - 1));
  Value odd = b.bitAnd(kept, b.i64(1)), inexact = b.bitNot(soft.isZero(rest));
  Value belowHalf = b.i64((uint64_t(1) << (dropped - 1)) - 1);
  Value increment = b.i64(0);
  switch (rounding) {
    case Rounding::NearestEven: increment = b.lshr(b.add(rest, b.add(belowHalf, odd)), b.i32(dropped)); break;
    case Rounding::TowardZero: break;
    case Rounding::Down: increment = soft.asBit(b.bitAnd(inexact, isNegative)); break;
    case Rounding::Up: increment = soft.asBit(b.bitAnd(inexact, b.bitNot(isNegative))); break;
    case Rounding::ToOdd: increment = b.bitAnd(soft.asBit(inexact), b.bitXor(odd, b.i64(1))); break;
  }
  // The leading bit of a normal significand counts as one in the exponent field.
  Value field = b.shl(b.convert(Op::ZExt, I64, b.sub(exponent, b.i32(1))), b.i32(format.mantissa));
  Value magnitude = b.add(b.add(field, kept), increment);
  Value overflows = b.compare(Op::ULe, b.i64(format.infinity()), magnitude);
  Value toInfinity = rounding == Rounding::NearestEven ? b.boolean(true)
                     : rounding == Rounding::Down      ? isNegative
                     : rounding == Rounding::Up        ? b.bitNot(isNegative)
                                                       : b.boolean(false);
  Value limit = b.select(toInfinity, b.i64(format.infinity()), b.i64(format.infinity() - 1));
  magnitude = b.select(overflows, limit, magnitude);
  Value all = b.bitOr(magnitude, b.shl(soft.asBit(isNegative), b.i32(format.bits - 1)));
  return b.bitcast(type, format.bits < 64 ? b.convert(Op::Trunc, I32, all) : all);
}

Value softFma(ir::Builder& b, Rounding rounding, Value x, Value y, Value z) {
  Soft soft(b);
  ir::Type type = x->type;
  Value zero = b.constant(type, 0), negativeZero = b.constant(type, uint64_t(1) << (type.bits - 1));

  // With an infinity, a NaN or a zero factor there is nothing to round in the product.
  Value productSign = b.bitXor(soft.isNegative(x), soft.isNegative(y)), addendSign = soft.isNegative(z);
  Value factorSpecial = b.bitOr(soft.isInfiniteOrNan(x), soft.isInfiniteOrNan(y));
  Value addendSpecial = soft.isInfiniteOrNan(z);
  Value zeroFactor = b.bitOr(soft.isZeroFloat(x), soft.isZeroFloat(y));
  Value special = b.bitOr(b.bitOr(factorSpecial, addendSpecial), zeroFactor);
  // The product of huge finite numbers would overflow here although the addend is an infinity: take zeros.
  Value finiteFactors = b.bitAnd(addendSpecial, b.bitNot(factorSpecial));
  Value plainProduct = b.binary(Op::FMul, b.select(finiteFactors, zero, x), b.select(finiteFactors, zero, y));
  Value plain = b.binary(Op::FAdd, plainProduct, z);
  // A zero factor leaves the addend, which a device that flushes would lose. Two zeros make one of either sign.
  Value keepsAddend =
      b.bitAnd(b.bitAnd(zeroFactor, b.bitNot(b.bitOr(factorSpecial, addendSpecial))), b.bitNot(soft.isZeroFloat(z)));
  plain = b.select(keepsAddend, z, plain);
  if (type == ir::F64)  // of several NaNs the hardware takes this one, made quiet
    for (Value operand : {x, z, y}) {
      Value quiet = b.bitcast(type, b.bitOr(b.bitcast(ir::I64, operand), b.i64(uint64_t(1) << 51)));
      plain = b.select(b.emit(Op::FIsNan, ir::Bool, {operand}), quiet, plain);
    }
  if (rounding == Rounding::Down) {  // an exact zero is negative unless both terms are positive
    Value isNegative = b.bitAnd(soft.isZeroFloat(plain), b.bitOr(productSign, addendSign));
    plain = b.select(isNegative, negativeZero, plain);
  }

  auto [xSignificand, xExponent] = soft.unpack(x);
  auto [ySignificand, yExponent] = soft.unpack(y);
  auto [zSignificand, zExponent] = soft.unpack(z);
  // The product at bits 124 or 125 of a 128-bit number, the addend at bit 124. Exponents are those of bit 124.
  Value low = b.mul(xSignificand, ySignificand), high = b.binary(Op::MulHiU, xSignificand, ySignificand);
  Wide product = soft.shiftLeft({low, high}, b.i32(20));
  Wide addend{b.i64(0), b.shl(zSignificand, b.i32(8))};
  Value productExponent = b.sub(b.add(xExponent, yExponent), b.i32(1023));
  Value distance = b.sub(productExponent, zExponent);
  // A zero addend has no exponent to align to.
  distance = b.select(soft.isZeroFloat(z), b.i32(0), distance);
  auto clamped = [&](Value n) { return b.binary(Op::SMin, b.binary(Op::SMax, n, b.i32(0)), b.i32(127)); };
  addend = soft.shiftRightSticky(addend, clamped(distance));
  product = soft.shiftRightSticky(product, clamped(b.unary(Op::Neg, distance)));
  Value exponent = b.sub(productExponent, b.binary(Op::SMin, distance, b.i32(0)));

  Value sameSign = b.compare(Op::IEq, b.convert(Op::ZExt, I32, productSign), b.convert(Op::ZExt, I32, addendSign));
  Value addendLarger = soft.less(product, addend);
  Wide difference = soft.select(addendLarger, soft.subtract(addend, product), soft.subtract(product, addend));
  Wide sum = soft.select(sameSign, soft.add(product, addend), difference);
  Value sign = b.select(sameSign, productSign, b.select(addendLarger, addendSign, productSign));
  Value cancelled = soft.isZero(b.bitOr(sum.low, sum.high));
  if (rounding == Rounding::Down) sign = b.bitOr(sign, cancelled);
  else sign = b.bitAnd(sign, b.bitNot(cancelled));

  Value highEmpty = soft.isZero(sum.high);
  Value zeros =
      b.select(highEmpty, b.add(soft.countLeadingZeros(sum.low), b.i32(64)), soft.countLeadingZeros(sum.high));
  zeros = b.binary(Op::UMin, zeros, b.i32(127));
  sum = soft.shiftLeft(sum, zeros);
  Value significand = b.bitOr(sum.high, soft.asBit(b.bitNot(soft.isZero(sum.low))));
  exponent = b.sub(b.add(exponent, b.i32(3)), zeros);
  Value packed = packFloat(b, type, rounding, sign, exponent, significand);
  // By its bits: drivers have been seen to take the two zeros for one.
  Value signOnly = b.shl(b.convert(Op::ZExt, type.asInt(), sign), b.i32(type.bits - 1));
  packed = b.select(cancelled, b.bitcast(type, signOnly), packed);
  return b.select(special, plain, packed);
}

Value softQuotient32(ir::Builder& b, Rounding rounding, Value x, Value y) {
  Soft soft(b);
  auto [xSignificand, xExponent] = soft.unpack(x);
  auto [ySignificand, yExponent] = soft.unpack(y);
  // 24 bits by 24 bits: a quotient of 39 or 40 bits and a remainder.
  Value special = b.bitOr(soft.isSpecial(x), soft.isSpecial(y));
  Value dividend = b.shl(b.lshr(xSignificand, b.i32(29)), b.i32(39));
  Value divisor = b.select(special, b.i64(1), b.lshr(ySignificand, b.i32(29)));
  Value quotient = b.binary(Op::UDiv, dividend, divisor);
  Value remainder = b.sub(dividend, b.mul(quotient, divisor));
  Value zeros = b.bitAnd(soft.countLeadingZeros(quotient), b.i32(63));
  Value significand = b.bitOr(b.shl(quotient, zeros), soft.asBit(b.bitNot(soft.isZero(remainder))));
  Value exponent = b.sub(b.add(b.sub(xExponent, yExponent), b.i32(1023 + 24)), zeros);
  Value sign = b.bitXor(soft.isNegative(x), soft.isNegative(y));
  Value packed = packFloat(b, ir::F32, rounding, sign, exponent, significand);
  return b.select(special, b.binary(Op::FDiv, x, y), packed);
}

Value softRoot32(ir::Builder& b, Rounding rounding, Value x) {
  Soft soft(b);
  auto [significand, biased] = soft.unpack(x);
  Value exponent = b.sub(biased, b.i32(1023));
  Value odd = b.bitAnd(exponent, b.i32(1));
  Value radicand = b.shl(b.lshr(significand, b.i32(29)), b.add(odd, b.i32(27)));
  // An integer root of 26 bits: the device's, which is near, corrected bit by bit.
  Value guess = b.convert(Op::FToU, I64, b.unary(Op::FSqrt, b.convert(Op::UToF, ir::F32, radicand)));
  Value root = b.sub(b.binary(Op::UMax, guess, b.i64(32)), b.i64(32));
  for (uint64_t bit = 32; bit != 0; bit /= 2) {
    Value larger = b.add(root, b.i64(bit));
    root = b.select(b.compare(Op::ULe, b.mul(larger, larger), radicand), larger, root);
  }
  Value inexact = b.compare(Op::INe, b.mul(root, root), radicand);
  Value result =
      packFloat(b, ir::F32, rounding, b.boolean(false), b.add(b.ashr(b.sub(exponent, odd), b.i32(1)), b.i32(1023)),
                b.bitOr(b.shl(root, b.i32(38)), soft.asBit(inexact)));
  return b.select(b.bitOr(soft.isSpecial(x), soft.isNegative(x)), b.unary(Op::FSqrt, x), result);
}

}  // namespace mulciber::passes
