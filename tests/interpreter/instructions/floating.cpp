// Arithmetic of floating-point numbers of every format.
#include <bit>
#include <cmath>

#include "interpreter/instructions/families.h"
#include "interpreter/instructions/number.h"
#include "interpreter/syntax/lexer.h"

namespace mulciber::interpreter {
namespace {

enum Operation : uint8_t { kAdd, kSub, kMul, kFma, kDiv, kRcp, kSqrt, kMin, kMax, kAbs, kNeg, kCopysign };

uint64_t exact(const Format& format, const Op& op, uint64_t a, uint64_t b, uint64_t c) {
  const Number x = unpack(format, a, op.ftz), y = unpack(format, b, op.ftz);
  Number result;
  switch (op.mode) {
    case kAdd: result = sum(x, y, op.rounding); break;
    case kSub: result = sum(x, negated(y), op.rounding); break;
    case kMul: result = product(x, y); break;
    case kFma: result = sum(product(x, y), unpack(format, c, op.ftz), op.rounding); break;
    case kDiv: result = quotient(x, y); break;
    case kRcp: result = quotient(ofInteger(1, false), x); break;
    default: result = squareRoot(x); break;
  }
  return pack(format, result, {op.rounding, op.ftz, op.sat, false});
}

// NaNs of f64 keep their bits, made quiet: which one of several is what the hardware was seen to give.
uint64_t nanOfDoubles(const Op& op, uint64_t a, uint64_t b, uint64_t c) {
  auto isNan = [](uint64_t bits) { return (bits & ~kF64.sign()) > kF64.infinity(); };
  constexpr uint64_t kQuiet = uint64_t(1) << 51;
  switch (op.mode) {
    case kAdd:
    case kSub:
    case kMul:
      if (isNan(b)) return b | kQuiet;
      return isNan(a) ? a | kQuiet : kF64.nan;
    case kDiv:
      if (isNan(a)) return a | kQuiet;
      return isNan(b) ? b | kQuiet : kF64.nan;
    case kFma:
      if (isNan(b)) return b | kQuiet;
      if (isNan(c)) return c | kQuiet;
      return isNan(a) ? a | kQuiet : kF64.nan;
    default: return isNan(a) ? a | kQuiet : kF64.nan;
  }
}

// The host's own unit rounds to nearest just so; what it makes of NaNs differs.
void singles(Thread& t, const Op& op) {
  const auto a = std::bit_cast<float>(get<uint32_t>(t, op.a)), b = std::bit_cast<float>(get<uint32_t>(t, op.b));
  float result = 0;
  switch (op.mode) {
    case kAdd: result = a + b; break;
    case kSub: result = a - b; break;
    case kMul: result = a * b; break;
    case kFma: result = std::fma(a, b, std::bit_cast<float>(get<uint32_t>(t, op.c))); break;
    case kDiv: result = a / b; break;
    case kRcp: result = 1.0f / a; break;
    default: result = std::sqrt(a); break;
  }
  t.registers[op.d] = result != result ? kF32.nan : std::bit_cast<uint32_t>(result);
}

void doubles(Thread& t, const Op& op) {
  const uint64_t x = t.registers[op.a], y = t.registers[op.b], z = t.registers[op.c];
  const auto a = std::bit_cast<double>(x), b = std::bit_cast<double>(y);
  uint64_t bits = 0;
  if (op.rounding == Rounding::Nearest) {
    double result = 0;
    switch (op.mode) {
      case kAdd: result = a + b; break;
      case kSub: result = a - b; break;
      case kMul: result = a * b; break;
      case kFma: result = std::fma(a, b, std::bit_cast<double>(z)); break;
      case kDiv: result = a / b; break;
      case kRcp: result = 1.0 / a; break;
      default: result = std::sqrt(a); break;
    }
    bits = std::bit_cast<uint64_t>(result);
  } else {
    bits = exact(kF64, op, x, y, z);
  }
  const bool isNan = (bits & ~kF64.sign()) > kF64.infinity();
  t.registers[op.d] = isNan ? nanOfDoubles(op, x, y, z) : bits;
}

void exactSingles(Thread& t, const Op& op) {
  t.registers[op.d] = exact(kF32, op, t.registers[op.a], t.registers[op.b], t.registers[op.c]);
}

// Minimum and maximum: -0 is less than 0; a NaN is passed over, or with .NaN wins.
uint64_t extreme(const Format& format, const Op& op, uint64_t a, uint64_t b) {
  const uint64_t sign = format.sign();
  auto flushed = [&](uint64_t bits) { return op.ftz && unpack(format, bits, true).isZero() ? bits & sign : bits; };
  auto isNan = [&](uint64_t bits) { return (bits & (sign - 1)) > format.infinity(); };
  a = flushed(a);
  b = flushed(b);
  const uint64_t signs = (a ^ b) & sign;
  if (op.xorsign) a &= ~sign, b &= ~sign;
  uint64_t result = 0;
  if (isNan(a) && isNan(b) && format.bits == 64) return b | uint64_t(1) << 51;
  if ((isNan(a) && isNan(b)) || (op.nan && (isNan(a) || isNan(b)))) return format.nan;
  if (isNan(a) || isNan(b)) {
    result = isNan(a) ? b : a;
  } else {
    result = (placeInOrder(format, a) < placeInOrder(format, b)) == (op.mode == kMin) ? a : b;
  }
  return op.xorsign ? result | signs : result;
}

uint64_t signOperation(const Format& format, const Op& op, uint64_t a, uint64_t b) {
  if (op.mode == kCopysign) return (a & format.sign()) | (b & (format.sign() - 1));
  const Number number = unpack(format, a, op.ftz);
  if (number.isNan() && !op.keepsNans) {
    if (format.bits < 64) return format.nan;
    // Signs of f64 are changed by an addition, which leaves that of a NaN; abs clears it where it has no guard.
    const uint64_t quiet = a | uint64_t(1) << 51;
    return op.mode == kAbs && op.guard == kTrue ? quiet & ~format.sign() : quiet;
  }
  if (number.isZero()) a &= format.sign();
  return op.mode == kAbs ? a & ~format.sign() : a ^ format.sign();
}

uint64_t element(const Format& format, const Op& op, uint64_t a, uint64_t b, uint64_t c) {
  switch (op.mode) {
    case kMin:
    case kMax: return extreme(format, op, a, b);
    case kAbs:
    case kNeg:
    case kCopysign: return signOperation(format, op, a, b);
    default: return exact(format, op, a, b, c);
  }
}

// .oob: the NaN that stands for a number out of bounds, of the two factors, gives zero.
uint64_t halfElement(const Format& format, const Op& op, uint64_t a, uint64_t b, uint64_t c) {
  constexpr uint64_t kOutOfBounds = 0x7FF7;
  if (op.count == 3 && ((a & 0x7FFF) == kOutOfBounds || (b & 0x7FFF) == kOutOfBounds)) return 0;
  const uint64_t result = element(format, op, a, b, c);
  const bool isNan = (result & 0x7FFF) > format.infinity();
  return op.relu && !isNan && (result & format.sign()) ? 0 : result;
}

void any(Thread& t, const Op& op) {
  t.registers[op.d] = element(formatOf(op.type), op, t.registers[op.a], t.registers[op.b], t.registers[op.c]);
}

void half(Thread& t, const Op& op) {
  const Format& format = formatOf(op.type);
  auto at = [&](uint32_t place) { return t.registers[place] & 0xFFFF; };
  t.registers[op.d] = halfElement(format, op, at(op.a), at(op.b), at(op.c));
}

void halves(Thread& t, const Op& op) {
  const Format& format = formatOf(op.type);
  uint64_t made = 0;
  for (unsigned shift : {0, 16}) {
    auto at = [&](uint32_t place) { return t.registers[place] >> shift & 0xFFFF; };
    made |= halfElement(format, op, at(op.a), at(op.b), at(op.c)) << shift;
  }
  t.registers[op.d] = made;
}

int operationOf(const Instruction& i) {
  static constexpr struct {
    const char* name;
    int operation;
  } kNames[] = {{"add", kAdd}, {"sub", kSub}, {"mul", kMul},          {"fma", kFma}, {"mad", kFma},
                {"div", kDiv}, {"rcp", kRcp}, {"sqrt", kSqrt},        {"min", kMin}, {"max", kMax},
                {"abs", kAbs}, {"neg", kNeg}, {"copysign", kCopysign}};
  for (const auto& one : kNames)
    if (i.opcode == one.name) return one.operation;
  return -1;
}

bool isApproximate(const Instruction& i) {
  if (i.has(".approx") || i.has(".full")) return true;
  for (const char* name : {"sin", "cos", "lg2", "ex2", "tanh", "rsqrt"})
    if (i.opcode == name) return true;
  return false;
}

void copy(Thread& t, const Op& op) { t.registers[op.d] = t.registers[op.a] & op.mask; }

// What assemblers do before the hardware comes to it, which only NaNs show: signs under a guard are bits,
// the extreme of one register is that register, and a constant that is subtracted is added.
void imitateAssembler(Decoder& decoder, const Instruction& i, Op& op) {
  const bool isConstant = i.operands.back().kind == Operand::Kind::Float;
  op.keepsNans = (op.type == Type::F32 && !op.ftz && op.guard != kTrue) || (op.type == Type::F64 && isConstant);
  if ((op.mode == kMin || op.mode == kMax) && op.a == op.b && i.modifiers.size() == 1 &&
      (op.type == Type::F16 || bitsOf(op.type) >= 32) && op.type != Type::F16x2 && op.type != Type::BF16x2)
    op.execute = copy;
  if (op.mode == kSub && op.type == Type::F64 && isConstant) {
    op.mode = kAdd;
    op.b = decoder.constant(floatConstant(i.operands.back(), op.type) ^ kF64.sign());
  }
}

}  // namespace

bool decodeFloating(Decoder& decoder, const Instruction& i, Op& op) {
  if (i.types.empty() || !isFloat(op.sourceType)) return false;
  if (isApproximate(i))
    throw Fault(Status::Approximate, i.name() + " is an approximation, which the device chooses", i.line);
  const int operation = operationOf(i);
  if (operation < 0 || i.types.size() != 1) return false;
  op.mode = static_cast<uint8_t>(operation);
  op.rounding = roundingIn(i);
  op.xorsign = i.has(".xorsign");
  const bool isArithmetic = op.mode <= kSqrt;
  switch (op.type) {
    case Type::F32:
      op.execute = !isArithmetic                                            ? any
                   : op.rounding == Rounding::Nearest && !op.ftz && !op.sat ? singles
                                                                            : exactSingles;
      break;
    case Type::F64: op.execute = isArithmetic ? doubles : any; break;
    case Type::F16:
    case Type::BF16: op.execute = half; break;
    case Type::F16x2:
    case Type::BF16x2: op.execute = halves; break;
    default: return false;
  }
  const bool isExtreme = op.mode == kMin || op.mode == kMax;
  if (isExtreme && i.operands.size() != 3) Decoder::unknown(i);
  decoder.operands(i, op, op.type);
  if (i.has(".oob")) op.count = 3;
  imitateAssembler(decoder, i, op);
  return true;
}

}  // namespace mulciber::interpreter
