#include "translator/passes/fold.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;

uint64_t maskOf(unsigned bits) { return bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1; }

int64_t signExtend(uint64_t value, unsigned bits) {
  unsigned unused = 64 - bits;
  return static_cast<int64_t>(value << unused) >> unused;
}

std::optional<uint64_t> foldInteger(const Instruction& instruction, uint64_t a, uint64_t b) {
  unsigned bits = instruction.operands[0]->type.bits;
  int64_t sa = signExtend(a, bits), sb = signExtend(b, bits);
  switch (instruction.op) {
    case Op::Add: return a + b;
    case Op::Sub: return a - b;
    case Op::Mul: return a * b;
    case Op::MulHiU: return bits > 32 ? std::nullopt : std::optional(a * b >> bits);
    case Op::MulHiS: return bits > 32 ? std::nullopt : std::optional(static_cast<uint64_t>(sa * sb >> bits));
    case Op::UDiv: return b == 0 ? std::nullopt : std::optional(a / b);
    case Op::URem: return b == 0 ? std::nullopt : std::optional(a % b);
    case Op::SDiv:
      if (sb == 0 || sb == -1) return sb == 0 ? std::nullopt : std::optional(0 - a);
      return static_cast<uint64_t>(sa / sb);
    case Op::SRem:
      if (sb == 0 || sb == -1) return sb == 0 ? std::nullopt : std::optional<uint64_t>(0);
      return static_cast<uint64_t>(sa % sb);
    case Op::Neg: return 0 - a;
    case Op::And: return a & b;
    case Op::Or: return a | b;
    case Op::Xor: return a ^ b;
    case Op::Not: return ~a;
    case Op::Shl: return b < bits ? std::optional(a << b) : std::nullopt;
    case Op::LShr: return b < bits ? std::optional(a >> b) : std::nullopt;
    case Op::AShr: return b < bits ? std::optional(static_cast<uint64_t>(sa >> b)) : std::nullopt;
    case Op::UMin: return std::min(a, b);
    case Op::UMax: return std::max(a, b);
    case Op::SMin: return static_cast<uint64_t>(std::min(sa, sb));
    case Op::SMax: return static_cast<uint64_t>(std::max(sa, sb));
    case Op::PopCount: return static_cast<uint64_t>(std::popcount(a));
    case Op::FindMsbU: return a == 0 ? ~uint64_t(0) : static_cast<uint64_t>(63 - std::countl_zero(a));
    case Op::FindLsb: return a == 0 ? ~uint64_t(0) : static_cast<uint64_t>(std::countr_zero(a));
    case Op::IEq: return a == b;
    case Op::INe: return a != b;
    case Op::ULt: return a < b;
    case Op::ULe: return a <= b;
    case Op::SLt: return sa < sb;
    case Op::SLe: return sa <= sb;
    case Op::ZExt:
    case Op::Trunc:
    case Op::Bitcast: return a;
    case Op::SExt: return static_cast<uint64_t>(sa);
    default: return std::nullopt;
  }
}

std::optional<uint64_t> foldBitField(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  unsigned bits = instruction.type.bits;
  bool isInsert = instruction.op == Op::BitInsert;
  uint64_t offset = operands[isInsert ? 2 : 1]->payload, count = operands[isInsert ? 3 : 2]->payload;
  if (offset > bits || count > bits || offset + count > bits) return std::nullopt;
  uint64_t base = operands[0]->payload;
  if (count == 0) return isInsert ? base : 0;
  uint64_t mask = maskOf(static_cast<unsigned>(count));
  if (isInsert) return (base & ~(mask << offset)) | (operands[1]->payload & mask) << offset;
  uint64_t field = base >> offset & mask;
  if (instruction.op == Op::BitExtractU) return field;
  return static_cast<uint64_t>(signExtend(field, static_cast<unsigned>(count)));
}

