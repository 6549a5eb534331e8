#include "support/ir_arithmetic.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "support/reference_float.h"

namespace mulciber::test {
namespace {

using ir::Instruction;
using ir::Op;
using ir::Rounding;
using ir::Type;

uint64_t low(uint64_t value, unsigned bits) { return bits >= 64 ? value : value & ((uint64_t(1) << bits) - 1); }

int64_t asSigned(uint64_t value, unsigned bits) { return static_cast<int64_t>(value << (64 - bits)) >> (64 - bits); }

uint64_t reverse(uint64_t value, unsigned bits) {
  uint64_t result = 0;
  for (unsigned i = 0; i < bits; i++) result |= (value >> i & 1) << (bits - 1 - i);
  return result;
}

uint64_t findMsb(uint64_t value) {
  return value == 0 ? 0xFFFFFFFF : 63u - static_cast<unsigned>(std::countl_zero(value));
}

uint64_t dot(uint64_t x, uint64_t y, bool signedX, bool signedY) {
  int64_t sum = 0;
  for (unsigned i = 0; i < 4; i++) {
    uint64_t a = x >> (8 * i) & 0xFF, b = y >> (8 * i) & 0xFF;
    sum += (signedX ? asSigned(a, 8) : int64_t(a)) * (signedY ? asSigned(b, 8) : int64_t(b));
  }
  return static_cast<uint64_t>(sum);
}

// Lane by lane on unsigned numbers of `bits` bits; empty for what is no integer operation.
std::optional<uint64_t> integer(Op op, unsigned bits, std::span<const uint64_t> x) {
  uint64_t a = x[0], b = x.size() > 1 ? x[1] : 0, c = x.size() > 2 ? x[2] : 0, d = x.size() > 3 ? x[3] : 0;
  int64_t sa = asSigned(a, bits), sb = asSigned(b, bits);
  __extension__ using Wide = unsigned __int128;
  __extension__ using SignedWide = __int128;
  auto u = [](int64_t v) { return static_cast<uint64_t>(v); };
  switch (op) {
    case Op::Add: return a + b;
    case Op::Sub: return a - b;
    case Op::Mul: return a * b;
    case Op::MulHiU: return static_cast<uint64_t>(Wide(a) * b >> bits);
    case Op::MulHiS: return static_cast<uint64_t>(SignedWide(sa) * sb >> bits);
    case Op::UDiv: return b == 0 ? std::nullopt : std::optional(a / b);
    case Op::URem: return b == 0 ? std::nullopt : std::optional(a % b);
    case Op::SDiv: return b == 0 || sb == -1 ? std::nullopt : std::optional(u(sa / sb));
    case Op::SRem: return b == 0 || sb == -1 ? std::nullopt : std::optional(u(sa % sb));
    case Op::Neg: return 0 - a;
    case Op::And: return a & b;
    case Op::Or: return a | b;
    case Op::Xor: return a ^ b;
    case Op::Not: return ~a;
    case Op::Shl: return b >= bits ? std::nullopt : std::optional(a << b);
    case Op::LShr: return b >= bits ? std::nullopt : std::optional(a >> b);
    case Op::AShr: return b >= bits ? std::nullopt : std::optional(u(sa >> b));
    case Op::UMin: return std::min(a, b);
    case Op::UMax: return std::max(a, b);
    case Op::SMin: return u(std::min(sa, sb));
    case Op::SMax: return u(std::max(sa, sb));
    case Op::PopCount: return static_cast<uint64_t>(std::popcount(a));
    case Op::BitReverse: return reverse(a, bits);
    case Op::FindMsbU: return findMsb(a);
    case Op::FindMsbS: return findMsb(sa < 0 ? low(~a, bits) : a);
    case Op::FindLsb: return a == 0 ? 0xFFFFFFFF : static_cast<uint64_t>(std::countr_zero(a));
    case Op::BitExtractU:
      if (b + c > bits) return std::nullopt;
      return c == 0 ? 0 : low(a >> b, static_cast<unsigned>(c));
    case Op::BitExtractS:
      if (b + c > bits) return std::nullopt;
      return c == 0 ? 0 : u(asSigned(a >> b, static_cast<unsigned>(c)));
    case Op::BitInsert: {
      if (c + d > bits) return std::nullopt;
      uint64_t mask = d == 0 ? 0 : low(~uint64_t(0), static_cast<unsigned>(d)) << c;
      return (a & ~mask) | ((d == 0 ? 0 : b << c) & mask);
    }
    case Op::DotU8: return dot(a, b, false, false);
    case Op::DotS8: return dot(a, b, true, true);
    case Op::DotSU8: return dot(a, b, true, false);
    case Op::IEq: return a == b;
    case Op::INe: return a != b;
    case Op::ULt: return a < b;
    case Op::ULe: return a <= b;
    case Op::SLt: return sa < sb;
    case Op::SLe: return sa <= sb;
    default: return std::nullopt;
  }
}

class Float {
 public:
  Float(const Instruction& instruction, unsigned bits, const FloatModel& model)
      : instruction_(instruction), bits_(bits), model_(model) {}

