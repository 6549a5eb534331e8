// Conversions between integers and floating-point numbers of every format.
#include <algorithm>
#include <bit>
#include <limits>

#include "interpreter/instructions/families.h"
#include "interpreter/instructions/number.h"

namespace mulciber::interpreter {
namespace {

constexpr Format kTf32{19, 11, -126, 127, true, 0x3FFFF};
constexpr unsigned kTf32Shift = 13;

int128 lowestOf(Type type) { return isSigned(type) ? -(int128(1) << (bitsOf(type) - 1)) : 0; }
int128 highestOf(Type type) { return (int128(1) << (bitsOf(type) - (isSigned(type) ? 1 : 0))) - 1; }

int128 integerOf(uint64_t bits, Type type) {
  const unsigned width = bitsOf(type);
  if (width < 64) bits &= (uint64_t(1) << width) - 1;
  if (isSigned(type) && bits >> (width - 1)) return int128(bits) - (int128(1) << width);
  return bits;
}

// A signed type extends to the whole register by its sign, other types by zeros.
void write(Thread& t, const Op& op, int128 value) {
  auto bits = static_cast<uint64_t>(value);
  const unsigned width = bitsOf(op.type);
  if (width < 64) bits &= (uint64_t(1) << width) - 1;
  t.registers[op.d] = static_cast<uint64_t>(integerOf(bits, op.type)) & op.mask;
}

void integerToInteger(Thread& t, const Op& op) {
  const int128 value = integerOf(t.registers[op.a], op.sourceType);
  write(t, op, op.sat ? std::clamp(value, lowestOf(op.type), highestOf(op.type)) : value);
}

void integerToFloat(Thread& t, const Op& op) {
  const int128 value = integerOf(t.registers[op.a], op.sourceType);
  const Number number = ofInteger(static_cast<uint128>(value < 0 ? -value : value), value < 0);
  t.registers[op.d] = pack(formatOf(op.type), number, {op.rounding, false, op.sat, false});
}

// What does not fit becomes the nearest number that does.
void floatToInteger(Thread& t, const Op& op) {
  const Format& format = formatOf(op.sourceType);
  const uint64_t mask = format.bits == 64 ? ~uint64_t(0) : (uint64_t(1) << format.bits) - 1;
  const Number number = toWhole(unpack(format, t.registers[op.a] & mask, op.ftz), op.rounding);
  const unsigned width = bitsOf(op.type);
  if (number.isNan()) {
    const bool isZero = op.sourceType != Type::F64 && width < 64;
    return write(t, op, isZero ? 0 : int128(1) << (width - 1));
  }
  int128 value = 0;
  if (number.isInfinite() || (number.kind == Number::Kind::Finite && number.magnitude() > 100))
    value = std::numeric_limits<int64_t>::max() * (int128(1) << 32);
  else if (number.kind == Number::Kind::Finite) value = static_cast<int128>(number.significand << number.exponent);
  if (number.isNegative) value = -value;
  write(t, op, std::clamp(value, lowestOf(op.type), highestOf(op.type)));
}

// Conversions from and to f64 keep the upper bits of a NaN, and make it quiet; bf16 is the upper half of f32.
bool keepsNan(const Op& op, const Format& to, const Format& from) {
  return !op.sat &&
         (from.bits == 64 || to.bits == 64 || (to.bits == 32 && from.bits == 16 && from.precision == 8 && !op.ftz));
}
uint64_t keptNan(const Format& to, const Format& from, uint64_t bits) {
  const uint64_t sign = bits & from.sign() ? to.sign() : 0;
  const uint64_t fraction = bits & ((uint64_t(1) << (from.precision - 1)) - 1);
  const uint64_t quiet = from.bits == 64 || to.bits == 64 ? uint64_t(1) << (to.precision - 2) : 0;
  const uint64_t moved = to.precision >= from.precision ? fraction << (to.precision - from.precision)
                                                        : fraction >> (from.precision - to.precision);
  return sign | to.infinity() | quiet | moved;
}

uint64_t convert(const Op& op, const Format& to, const Format& from, uint64_t bits) {
  // .ftz is of f32 alone, and does not flush what becomes f16.
  const bool flushesSource = op.ftz && from.bits == 32 && &to != &kF16;
  Number number = unpack(from, bits, flushesSource);
  if (number.isNan() && flushesSource) bits = kF32.nan;  // which an addition did
  if (number.isNan() && keepsNan(op, to, from)) return keptNan(to, from, bits);
  if (op.relu && number.isNegative && !number.isNan()) return 0;
  if (op.mode) number = toWhole(number, op.rounding);
  return pack(to, number, {op.rounding, op.ftz && to.bits == 32, op.sat, op.nan});
}

void floatToFloat(Thread& t, const Op& op) {
  const Format& from = formatOf(op.sourceType);
  const uint64_t mask = from.bits == 64 ? ~uint64_t(0) : (uint64_t(1) << from.bits) - 1;
  t.registers[op.d] = convert(op, formatOf(op.type), from, t.registers[op.a] & mask);
}

void copy(Thread& t, const Op& op) { t.registers[op.d] = t.registers[op.a] & op.immediate; }

// .rna is emulated with integers, which cut a NaN off; .satfinite then steps down from it as from infinity.
void toTf32(Thread& t, const Op& op) {
  if (op.rounding == Rounding::NearestAway && unpack(kF32, t.registers[op.a]).isNan()) {
    const uint32_t cut = get<uint32_t>(t, op.a) >> kTf32Shift << kTf32Shift;
    t.registers[op.d] = cut - (op.nan ? 1u << kTf32Shift : 0);
    return;
  }
  t.registers[op.d] = convert(op, kTf32, kF32, t.registers[op.a]) << kTf32Shift;
}

// Two numbers into one register: the first goes to the upper half.
void pairOfSingles(Thread& t, const Op& op) {
  const Format& to = formatOf(op.type);
  t.registers[op.d] = convert(op, to, kF32, t.registers[op.a]) << to.bits | convert(op, to, kF32, t.registers[op.b]);
}
// .rs: as many random bits as are cut off are added first. The upper half of the third operand is for the first.
void randomPair(Thread& t, const Op& op) {
  auto rounded = [&](uint64_t bits, uint64_t random) {
    if (unpack(kF32, bits).isNan()) return kBf16.nan;
    return convert(op, kBf16, kF32, (bits + random) & 0xFFFF0000);
  };
  const uint64_t a = get<uint32_t>(t, op.a), b = get<uint32_t>(t, op.b), random = get<uint32_t>(t, op.c);
  t.registers[op.d] = rounded(a, random >> 16) << 16 | rounded(b, random & 0xFFFF);
}
void pairToPair(Thread& t, const Op& op) {
  const Format &to = formatOf(op.type), &from = formatOf(op.sourceType);
  const uint64_t a = t.registers[op.a], mask = (uint64_t(1) << from.bits) - 1;
  t.registers[op.d] = convert(op, to, from, a >> from.bits & mask) << to.bits | convert(op, to, from, a & mask);
}

// cvt.pack: the first above the second; what was in c moves up by both.
void packIntegers(Thread& t, const Op& op) {
  const unsigned bits = bitsOf(op.type);
  auto part = [&](uint32_t place) {
    const int128 value = std::clamp(integerOf(t.registers[place], Type::S32), lowestOf(op.type), highestOf(op.type));
    return static_cast<uint32_t>(value) & ((uint32_t(1) << bits) - 1);
  };
  const uint64_t above = bits == 16 ? 0 : t.registers[op.c] << 2 * bits;
  t.registers[op.d] = static_cast<uint32_t>(above | part(op.a) << bits | part(op.b));
}

}  // namespace

bool decodeConvert(Decoder& decoder, const Instruction& i, Op& op) {
  if (i.opcode != "cvt" || i.types.size() < 2) return false;
  op.rounding = roundingIn(i);
  if (i.has(".pack")) {
    op.execute = packIntegers;
  } else {
    if (i.types.size() != 2) Decoder::unknown(i);
    const bool toFloat = isFloat(op.type), fromFloat = isFloat(op.sourceType);
    const bool isPair =
        op.type == Type::F16x2 || op.type == Type::BF16x2 || op.type == Type::E4M3x2 || op.type == Type::E5M2x2;
    op.mode = toFloat && fromFloat && (i.has(".rni") || i.has(".rzi") || i.has(".rmi") || i.has(".rpi"));
    op.nan = i.has(".satfinite");
    if (op.type == Type::TF32) op.execute = toTf32;
    else if (isPair) op.execute = op.sourceType == Type::F32 ? pairOfSingles : pairToPair;
    else if (toFloat && op.type == op.sourceType && !op.mode && !op.ftz && !op.sat && bitsOf(op.type) >= 32)
      op.immediate = bitsOf(op.type) == 64 ? ~uint64_t(0) : 0xFFFFFFFF, op.execute = copy;
    else if (toFloat) op.execute = fromFloat ? floatToFloat : integerToFloat;
    else op.execute = fromFloat ? floatToInteger : integerToInteger;
    if (i.has(".rs")) {
      if (op.type != Type::BF16x2) Decoder::unknown(i);
      op.execute = randomPair;
    }
  }
  decoder.operands(i, op, op.sourceType);
  return true;
}

}  // namespace mulciber::interpreter