template <typename Float, typename Bits>
std::optional<uint64_t> foldFloat(const Instruction& instruction) {
  auto operand = [&](size_t i) { return std::bit_cast<Float>(static_cast<Bits>(instruction.operands[i]->payload)); };
  auto isPlain = [](Float value) { return value == 0 || std::isnormal(value); };
  for (size_t i = 0; i < instruction.operands.size(); ++i)
    if (!isPlain(operand(i))) return std::nullopt;
  if (instruction.fp.rounding != ir::Rounding::NearestEven) return std::nullopt;
  Float result;
  switch (instruction.op) {
    case Op::FAdd: result = operand(0) + operand(1); break;
    case Op::FSub: result = operand(0) - operand(1); break;
    case Op::FMul: result = operand(0) * operand(1); break;
    case Op::Fma: result = std::fma(operand(0), operand(1), operand(2)); break;
    default: return std::nullopt;
  }
  // Near the smallest normal number, what a product becomes depends on the mode. Sums there are exact.
  const bool isProduct = instruction.op == Op::FMul || instruction.op == Op::Fma;
  const bool mayUnderflow = isProduct && operand(0) != 0 && operand(1) != 0;
  if (!isPlain(result) || (mayUnderflow && std::abs(result) <= std::numeric_limits<Float>::min())) return std::nullopt;
  return std::bit_cast<Bits>(result);
}

// What only the bits decide. Drivers that fold it themselves may make a quiet NaN of a signalling one on the way, or
// take both for the same.
std::optional<uint64_t> foldFloatBits(const Instruction& instruction, uint64_t a) {
  const unsigned bits = instruction.operands[0]->type.bits;
  if (instruction.fp.flush) return std::nullopt;
  const uint64_t sign = uint64_t(1) << (bits - 1);
  const uint64_t infinity = bits == 16 ? 0x7C00 : bits == 32 ? 0x7F80'0000 : 0x7FF0'0000'0000'0000;
  switch (instruction.op) {
    case Op::FIsNan: return (a & ~sign) > infinity;
    case Op::FIsInf: return (a & ~sign) == infinity;
    case Op::FNeg: return a ^ sign;
    case Op::FAbs: return a & ~sign;
    default: return std::nullopt;
  }
}

// The number of a constant, unless it is denormal: what that means depends on the mode.
std::optional<double> numberOf(const Instruction& constant) {
  const uint64_t bits = constant.payload;
  if (constant.type.bits == 64) {
    const auto number = std::bit_cast<double>(bits);
    return std::fpclassify(number) == FP_SUBNORMAL ? std::nullopt : std::optional(number);
  }
  if (constant.type.bits == 32) {
    const auto number = std::bit_cast<float>(static_cast<uint32_t>(bits));
    return std::fpclassify(number) == FP_SUBNORMAL ? std::nullopt : std::optional<double>(number);
  }
  const auto exponent = static_cast<int>(bits >> 10 & 0x1F);
  const auto fraction = static_cast<double>(bits & 0x3FF);
  double number = 0;
  if (exponent == 0 && fraction != 0) return std::nullopt;
  if (exponent == 0x1F) number = fraction == 0 ? HUGE_VAL : std::nan("");
  else if (exponent != 0) number = std::ldexp(1024 + fraction, exponent - 25);
  return bits >> 15 & 1 ? -number : number;
}

// NVIDIA's compiler (580.159.04), where left to it, says that an f16 NaN does not differ from itself.
std::optional<uint64_t> foldComparison(const Instruction& instruction) {
  const auto x = numberOf(*instruction.operands[0]), y = numberOf(*instruction.operands[1]);
  if (!x || !y) return std::nullopt;
  const bool isUnordered = std::isnan(*x) || std::isnan(*y);
  switch (instruction.op) {
    case Op::FEq: return *x == *y;
    case Op::FEqU: return isUnordered || *x == *y;
    case Op::FNe: return !isUnordered && *x != *y;
    case Op::FNeU: return *x != *y;
    case Op::FLt: return *x < *y;
    case Op::FLtU: return isUnordered || *x < *y;
    case Op::FLe: return *x <= *y;
    case Op::FLeU: return isUnordered || *x <= *y;
    default: return std::nullopt;
  }
}

// A lane of a constant that is taken for a vector.
std::optional<uint64_t> foldLane(const Instruction& instruction) {
  const Instruction* whole = instruction.operands[0];
  if (whole->op != Op::Bitcast || !whole->operands[0]->isConstant() || whole->operands[0]->type.isVector())
    return std::nullopt;
  return whole->operands[0]->payload >> instruction.payload * instruction.type.bits & maskOf(instruction.type.bits);
}

