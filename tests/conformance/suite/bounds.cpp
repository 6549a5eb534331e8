#include "conformance/suite/bounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <sstream>

namespace mulciber::conformance {
namespace {

using Number = long double;  // 64 bits of significand: eleven more than the widest result
constexpr Number kInfinity = std::numeric_limits<Number>::infinity(), kPi = 3.14159265358979323846264338327950288L;

struct Format {
  int bits, mantissa, smallest;  // exponent of the smallest normal number
  uint64_t infinity() const { return ((uint64_t(1) << (bits - 1 - mantissa)) - 1) << mantissa; }
  Number largest() const { return std::ldexp(Number(2) - std::ldexp(Number(1), -mantissa), 1 - smallest); }
  // Between a number and its neighbour.
  Number unitAt(Number x) const {
    const int exponent = x == 0 ? smallest : std::ilogb(x);
    return std::ldexp(Number(1), std::clamp(exponent, smallest, 1 - smallest) - mantissa);
  }
};
constexpr Format kHalf{16, 10, -14}, kBfloat{16, 7, -126}, kSingle{32, 23, -126}, kDouble{64, 52, -1022};
// The upper words of doubles.
constexpr Format kUpperWord{32, 20, -1022};

Number numberOf(const Format& f, uint64_t bits) {
  if (f.bits < 64) bits &= (uint64_t(1) << f.bits) - 1;
  const uint64_t magnitude = bits & ~(uint64_t(1) << (f.bits - 1)),
                 fraction = magnitude & ((uint64_t(1) << f.mantissa) - 1);
  const int exponent = static_cast<int>(magnitude >> f.mantissa);
  Number value;
  if (magnitude > f.infinity()) value = std::numeric_limits<Number>::quiet_NaN();
  else if (magnitude == f.infinity()) value = kInfinity;
  else if (exponent == 0) value = std::ldexp(Number(fraction), f.smallest - f.mantissa);
  else value = std::ldexp(Number(fraction | uint64_t(1) << f.mantissa), exponent - 1 + f.smallest - f.mantissa);
  return bits != magnitude ? -value : value;
}

Number flushed(const Format& f, Number x) {
  return std::abs(x) < std::ldexp(Number(1), f.smallest) ? std::copysign(Number(0), x) : x;
}

// What an instruction may give for its operands.
struct Allowed {
  Number exact, error;
  bool anything = false;  // the manual promises nothing
};

using Operands = std::array<Number, 2>;
struct Approximation {
  const char* name;  // the instruction without its operands, .ftz left out
  Format format;
  Allowed (*allowed)(const Format& f, const Operands& x);
  const char* bound;
};

Allowed units(const Format& f, Number exact, int count) { return {exact, count * f.unitAt(exact)}; }
Allowed relative(Number exact, Number error) { return {exact, std::abs(exact) * error}; }

Allowed trigonometric(Number x, Number exact) {
  if (std::isinf(x) || std::isnan(x)) return {std::numeric_limits<Number>::quiet_NaN(), 0};
  const Number size = std::abs(x);
  if (size == 0) return {exact, 0};
  if (size > 100 * kPi) return {0, 1};
  return {exact, std::exp2(size <= 2 * kPi ? Number(-20.5L) : Number(-14.7L))};
}

Allowed quotient(const Format& f, const Operands& x) { return units(f, x[0] / x[1], 2); }

// Beyond 2^126 the divisor's reciprocal is flushed, and of denormal divisors nothing is said.
Allowed shortQuotient(const Format& f, const Operands& x) {
  const Number size = std::abs(x[1]);
  if (size > 0x1p126L && size < kInfinity)
    return std::isinf(x[0]) || std::isnan(x[0]) ? Allowed{std::numeric_limits<Number>::quiet_NaN(), 0}
                                                : Allowed{std::copysign(Number(0), x[0]) * x[1], 0};
  Allowed allowed = quotient(f, x);
  allowed.anything = size > 0 && size < 0x1p-126L;
  return allowed;
}

const std::array<Approximation, 21> kApproximations = {{
    {"div.approx.f32", kSingle, shortQuotient, "2 units in the last place"},
    {"div.full.f32", kSingle, quotient, "2 units in the last place"},
    {"rcp.approx.f32", kSingle, [](const Format& f, const Operands& x) { return units(f, 1 / x[0], 1); },
     "1 unit in the last place"},
    {"sqrt.approx.f32", kSingle, [](const Format&, const Operands& x) { return relative(std::sqrt(x[0]), 0x1p-23L); },
     "relative 2^-23"},
    {"rsqrt.approx.f32", kSingle,
     [](const Format&, const Operands& x) { return relative(1 / std::sqrt(x[0]), std::exp2(-22.9L)); },
     "relative 2^-22.9"},
    {"sin.approx.f32", kSingle, [](const Format&, const Operands& x) { return trigonometric(x[0], std::sin(x[0])); },
     "absolute 2^-20.5 up to 2 pi, 2^-14.7 up to 100 pi"},
    {"cos.approx.f32", kSingle, [](const Format&, const Operands& x) { return trigonometric(x[0], std::cos(x[0])); },
     "absolute 2^-20.5 up to 2 pi, 2^-14.7 up to 100 pi"},
    {"lg2.approx.f32", kSingle,
     [](const Format&, const Operands& x) {
       const Number exact = std::log2(x[0]);
       return x[0] > 0.5L && x[0] < 2 ? Allowed{exact, 0x1p-22L} : relative(exact, 0x1p-22L);
     },
     "absolute 2^-22 between 1/2 and 2, else relative 2^-22"},
    // From the correctly rounded result: half a unit more from the exact one.
    {"ex2.approx.f32", kSingle,
     [](const Format& f, const Operands& x) {
       const Number exact = std::exp2(x[0]);
       return Allowed{exact, 2.5L * f.unitAt(exact)};
     },
     "2 units in the last place"},
    {"tanh.approx.f32", kSingle, [](const Format&, const Operands& x) { return relative(std::tanh(x[0]), 0x1p-11L); },
     "relative 2^-11"},
    {"ex2.approx.f16", kHalf,
     [](const Format&, const Operands& x) { return relative(std::exp2(x[0]), std::exp2(-9.9L)); }, "relative 2^-9.9"},
    {"ex2.approx.f16x2", kHalf,
     [](const Format&, const Operands& x) { return relative(std::exp2(x[0]), std::exp2(-9.9L)); }, "relative 2^-9.9"},
    {"ex2.approx.bf16", kBfloat, [](const Format&, const Operands& x) { return relative(std::exp2(x[0]), 0x1p-7L); },
     "relative 2^-7"},
    {"ex2.approx.bf16x2", kBfloat, [](const Format&, const Operands& x) { return relative(std::exp2(x[0]), 0x1p-7L); },
     "relative 2^-7"},
    {"tanh.approx.f16", kHalf,
     [](const Format&, const Operands& x) {
       return Allowed{std::tanh(x[0]), std::exp2(-10.987L)};
     },
     "absolute 2^-10.987"},
    {"tanh.approx.f16x2", kHalf,
     [](const Format&, const Operands& x) {
       return Allowed{std::tanh(x[0]), std::exp2(-10.987L)};
     },
     "absolute 2^-10.987"},
    {"tanh.approx.bf16", kBfloat,
     [](const Format&, const Operands& x) {
       return Allowed{std::tanh(x[0]), 0x1p-8L};
     },
     "absolute 2^-8"},
    {"tanh.approx.bf16x2", kBfloat,
     [](const Format&, const Operands& x) {
       return Allowed{std::tanh(x[0]), 0x1p-8L};
     },
     "absolute 2^-8"},
    // The manual has no bound for doubles. The first is all of CUDA's rsqrt(), which has one; the others have 20 bits.
    {"rsqrt.approx.f64", kDouble, [](const Format& f, const Operands& x) { return units(f, 1 / std::sqrt(x[0]), 1); },
     "1 unit in the last place"},
    {"rsqrt.approx.ftz.f64", kUpperWord,
     [](const Format& f, const Operands& x) { return units(f, 1 / std::sqrt(x[0]), 2); }, "2 units of the upper word"},
    {"rcp.approx.ftz.f64", kUpperWord, [](const Format& f, const Operands& x) { return units(f, 1 / x[0], 2); },
     "2 units of the upper word"},
}};

// The instruction as text, taken apart.
struct Parts {
  const Approximation* approximation = nullptr;
  bool flushes = false, isPacked = false, isUpperWord = false;
  std::vector<int> sources;  // inputs, or -1 and a constant
  std::vector<uint64_t> constants;
};

Parts partsOf(const Case& one) {
  Parts parts;
  std::istringstream stream(one.name);
  std::string word, plain = one.instruction();
  if (one.guard >= 0) stream >> word;
  stream >> word;
  if (const size_t ftz = plain.find(".ftz"); ftz != std::string::npos) {
    parts.flushes = true;
    if (!plain.ends_with(".f64")) plain.erase(ftz, 4);
  }
  for (const Approximation& a : kApproximations)
    if (plain == a.name) parts.approximation = &a;
  parts.isPacked = plain.ends_with("x2");
  parts.isUpperWord = parts.approximation && plain.ends_with(".ftz.f64");
  stream >> word;  // the destination
  while (stream >> word && word != "//") {
    const bool isInput = word.starts_with("%a");
    parts.sources.push_back(isInput ? std::atoi(word.c_str() + 2) : -1);
    parts.constants.push_back(isInput ? 0 : std::strtoull(word.c_str() + 2, nullptr, 16));
  }
  return parts;
}

bool isAllowed(const Parts& parts, const Operands& x, Number given) {
  const Format& f = parts.approximation->format;
  Allowed allowed = parts.approximation->allowed(f, x);
  if (allowed.anything) return true;
  if (std::isnan(allowed.exact)) return std::isnan(given);
  if (std::isnan(given)) return false;
  if (std::isinf(allowed.exact)) return given == allowed.exact;
  const Number error = std::clamp(allowed.error, f.unitAt(0), 4 * f.unitAt(f.largest()));
  // Zeros have the sign of the exact result, and may stand for what .ftz flushes.
  if (parts.flushes && given == 0 && std::signbit(given) == std::signbit(allowed.exact))
    if (std::abs(allowed.exact) - error < std::ldexp(Number(1), f.smallest)) return true;
  if (parts.flushes && given != 0 && flushed(f, given) == 0) return false;
  const Number beyond = std::ldexp(Number(1), 2 - f.smallest);  // what infinity stands for
  auto finite = [&](Number value) { return std::abs(value) > f.largest() ? std::copysign(beyond, value) : value; };
  if (allowed.exact == 0 && allowed.error == 0) return given == 0 && std::signbit(given) == std::signbit(allowed.exact);
  const Number exact = std::isinf(given) ? std::clamp(allowed.exact, -beyond, beyond) : allowed.exact;
  return std::abs(finite(given) - exact) <= error;
}

}  // namespace

std::string boundOf(const Case& one) {
  const Approximation* approximation = partsOf(one).approximation;
  return approximation ? approximation->bound : "";
}

std::optional<std::string> beyondBound(const Case& one, const InputTable& inputs, const std::vector<uint64_t>& values,
                                       const std::vector<unsigned>& rows) {
  const Parts parts = partsOf(one);
  if (!parts.approximation) return std::nullopt;
  const Format& f = parts.approximation->format;
  const Format operandFormat = parts.isUpperWord ? kDouble : f;
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t row = rows.empty() ? i : rows[i];
    const uint64_t given = values[i];
    bool isRight = true;
    if (one.guard >= 0 && one.isSkipped(inputs.columns[static_cast<size_t>(one.guard)][row])) {
      isRight = given == inputs.columns[static_cast<size_t>(one.old)][row];
    } else {
      for (unsigned lane = 0; lane < (parts.isPacked ? 2u : 1u); ++lane) {
        Operands x{};
        for (size_t k = 0; k < parts.sources.size(); ++k) {
          uint64_t bits =
              parts.sources[k] < 0 ? parts.constants[k] : inputs.columns[static_cast<size_t>(parts.sources[k])][row];
          if (parts.isUpperWord) bits &= ~uint64_t(0xFFFFFFFF);
          x[k] = numberOf(operandFormat, bits >> (16 * lane));
          if (parts.flushes) x[k] = flushed(operandFormat, x[k]);
        }
        isRight = isRight && isAllowed(parts, x, numberOf(f, parts.isUpperWord ? given >> 32 : given >> (16 * lane)));
      }
      if (parts.isUpperWord) isRight = isRight && (given & 0xFFFFFFFF) == 0;
    }
    if (isRight) continue;
    std::ostringstream text;
    text << std::hex;
    for (const auto& column : inputs.columns) text << column[row] << ' ';
    text << "-> " << given << ", allowed: " << parts.approximation->bound;
    return text.str();
  }
  return std::string();
}

}  // namespace mulciber::conformance
