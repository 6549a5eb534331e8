#include "support/reference_float.h"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>

namespace mulciber::test {
namespace {

using ir::Rounding;

int hostMode(Rounding rounding) {
  switch (rounding) {
    case Rounding::TowardZero: return FE_TOWARDZERO;
    case Rounding::Down: return FE_DOWNWARD;
    case Rounding::Up: return FE_UPWARD;
    default: return FE_TONEAREST;
  }
}

// Runs `compute` in one of the host's modes. Volatile operands keep it between the two calls.
template <typename Compute>
auto inMode(Rounding rounding, Compute compute) {
  std::fesetround(hostMode(rounding));
  volatile auto result = compute();
  std::fesetround(FE_TONEAREST);
  return static_cast<decltype(compute())>(result);
}

template <typename Float, typename Bits>
uint64_t rounded(Rounding rounding, auto compute) {
  auto bits = [&](Rounding mode) { return std::bit_cast<Bits>(static_cast<Float>(inMode(mode, compute))); };
  if (rounding != Rounding::ToOdd) return bits(rounding);
  // The two neighbours are equal when the result is exact; otherwise one of them is odd.
  Bits down = bits(Rounding::Down), up = bits(Rounding::Up);
  if ((down << 1) == 0 && (up << 1) == 0) return bits(Rounding::NearestEven);
  return down == up || (down & 1) ? down : up;
}

template <typename Float, typename Bits>
uint64_t compute(FloatOp op, Rounding rounding, uint64_t a, uint64_t b, uint64_t c) {
  volatile Float x = std::bit_cast<Float>(static_cast<Bits>(a)), y = std::bit_cast<Float>(static_cast<Bits>(b));
  volatile Float z = std::bit_cast<Float>(static_cast<Bits>(c));
  return rounded<Float, Bits>(rounding, [&]() -> Float {
    switch (op) {
      case FloatOp::Add: return x + y;
      case FloatOp::Sub: return x - y;
      case FloatOp::Mul: return x * y;
      case FloatOp::Div: return x / y;
      case FloatOp::Fma: return std::fma(x, y, z);
      default: return std::sqrt(x);
    }
  });
}

double halfToDouble(uint64_t a) {
  unsigned exponent = (a >> 10) & 31, mantissa = a & 1023;
  double magnitude;
  if (exponent == 31) magnitude = mantissa ? std::nan("") : HUGE_VAL;
  else if (exponent == 0) magnitude = std::ldexp(mantissa, -24);
  else magnitude = std::ldexp(1024 + mantissa, int(exponent) - 25);
  return std::copysign(magnitude, a & 0x8000 ? -1.0 : 1.0);
}

}  // namespace

uint64_t roundToFormat(uint64_t number, unsigned bits, unsigned mantissa, Rounding rounding) {
  double x = std::bit_cast<double>(number);
  uint64_t sign = std::signbit(x) ? uint64_t(1) << (bits - 1) : 0;
  int bias = (1 << (bits - mantissa - 2)) - 1;
  uint64_t infinity = uint64_t(2 * bias + 1) << mantissa;
  if (std::isnan(x)) return (uint64_t(1) << (bits - 1)) - 1;
  double magnitude = std::fabs(x);
  if (std::isinf(x)) return sign | infinity;
  // In units of the last place it is an integer plus a fraction.
  int exponent = magnitude == 0 ? 1 - bias : std::max(std::ilogb(magnitude), 1 - bias);
  double scaled = std::ldexp(magnitude, int(mantissa) - exponent), whole = std::floor(scaled), rest = scaled - whole;
  bool isOdd = std::fmod(whole, 2) != 0, grow = false;
  switch (rounding) {
    case Rounding::NearestEven: grow = rest > 0.5 || (rest == 0.5 && isOdd); break;
    case Rounding::TowardZero: break;
    case Rounding::Down: grow = rest > 0 && sign; break;
    case Rounding::Up: grow = rest > 0 && !sign; break;
    case Rounding::ToOdd: grow = rest > 0 && !isOdd; break;
  }
  uint64_t units = static_cast<uint64_t>(whole) + (grow ? 1 : 0);
  uint64_t result = units + (uint64_t(exponent + bias - 1) << mantissa);
  if (exponent > bias || result >= infinity) {
    bool toInfinity = rounding == Rounding::NearestEven || (rounding == Rounding::Down && sign) ||
                      (rounding == Rounding::Up && !sign);
    result = toInfinity ? infinity : infinity - 1;
  }
  return sign | result;
}

namespace {

uint64_t doubleToHalf(double x, Rounding rounding) {
  return roundToFormat(std::bit_cast<uint64_t>(x), 16, 10, rounding);
}

}  // namespace

bool isNanBits(unsigned bits, uint64_t a) {
  uint64_t infinity = bits == 16 ? 0x7C00 : bits == 32 ? 0x7F800000 : 0x7FF0000000000000;
  return (a & ((uint64_t(1) << (bits - 1)) - 1)) > infinity;
}

bool isDenormalBits(unsigned bits, uint64_t a) {
  uint64_t magnitude = a & ((uint64_t(1) << (bits - 1)) - 1);
  return magnitude != 0 && magnitude < (bits == 16 ? 0x400u : bits == 32 ? 0x800000u : uint64_t(1) << 52);
}

double toDouble(unsigned bits, uint64_t a) {
  if (bits == 16) return halfToDouble(a);
  return bits == 32 ? std::bit_cast<float>(static_cast<uint32_t>(a)) : std::bit_cast<double>(a);
}

uint64_t fromDouble(unsigned bits, double a) {
  return referenceConvert(64, bits, Rounding::NearestEven, std::bit_cast<uint64_t>(a));
}

uint64_t referenceFloat(FloatOp op, unsigned bits, Rounding rounding, uint64_t a, uint64_t b, uint64_t c) {
  if (bits == 32) return compute<float, uint32_t>(op, rounding, a, b, c);
  if (bits == 64) return compute<double, uint64_t>(op, rounding, a, b, c);
  auto wide = [](uint64_t x) { return std::bit_cast<uint64_t>(halfToDouble(x)); };
  uint64_t odd = compute<double, uint64_t>(op, Rounding::ToOdd, wide(a), wide(b), wide(c));
  // The sign of an exact zero depends on the rounding, which is lost in the wide result.
  if (rounding == Rounding::Down && (odd << 1) == 0)
    odd = compute<double, uint64_t>(op, Rounding::Down, wide(a), wide(b), wide(c));
  return doubleToHalf(std::bit_cast<double>(odd), rounding);
}

uint64_t referenceConvert(unsigned fromBits, unsigned toBits, Rounding rounding, uint64_t a) {
  volatile double x = toDouble(fromBits, a);
  if (toBits == 16) return doubleToHalf(x, rounding);
  if (toBits == 64) return std::bit_cast<uint64_t>(static_cast<double>(x));
  return rounded<float, uint32_t>(rounding, [&]() -> float { return static_cast<float>(x); });
}

uint64_t referenceFromInteger(unsigned toBits, Rounding rounding, bool isSigned, uint64_t value) {
  // An 80-bit number holds every integer of 64 bits.
  volatile long double x =
      isSigned ? static_cast<long double>(static_cast<int64_t>(value)) : static_cast<long double>(value);
  if (toBits == 64) return rounded<double, uint64_t>(rounding, [&]() -> double { return static_cast<double>(x); });
  if (toBits == 32) return rounded<float, uint32_t>(rounding, [&]() -> float { return static_cast<float>(x); });
  uint64_t odd = rounded<double, uint64_t>(Rounding::ToOdd, [&]() -> double { return static_cast<double>(x); });
  return doubleToHalf(std::bit_cast<double>(odd), rounding);
}

}  // namespace mulciber::test