// A vector of constants that is taken for a number.
std::optional<uint64_t> foldWhole(const Instruction& instruction) {
  const Instruction* vector = instruction.operands[0];
  if (!std::ranges::all_of(vector->operands, &Instruction::isConstant)) return std::nullopt;
  const unsigned bits = vector->type.bits;
  uint64_t whole = 0;
  for (size_t lane = 0; lane < vector->operands.size(); ++lane)
    whole |= (vector->operands[lane]->payload & maskOf(bits)) << lane * bits;
  return whole;
}

std::optional<uint64_t> foldToFloat(const Instruction& instruction, uint64_t a) {
  if (instruction.fp.rounding != ir::Rounding::NearestEven) return std::nullopt;
  int64_t sa = signExtend(a, instruction.operands[0]->type.bits);
  bool isSigned = instruction.op == Op::SToF;
  if (instruction.type == ir::F32)
    return std::bit_cast<uint32_t>(isSigned ? static_cast<float>(sa) : static_cast<float>(a));
  if (instruction.type == ir::F64)
    return std::bit_cast<uint64_t>(isSigned ? static_cast<double>(sa) : static_cast<double>(a));
  return std::nullopt;
}

std::optional<uint64_t> foldFloatWidth(const Instruction& instruction) {
  if (instruction.fp.rounding != ir::Rounding::NearestEven) return std::nullopt;
  const std::optional<double> number = numberOf(*instruction.operands[0]);
  if (!number || !std::isfinite(*number)) return std::nullopt;
  if (instruction.type == ir::F64) return std::bit_cast<uint64_t>(*number);
  if (instruction.type != ir::F32) return std::nullopt;
  const auto result = static_cast<float>(*number);
  // Near the smallest normal number, what it becomes depends on the mode.
  const bool mayUnderflow = *number != 0 && std::abs(result) <= std::numeric_limits<float>::min();
  if (mayUnderflow || !std::isfinite(result)) return std::nullopt;
  return std::bit_cast<uint32_t>(result);
}

}  // namespace

std::optional<uint64_t> foldConstant(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  if (operands.empty() || instruction.type.isVoid() || instruction.type.isVector()) return std::nullopt;
  if (!ir::isPure(instruction.op)) return std::nullopt;
  if (instruction.op == Op::VecExtract) return foldLane(instruction);
  if (instruction.op == Op::Bitcast && operands[0]->op == Op::VecBuild) return foldWhole(instruction);
  for (const Instruction* operand : operands)
    if (!operand->isConstant()) return std::nullopt;
  uint64_t a = operands[0]->payload;
  std::optional<uint64_t> result;
  switch (instruction.op) {
    case Op::Select: result = operands[a & 1 ? 1 : 2]->payload; break;
    case Op::BitExtractU:
    case Op::BitExtractS:
    case Op::BitInsert: result = foldBitField(instruction); break;
    case Op::FIsNan:
    case Op::FIsInf:
    case Op::FNeg:
    case Op::FAbs: result = foldFloatBits(instruction, a); break;
    case Op::FEq:
    case Op::FEqU:
    case Op::FNe:
    case Op::FNeU:
    case Op::FLt:
    case Op::FLtU:
    case Op::FLe:
    case Op::FLeU: result = foldComparison(instruction); break;
    case Op::UToF:
    case Op::SToF: result = foldToFloat(instruction, a); break;
    case Op::FConvert: result = foldFloatWidth(instruction); break;
    case Op::Bitcast: result = a; break;
    default:
      if (operands[0]->type == ir::F32) result = foldFloat<float, uint32_t>(instruction);
      else if (operands[0]->type == ir::F64) result = foldFloat<double, uint64_t>(instruction);
      else if (!operands[0]->type.isFloat())
        result = foldInteger(instruction, a, operands.size() > 1 ? operands[1]->payload : 0);
      break;
  }
  if (result) *result &= maskOf(instruction.type.bits);
  return result;
}

}  // namespace mulciber::passes