  std::optional<uint64_t> evaluate(std::vector<uint64_t> x) const {
    Op op = instruction_.op;
    if (model_.onlyNearest && (instruction_.fp.flush || instruction_.fp.rounding != Rounding::NearestEven))
      return std::nullopt;
    bool isSignOperation = op == Op::FNeg || op == Op::FAbs || op == Op::FIsNan || op == Op::FIsInf;
    bool keeps = op == Op::Fma ? model_.fmaKeepsDenormals32 && model_.keepsDenormals32 : model_.keepsDenormals32;
    bool isApproximation =
        family(op) == ir::Family::FloatFunction || (instruction_.fp.approximate && (op == Op::FSqrt || op == Op::FRcp));
    if (isApproximation && model_.approximationsFlush32) keeps = false;
    bool flush = instruction_.fp.flush || (bits_ == 32 && !keeps && !isSignOperation);
    if (flush)
      for (uint64_t& v : x) v = flushed(v);
    auto result = compute(op, x);
    bool isComparison = family(op) == ir::Family::FloatComparison || family(op) == ir::Family::FloatClass;
    if (!result || isComparison) return result;
    if (model_.divisionError != 0 && (op == Op::FDiv || op == Op::FRcp || op == Op::FSqrt || op == Op::FRsqrt))
      *result = disturbed(*result, x);
    return flush ? flushed(*result) : *result;
  }

 private:
  uint64_t sign() const { return uint64_t(1) << (bits_ - 1); }
  uint64_t flushed(uint64_t v) const { return isDenormalBits(bits_, v) ? v & sign() : v; }
  double number(uint64_t v) const { return toDouble(bits_, v); }

  // Off by up to divisionError, differently for every operand; exact special results stay.
  uint64_t disturbed(uint64_t result, const std::vector<uint64_t>& x) const {
    uint64_t magnitude = result & (sign() - 1), least = bits_ == 32 ? 0x00800010u : uint64_t(0x10) << 48;
    if (isNanBits(bits_, result) || std::isinf(number(result)) || magnitude < least) return result;
    uint64_t hash = (x[0] * 0x9E3779B97F4A7C15 + x.back()) >> 17;
    int64_t range = 2 * model_.divisionError + 1;
    return result + hash % uint64_t(range) - uint64_t(model_.divisionError);
  }

  uint64_t exact(FloatOp op, uint64_t a, uint64_t b = 0, uint64_t c = 0) const {
    return referenceFloat(op, bits_, instruction_.fp.rounding, a, b, c);
  }

