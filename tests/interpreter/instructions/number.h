// Floating-point numbers taken apart, computed with exactly, and rounded once to a format: integers do all of it.
#pragma once

#include <cstdint>

#include "interpreter/instructions/typed.h"

namespace mulciber::interpreter {

struct Format {
  unsigned bits;       // that a value takes
  unsigned precision;  // of the significand, with the bit that is not written
  int least, most;     // exponents of normal numbers
  bool hasInfinity = true;
  uint64_t nan = 0;  // what hardware makes where there is no number

  uint64_t sign() const { return uint64_t(1) << (bits - 1); }
  uint64_t infinity() const { return static_cast<uint64_t>(most + 1 - least + 1) << (precision - 1); }
  uint64_t largest() const { return hasInfinity ? infinity() - 1 : infinity() - 2; }
};

inline constexpr Format kF16{16, 11, -14, 15, true, 0x7FFF};
inline constexpr Format kBf16{16, 8, -126, 127, true, 0x7FFF};
inline constexpr Format kF32{32, 24, -126, 127, true, 0x7FFFFFFF};
inline constexpr Format kF64{64, 53, -1022, 1023, true, 0xFFF8000000000000};
inline constexpr Format kE5m2{8, 3, -14, 15, true, 0x7F};
inline constexpr Format kE4m3{8, 4, -6, 8, false, 0x7F};
const Format& formatOf(Type type);  // of one element

// significand * 2^exponent. What is lost of a significand is left in its last bit.
struct Number {
  enum class Kind : uint8_t { Zero, Finite, Infinity, Nan };
  Kind kind = Kind::Zero;
  bool isNegative = false;
  int exponent = 0;
  uint128 significand = 0;
  uint64_t payload = 0;  // the bits of a NaN

  bool isNan() const { return kind == Kind::Nan; }
  bool isZero() const { return kind == Kind::Zero; }
  bool isInfinite() const { return kind == Kind::Infinity; }
  int magnitude() const;  // of a finite number: the exponent of its highest bit
};

// With flush, what is denormal is zero.
Number unpack(const Format& format, uint64_t bits, bool flush = false);
Number ofInteger(uint128 magnitude, bool isNegative);

struct RoundingRule {
  Rounding rounding = Rounding::Nearest;
  bool flush = false;      // what is less than the smallest normal number, before it is made denormal, is zero
  bool saturates = false;  // to [0, 1]; NaN is 0
  bool isFinite = false;   // .satfinite: the largest number where infinity would be
};
uint64_t pack(const Format& format, const Number& number, RoundingRule rule);
// To a whole number.
Number toWhole(const Number& number, Rounding rounding);

// Numbers that are no NaN are in the order of these: -0 is less than 0.
int64_t placeInOrder(const Format& format, uint64_t bits);

Number negated(Number number);
Number sum(const Number& a, const Number& b, Rounding rounding);
Number product(const Number& a, const Number& b);
Number quotient(const Number& a, const Number& b);
Number squareRoot(const Number& a);

}  // namespace mulciber::interpreter
