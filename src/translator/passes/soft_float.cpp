#include "translator/passes/soft_float.h"

namespace mulciber::passes {
namespace {

using ir::I32;
using ir::I64;
using ir::Op;
using ir::Rounding;
using Value = ir::Instruction*;

constexpr uint64_t infinity = 0x7FF0'0000'0000'0000;

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

  // A finite number: its significand with bit 52 set (unless it is 0) and the exponent of that bit, biased.
  struct Parts {
    Value significand, exponent;
  };
  Parts unpack(Value bits) {
    Value field = b.bitAnd(b.convert(Op::Trunc, I32, b.lshr(bits, b.i32(52))), b.i32(0x7FF));
    Value fraction = b.bitAnd(bits, b.i64(0x000F'FFFF'FFFF'FFFF));
    Value isDenormal = isZero(field);
    Value shift = b.bitAnd(b.sub(countLeadingZeros(fraction), b.i32(11)), b.i32(63));
    Value significand = b.select(isDenormal, b.shl(fraction, shift), b.bitOr(fraction, b.i64(uint64_t(1) << 52)));
    return {significand, b.select(isDenormal, b.sub(b.i32(1), shift), field)};
  }

 private:
  ir::Builder& b;
};

}  // namespace

Value packFloat64(ir::Builder& b, Rounding rounding, Value isNegative, Value exponent, Value significand) {
  Soft soft(b);
  // A denormal result has fewer bits: shift them out first, so that there is one rounding.
  Value excess = b.sub(b.i32(1), exponent);
  Value shift = b.binary(Op::SMin, b.binary(Op::SMax, excess, b.i32(0)), b.i32(63));
  significand = soft.shiftRightSticky(significand, shift);
  exponent = b.binary(Op::SMax, exponent, b.i32(1));

  Value kept = b.lshr(significand, b.i32(11)), rest = b.bitAnd(significand, b.i64(0x7FF));
  Value odd = b.bitAnd(kept, b.i64(1)), inexact = b.bitNot(soft.isZero(rest));
  Value increment = b.i64(0);
  switch (rounding) {
    case Rounding::NearestEven: increment = b.lshr(b.add(rest, b.add(b.i64(0x3FF), odd)), b.i32(11)); break;
    case Rounding::TowardZero: break;
    case Rounding::Down: increment = soft.asBit(b.bitAnd(inexact, isNegative)); break;
    case Rounding::Up: increment = soft.asBit(b.bitAnd(inexact, b.bitNot(isNegative))); break;
    case Rounding::ToOdd: increment = b.bitAnd(soft.asBit(inexact), b.bitXor(odd, b.i64(1))); break;
  }
  // Bit 52 of a normal significand counts as one in the exponent field.
  Value field = b.shl(b.convert(Op::ZExt, I64, b.sub(exponent, b.i32(1))), b.i32(52));
  Value magnitude = b.add(b.add(field, kept), increment);
  Value overflows = b.compare(Op::ULe, b.i64(infinity), magnitude);
  Value toInfinity = rounding == Rounding::NearestEven ? b.boolean(true)
                     : rounding == Rounding::Down      ? isNegative
                     : rounding == Rounding::Up        ? b.bitNot(isNegative)
                                                       : b.boolean(false);
  Value limit = b.select(toInfinity, b.i64(infinity), b.i64(infinity - 1));
  magnitude = b.select(overflows, limit, magnitude);
  return b.bitOr(magnitude, b.shl(soft.asBit(isNegative), b.i32(63)));
}

Value softFma64(ir::Builder& b, Rounding rounding, Value x, Value y, Value z) {
  Soft soft(b);
  Value xBits = b.bitcast(I64, x), yBits = b.bitcast(I64, y), zBits = b.bitcast(I64, z);
  auto isNegative = [&](Value bits) { return b.compare(Op::SLt, bits, b.i64(0)); };
  auto magnitude = [&](Value bits) { return b.bitAnd(bits, b.i64(~uint64_t(0) >> 1)); };

  // With an infinity, a NaN or a zero factor there is nothing to round in the product.
  Value productSign = isNegative(b.bitXor(xBits, yBits)), addendSign = isNegative(zBits);
  auto isSpecial = [&](Value bits) { return b.compare(Op::ULe, b.i64(infinity), magnitude(bits)); };
  auto isZero = [&](Value bits) { return soft.isZero(magnitude(bits)); };
  Value zeroFactor = b.bitOr(isZero(xBits), isZero(yBits));
  Value special = b.bitOr(b.bitOr(isSpecial(xBits), isSpecial(yBits)), b.bitOr(isSpecial(zBits), zeroFactor));
  // The products of huge finite numbers would overflow here although the addend is an infinity: take them as ones.
  Value addendSpecial = b.bitAnd(isSpecial(zBits), b.bitNot(b.bitOr(isSpecial(xBits), isSpecial(yBits))));
  Value plainProduct = b.binary(Op::FMul, b.select(addendSpecial, b.f64(0), x), b.select(addendSpecial, b.f64(0), y));
  Value plain = b.binary(Op::FAdd, plainProduct, z);
  if (rounding == Rounding::Down) {  // an exact zero is negative unless both terms are positive
    Value negativeZero = b.bitAnd(isZero(b.bitcast(I64, plain)), b.bitOr(productSign, addendSign));
    plain = b.select(negativeZero, b.f64(-0.0), plain);
  }

  auto [xSignificand, xExponent] = soft.unpack(xBits);
  auto [ySignificand, yExponent] = soft.unpack(yBits);
  auto [zSignificand, zExponent] = soft.unpack(zBits);
  // The product at bits 124 or 125 of a 128-bit number, the addend at bit 124. Exponents are those of bit 124.
  Value low = b.mul(xSignificand, ySignificand), high = b.binary(Op::MulHiU, xSignificand, ySignificand);
  Wide product = soft.shiftLeft({low, high}, b.i32(20));
  Wide addend{b.i64(0), b.shl(zSignificand, b.i32(8))};
  Value productExponent = b.sub(b.add(xExponent, yExponent), b.i32(1023));
  Value distance = b.sub(productExponent, zExponent);
  // A zero addend has no exponent to align to.
  distance = b.select(isZero(zBits), b.i32(0), distance);
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
  Value packed = packFloat64(b, rounding, sign, exponent, significand);
  packed = b.select(cancelled, b.shl(soft.asBit(sign), b.i32(63)), packed);
  return b.select(special, plain, b.bitcast(ir::F64, packed));
}

}  // namespace mulciber::passes