  uint64_t extremum(bool isMin, uint64_t a, uint64_t b) const {
    if (isNanBits(bits_, a)) return b;
    if (isNanBits(bits_, b)) return a;
    double x = number(a), y = number(b);
    if (x == y) {
      if (!model_.minMaxKnowsZeros) return a;
      return isMin ? a | b : a & b;
    }
    return (x < y) == isMin ? a : b;
  }

  std::optional<uint64_t> compute(Op op, const std::vector<uint64_t>& x) const {
    uint64_t a = x[0], b = x.size() > 1 ? x[1] : 0, c = x.size() > 2 ? x[2] : 0;
    double p = number(a), q = number(b);
    bool unordered = isNanBits(bits_, a) || (x.size() > 1 && isNanBits(bits_, b));
    auto function = [&](double value) { return fromDouble(bits_, value); };
    switch (op) {
      case Op::FAdd: return exact(FloatOp::Add, a, b);
      case Op::FSub: return exact(FloatOp::Sub, a, b);
      case Op::FMul: return exact(FloatOp::Mul, a, b);
      case Op::FDiv: return exact(FloatOp::Div, a, b);
      case Op::FRcp: return exact(FloatOp::Div, fromDouble(bits_, 1), a);
      case Op::FSqrt: return exact(FloatOp::Sqrt, a);
      case Op::Fma:
        if (model_.fusesFma) return exact(FloatOp::Fma, a, b, c);
        return exact(FloatOp::Add, exact(FloatOp::Mul, a, b), c);
      case Op::FNeg: return a ^ sign();
      case Op::FAbs: return a & ~sign();
      case Op::FMin: return extremum(true, a, b);
      case Op::FMax: return extremum(false, a, b);
      case Op::FRsqrt: return function(1 / std::sqrt(p));
      case Op::FExp2: return function(std::exp2(p));
      case Op::FLog2: return function(std::log2(p));
      case Op::FSin: return function(std::sin(p));
      case Op::FCos: return function(std::cos(p));
      case Op::FTanh: return function(std::tanh(p));
      case Op::FFloor: return function(std::floor(p));
      case Op::FCeil: return function(std::ceil(p));
      case Op::FTrunc: return function(std::trunc(p));
      case Op::FRound: return function(std::nearbyint(p));
      case Op::FEq: return !unordered && p == q;
      case Op::FNe: return !unordered && p != q;
      case Op::FLt: return !unordered && p < q;
      case Op::FLe: return !unordered && p <= q;
      case Op::FEqU: return unordered || p == q;
      case Op::FNeU: return unordered || p != q;
      case Op::FLtU: return unordered || p < q;
      case Op::FLeU: return unordered || p <= q;
      case Op::FIsNan: return isNanBits(bits_, a);
      case Op::FIsInf: return std::isinf(p);
      default: return std::nullopt;
    }
  }

