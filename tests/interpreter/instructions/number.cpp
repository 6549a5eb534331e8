#include "interpreter/instructions/number.h"

#include <algorithm>
#include <bit>

#include "interpreter/syntax/lexer.h"

namespace mulciber::interpreter {
namespace {

using Kind = Number::Kind;

int highestBit(uint128 value) {
  const auto high = static_cast<uint64_t>(value >> 64), low = static_cast<uint64_t>(value);
  return high ? 127 - std::countl_zero(high) : 63 - std::countl_zero(low);
}

// Shifted right; what is lost stays in the last bit.
uint128 jammed(uint128 value, int count) {
  if (count <= 0) return value << -count;
  if (count >= 128) return value != 0;
  const uint128 kept = value >> count;
  return kept | ((kept << count) != value);
}

Number special(Kind kind, bool isNegative = false) {
  Number made;
  made.kind = kind;
  made.isNegative = isNegative;
  return made;
}

// Both have their highest bit here before they are added: a bit is left for the carry, one for the sign.
constexpr int kTop = 125;

Number normalised(Number a) {
  const int shift = kTop - highestBit(a.significand);
  a.significand <<= shift;
  a.exponent -= shift;
  return a;
}

// Whether the magnitude goes up when `rest` of `unit` is lost; half is 0 for less, 1 for just, 2 for more than half.
bool roundsUp(Rounding rounding, bool isNegative, bool isOdd, int half, bool isExact) {
  switch (rounding) {
    case Rounding::Nearest: return half == 2 || (half == 1 && isOdd);
    case Rounding::NearestAway: return half >= 1;
    case Rounding::Zero: return false;
    case Rounding::Down: return isNegative && !isExact;
    default: return !isNegative && !isExact;
  }
}

// significand * 2^exponent in units of 2^unit.
uint128 inUnits(const Number& a, int unit, Rounding rounding) {
  const int shift = unit - a.exponent;
  if (shift <= 0) return a.significand << -shift;
  const uint128 kept = shift >= 128 ? 0 : a.significand >> shift;
  const uint128 rest = shift >= 128 ? a.significand : a.significand - (kept << shift);
  int half = 0;
  if (shift <= 127) {
    const uint128 middle = uint128(1) << (shift - 1);
    half = rest == middle ? 1 : rest > middle ? 2 : 0;
  } else if (shift == 128) {
    const uint128 middle = uint128(1) << 127;
    half = rest == middle ? 1 : rest > middle ? 2 : 0;
  }
  return kept + roundsUp(rounding, a.isNegative, (kept & 1) != 0, half, rest == 0);
}

}  // namespace

const Format& formatOf(Type type) {
  switch (type) {
    case Type::F16:
    case Type::F16x2: return kF16;
    case Type::BF16:
    case Type::BF16x2: return kBf16;
    case Type::F32: return kF32;
    case Type::F64: return kF64;
    case Type::E4M3:
    case Type::E4M3x2: return kE4m3;
    case Type::E5M2:
    case Type::E5M2x2: return kE5m2;
    default: throw Fault(Status::InvalidText, "a type is not of floating-point numbers");
  }
}

int Number::magnitude() const { return exponent + highestBit(significand); }

Number unpack(const Format& format, uint64_t bits, bool flush) {
  const bool isNegative = (bits & format.sign()) != 0;
  const uint64_t magnitude = bits & (format.sign() - 1), implied = uint64_t(1) << (format.precision - 1);
  if (magnitude > format.largest()) {
    if (format.hasInfinity && magnitude == format.infinity()) return special(Kind::Infinity, isNegative);
    Number made = special(Kind::Nan, isNegative);
    made.payload = bits;
    return made;
  }
  const uint64_t field = magnitude >> (format.precision - 1);
  if (magnitude == 0 || (flush && field == 0)) return special(Kind::Zero, isNegative);
  Number made = special(Kind::Finite, isNegative);
  made.significand = (magnitude & (implied - 1)) | (field ? implied : 0);
  made.exponent = format.least + static_cast<int>(field ? field - 1 : 0) - static_cast<int>(format.precision - 1);
  return made;
}

Number ofInteger(uint128 magnitude, bool isNegative) {
  Number made = special(magnitude ? Kind::Finite : Kind::Zero, magnitude && isNegative);
  made.significand = magnitude;
  return made;
}

uint64_t pack(const Format& format, const Number& a, RoundingRule rule) {
  const uint64_t sign = a.isNegative ? format.sign() : 0;
  if (a.isNan()) return rule.saturates ? 0 : format.nan;
  if (rule.saturates && a.isNegative) return 0;
  const uint64_t one = static_cast<uint64_t>(-format.least + 1) << (format.precision - 1);
  if (rule.saturates && (a.isInfinite() || (a.kind == Kind::Finite && a.magnitude() >= 0))) return one;
  const uint64_t above = !rule.isFinite && format.hasInfinity ? format.infinity()
                         : rule.isFinite                      ? format.largest()
                                                              : format.nan;
  if (a.isInfinite()) return sign | above;
  if (a.isZero()) return sign;
  const int magnitude = a.magnitude(), precision = static_cast<int>(format.precision);
  if (rule.flush) {
    // Rounded as if there were no least exponent, it is still too small.
    const uint128 rounded = inUnits(a, magnitude - (precision - 1), rule.rounding);
    if (magnitude + (rounded >> precision != 0) < format.least) return sign;
  }
  const int exponent = std::max(magnitude, format.least);
  if (exponent <= format.most + 1) {
    const auto rounded = static_cast<uint64_t>(inUnits(a, exponent - (precision - 1), rule.rounding));
    // A carry out of the significand goes into the exponent, as it must.
    const uint64_t base = static_cast<uint64_t>(exponent - format.least) << (precision - 1);
    if (base + rounded <= format.largest()) return sign | (base + rounded);
  }
  const bool staysFinite = rule.rounding == Rounding::Zero || (rule.rounding == Rounding::Down && !a.isNegative) ||
                           (rule.rounding == Rounding::Up && a.isNegative);
  return sign | (staysFinite ? format.largest() : above);
}

Number toWhole(const Number& a, Rounding rounding) {
  if (a.kind != Kind::Finite || a.exponent >= 0) return a;
  Number made = a;
  made.significand = inUnits(a, 0, rounding);
  made.exponent = 0;
  if (made.significand == 0) made.kind = Kind::Zero;
  return made;
}

int64_t placeInOrder(const Format& format, uint64_t bits) {
  const auto magnitude = static_cast<int64_t>(bits & (format.sign() - 1));
  return bits & format.sign() ? -magnitude - 1 : magnitude;
}

Number negated(Number a) {
  a.isNegative = !a.isNegative;
  return a;
}

Number sum(const Number& a, const Number& b, Rounding rounding) {
  if (a.isNan()) return a;
  if (b.isNan()) return b;
  if (a.isInfinite() || b.isInfinite()) {
    if (a.isInfinite() && b.isInfinite() && a.isNegative != b.isNegative) return special(Kind::Nan);
    return a.isInfinite() ? a : b;
  }
  if (a.isZero() && b.isZero())
    return a.isNegative == b.isNegative ? a : special(Kind::Zero, rounding == Rounding::Down);
  if (a.isZero()) return b;
  if (b.isZero()) return a;
  Number x = normalised(a), y = normalised(b);
  if (x.exponent < y.exponent || (x.exponent == y.exponent && x.significand < y.significand)) std::swap(x, y);
  const uint128 smaller = jammed(y.significand, x.exponent - y.exponent);
  if (x.isNegative == y.isNegative) x.significand += smaller;
  else x.significand -= smaller;
  return x.significand ? x : special(Kind::Zero, rounding == Rounding::Down);
}

Number product(const Number& a, const Number& b) {
  if (a.isNan()) return a;
  if (b.isNan()) return b;
  const bool isNegative = a.isNegative != b.isNegative;
  if (a.isInfinite() || b.isInfinite())
    return a.isZero() || b.isZero() ? special(Kind::Nan) : special(Kind::Infinity, isNegative);
  if (a.isZero() || b.isZero()) return special(Kind::Zero, isNegative);
  Number made = special(Kind::Finite, isNegative);
  made.significand = a.significand * b.significand;
  made.exponent = a.exponent + b.exponent;
  return made;
}

Number quotient(const Number& a, const Number& b) {
  if (a.isNan()) return a;
  if (b.isNan()) return b;
  const bool isNegative = a.isNegative != b.isNegative;
  if (a.isInfinite()) return b.isInfinite() ? special(Kind::Nan) : special(Kind::Infinity, isNegative);
  if (b.isZero()) return a.isZero() ? special(Kind::Nan) : special(Kind::Infinity, isNegative);
  if (a.isZero() || b.isInfinite()) return special(Kind::Zero, isNegative);
  const Number x = normalised(a);
  Number made = special(Kind::Finite, isNegative);
  made.significand = x.significand / b.significand;
  made.significand |= made.significand * b.significand != x.significand;
  made.exponent = x.exponent - b.exponent;
  return made;
}

Number squareRoot(const Number& a) {
  if (a.isNan() || a.isZero()) return a;
  if (a.isNegative) return special(Kind::Nan);
  if (a.isInfinite()) return a;
  Number x = normalised(a);
  if (x.exponent % 2 != 0) {
    x.significand <<= 1;
    --x.exponent;
  }
  // Bit by bit: the root of a number of 126 or 127 bits has 63 or 64.
  uint128 root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const uint128 next = root | uint128(1) << bit;
    if (next * next <= x.significand) root = next;
  }
  Number made = special(Kind::Finite);
  made.significand = root << 1 | (root * root != x.significand);
  made.exponent = x.exponent / 2 - 1;
  return made;
}

}  // namespace mulciber::interpreter