  const Instruction& instruction_;
  unsigned bits_;
  const FloatModel& model_;
};

std::optional<uint64_t> convert(const Instruction& i, Type from, uint64_t a, const FloatModel& model) {
  unsigned bits = i.type.bits;
  Rounding rounding = i.fp.rounding;
  auto flushed = [](Type type, uint64_t v) { return type == ir::F32 && isDenormalBits(32, v) ? v & 0x80000000 : v; };
  switch (i.op) {
    case Op::ZExt:
    case Op::Trunc: return a;
    case Op::SExt: return from.isBool() ? (a ? ~uint64_t(0) : 0) : static_cast<uint64_t>(asSigned(a, from.bits));
    case Op::UToF:
    case Op::SToF:
      if (model.onlyNearest && rounding != Rounding::NearestEven) return std::nullopt;
      return referenceFromInteger(bits, rounding, i.op == Op::SToF,
                                  i.op == Op::SToF ? static_cast<uint64_t>(asSigned(a, from.bits)) : a);
    case Op::FToU:
    case Op::FToS: {
      double value = std::trunc(toDouble(from.bits, a));
      double limit = std::ldexp(1.0, int(bits) - (i.op == Op::FToS ? 1 : 0));
      if (!(value < limit) || value < (i.op == Op::FToS ? -limit : 0)) return std::nullopt;
      return i.op == Op::FToS ? static_cast<uint64_t>(static_cast<int64_t>(value)) : static_cast<uint64_t>(value);
    }
    case Op::FToUClamped:
    case Op::FToSClamped: {
      const bool isSigned = i.op == Op::FToSClamped;
      const double value = std::trunc(toDouble(from.bits, a)), limit = std::ldexp(1.0, int(bits) - isSigned);
      const uint64_t top = uint64_t(1) << (bits - 1);
      if (std::isnan(value)) return bits == 64 || from.bits == 64 ? top : 0;
      if (value >= limit) return isSigned ? top - 1 : top | (top - 1);
      if (value < (isSigned ? -limit : 0)) return isSigned ? top : 0;
      return isSigned ? static_cast<uint64_t>(static_cast<int64_t>(value)) : static_cast<uint64_t>(value);
    }
    case Op::FConvert: {
      if (model.onlyNearest && (rounding != Rounding::NearestEven || i.fp.flush)) return std::nullopt;
      bool flush = i.fp.flush || !model.keepsDenormals32;
      if (flush) a = flushed(from, a);
      uint64_t result = referenceConvert(from.bits, bits, rounding, a);
      return flush ? flushed(i.type, result) : result;
    }
    default: return std::nullopt;
  }
}

uint64_t nearestBfloat(uint64_t single) {
  if ((single & 0x7FFF'FFFF) > 0x7F80'0000) return 0x7FFF;
  return (single + 0x7FFF + (single >> 16 & 1)) >> 16 & 0xFFFF;
}

}  // namespace

std::optional<uint64_t> evaluate(const Instruction& i, std::span<const uint64_t> x, const FloatModel& model) {
  if (i.op == Op::Constant) return i.payload;
  if (x.empty()) return std::nullopt;
  Type type = i.operands[0]->type;
  switch (i.op) {
    case Op::Bitcast: return x[0];
    case Op::PackBfloats: return nearestBfloat(x[0]) | nearestBfloat(x[1]) << 16;
    case Op::Select:
      if (i.operands[0]->type.lanes > 1) return std::nullopt;
      return x[0] & 1 ? x[1] : x[2];
    case Op::VecExtract: return low(x[0] >> (i.payload * type.bits), type.bits);
    case Op::VecInsert: {
      uint64_t mask = low(~uint64_t(0), i.type.bits) << (i.payload * i.type.bits);
      return (x[0] & ~mask) | x[1] << (i.payload * i.type.bits);
    }
    case Op::VecBuild: {
      uint64_t result = 0;
      for (size_t lane = 0; lane < x.size(); lane++) result |= x[lane] << (lane * i.type.bits);
      return result;
    }
    default: break;
  }
  uint64_t result = 0;
  for (unsigned lane = 0; lane < type.lanes; lane++) {
    std::vector<uint64_t> operands;
    for (size_t n = 0; n < x.size(); n++) {
      const Type& operandType = i.operands[n]->type;
      operands.push_back(operandType.lanes == 1 ? low(x[n], operandType.bits)
                                                : low(x[n] >> (lane * operandType.bits), operandType.bits));
    }
    std::optional<uint64_t> value;
    const bool isConversion = family(i.op) == ir::Family::Conversion || family(i.op) == ir::Family::FloatConversion;
    if (isConversion && i.op != Op::Bitcast) value = convert(i, type.scalar(), operands[0], model);
    else if (type.isFloat()) value = Float(i, type.bits, model).evaluate(operands);
    else value = integer(i.op, type.bits, operands);
    if (!value) return std::nullopt;
    result |= low(*value, i.type.bits) << (lane * i.type.bits);
  }
  return result;
}

}  // namespace mulciber::test
