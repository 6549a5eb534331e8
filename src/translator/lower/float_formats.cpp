#include "translator/lower/float_formats.h"

#include <array>
#include <bit>
#include <cmath>

namespace mulciber::lower {

using ir::Op;
using ir::Rounding;
using ptx::Mod;
using ptx::Type;

const FloatFormat& formatOf(ir::Type type) {
  return type.bits == 16 ? half : type.bits == 32 ? single : doublePrecision;
}

Rounding roundingOf(const ptx::Instruction& instruction, Rounding otherwise) {
  switch (instruction.first({Mod::rn, Mod::rz, Mod::rm, Mod::rp}, Mod::f32)) {
    case Mod::rn: return Rounding::NearestEven;
    case Mod::rz: return Rounding::TowardZero;
    case Mod::rm: return Rounding::Down;
    case Mod::rp: return Rounding::Up;
    default: return otherwise;
  }
}

bool flushes(FunctionLowering& f, const ptx::Instruction& instruction) {
  if (instruction.has(Mod::ftz)) return true;
  // Before PTX 1.4 there was no .ftz: f32 arithmetic always flushed.
  const ptx::Module& module = f.module();
  bool isLegacy = module.versionMajor == 1 && module.versionMinor < 4;
  return isLegacy && instruction.typeCount > 0 && instruction.type() == Type::F32;
}

namespace {

bool isBfloat(Type type) { return type == Type::BF16 || type == Type::BF16x2; }

// What is added before the low bits are cut off: it carries into the kept ones when the number must grow.
Value increment(ir::Builder& b, Value bits, unsigned dropped, Narrowing how) {
  const uint32_t below = (1u << dropped) - 1;
  auto isNegative = [&] { return b.compare(Op::SLt, bits, b.i32(0)); };
  switch (how.rounding) {
    case Rounding::NearestEven:
      if (how.tiesAway) return b.i32(1u << (dropped - 1));
      return b.add(b.bitAnd(b.lshr(bits, b.i32(dropped)), b.i32(1)), b.i32(below >> 1));
    case Rounding::Down: return b.select(isNegative(), b.i32(below), b.i32(0));
    case Rounding::Up: return b.select(isNegative(), b.i32(0), b.i32(below));
    default: return b.i32(0);
  }
}

// To a format with f32's exponents, its bits above others that mean nothing. A carry out of the largest number makes
// infinity.
Value roundInPlace(ir::Builder& b, Value x, const FloatFormat& format, Narrowing how) {
  const unsigned dropped = single.mantissa - format.mantissa;
  Value bits = bitsOf(b, x);
  if (how.fits) return bits;
  Value rounded = b.add(bits, increment(b, bits, dropped, how));
  return b.select(isNan(b, x), b.i32(static_cast<uint32_t>(format.nan()) << dropped), rounded);
}

}  // namespace

std::vector<Value> unpackFloats(FunctionLowering& f, const ptx::Operand& operand, Type type) {
  ir::Builder& b = f.b;
  Value v = f.value(operand, type);
  switch (type) {
    case Type::F16x2: v = b.bitcast(ir::F16.withLanes(2), v); break;
    case Type::F32x2: v = b.bitcast(ir::F32.withLanes(2), v); break;
    case Type::BF16: return {bfloatToSingle(b, v)};
    case Type::BF16x2: return {bfloatToSingle(b, v), b.bitcast(ir::F32, b.bitAnd(v, b.i32(0xFFFF0000)))};
    case Type::TF32: return {b.bitcast(ir::F32, v)};
    default: return {v};
  }
  return {b.extract(v, 0), b.extract(v, 1)};
}

void writeFloats(FunctionLowering& f, const ptx::Operand& destination, Type type, std::vector<Value> lanes, bool fits) {
  ir::Builder& b = f.b;
  if (isBfloat(type)) return f.write(destination, packBfloats(f, lanes, {Rounding::NearestEven, false, false, fits}));
  Value v = lanes.size() == 1 ? lanes[0] : b.vector(lanes);
  f.write(destination, b.bitcast(irType(type), v));
}

Value packBfloats(FunctionLowering& f, std::span<const Value> lanes, Narrowing how) {
  ir::Builder& b = f.b;
  const bool isToNearest = how.rounding == Rounding::NearestEven && !how.tiesAway && !how.saturateFinite;
  if (f.profile().packsBfloats && isToNearest && !how.fits) {
    Value pair = b.emit(Op::PackBfloats, ir::I32, {lanes[0], lanes.size() == 1 ? b.f32(0) : lanes[1]});
    return lanes.size() == 1 ? b.convert(Op::Trunc, ir::I16, pair) : pair;
  }
  Value low = narrowFloat(b, lanes[0], bfloat, how);
  if (lanes.size() == 1) return b.convert(Op::Trunc, ir::I16, low);
  Value high = how.saturateFinite ? b.shl(narrowFloat(b, lanes[1], bfloat, how), b.i32(16))
                                  : b.bitAnd(roundInPlace(b, lanes[1], bfloat, how), b.i32(0xFFFF0000));
  return b.bitOr(low, high);
}

Value bitsOf(ir::Builder& b, Value x) { return b.bitcast(x->type.asInt(), x); }

Value isNan(ir::Builder& b, Value x) { return b.emit(Op::FIsNan, ir::Bool, {x}); }

Value floatConstant(ir::Builder& b, ir::Type type, double number) {
  if (type == ir::F32) return b.f32(static_cast<float>(number));
  if (type == ir::F64) return b.f64(number);
  if (number == 0) return b.constant(type, std::signbit(number) ? 0x8000 : 0);
  int exponent;
  double fraction = std::frexp(std::fabs(number), &exponent);  // in [0.5, 1)
  uint64_t bits =
      (uint64_t(exponent - 1 + half.bias()) << half.mantissa) + static_cast<uint64_t>(fraction * 2048) - 1024;
  return b.constant(type, bits | (number < 0 ? half.signBit() : 0));
}

Value orNan(ir::Builder& b, Value condition, Value x) {
  return b.select(condition, b.constant(x->type, formatOf(x->type).nan()), x);
}

Value clampToUnit(ir::Builder& b, Value x, bool flush) {
  ir::FloatControl fp{ir::Rounding::NearestEven, flush};
  Value positive = b.floating(Op::FMax, fp, {x, floatConstant(b, x->type, 0)});
  return b.floating(Op::FMin, fp, {positive, floatConstant(b, x->type, 1)});
}

Value rectify(ir::Builder& b, Value x) {
  return orNan(b, isNan(b, x), b.binary(Op::FMax, x, floatConstant(b, x->type, 0)));
}

Value bfloatToSingle(ir::Builder& b, Value bits) {
  return b.bitcast(ir::F32, b.shl(resize(b, bits, ir::I32, false), b.i32(16)));
}

Value narrowFloat(ir::Builder& b, Value x, const FloatFormat& format, Narrowing how) {
  Value bits = bitsOf(b, x);
  unsigned dropped = single.mantissa - format.mantissa;
  if (!how.saturateFinite) return b.lshr(roundInPlace(b, x, format, how), b.i32(dropped));
  Value magnitude = b.bitAnd(bits, b.i32(0x7FFFFFFF));
  Value rounded = b.lshr(b.add(magnitude, increment(b, bits, dropped, how)), b.i32(dropped));
  rounded = b.binary(Op::UMin, rounded, b.i32(static_cast<uint32_t>(format.largestFinite())));
  Value sign = b.bitAnd(b.lshr(bits, b.i32(32 - format.bits)), b.i32(static_cast<uint32_t>(format.signBit())));
  Value result = b.bitOr(rounded, sign);
  return b.select(b.compare(Op::ULt, b.i32(0x7F800000), magnitude), b.i32(static_cast<uint32_t>(format.nan())), result);
}

float largestOf(const FloatFormat& format) {
  const auto code = static_cast<uint32_t>(format.largestFinite());
  const uint32_t hidden = 1u << format.mantissa;
  const int exponent = static_cast<int>(code >> format.mantissa) - format.bias() - static_cast<int>(format.mantissa);
  return std::ldexp(static_cast<float>(hidden | (code & (hidden - 1))), exponent);
}

// Adding a power of two whose last bit is worth a step of the small format lines the number up with the steps. Below
// the normal numbers all steps are one size. Denormals of f32 are less than half of a step, so none of this asks the
// device to keep or to flush them.
Value narrowToSmall(ir::Builder& b, Value x, const FloatFormat& format) {
  constexpr ir::FloatControl either{.approximate = true};
  const unsigned dropped = single.mantissa - format.mantissa;
  const auto smallest = std::bit_cast<uint32_t>(std::ldexp(1.0f, 1 - format.bias()));
  const Value magnitude = b.floating(Op::FMin, either, {b.unary(Op::FAbs, x), b.f32(largestOf(format))});
  const Value power =
      b.binary(Op::UMax, b.bitAnd(bitsOf(b, magnitude), b.i32(0x7F800000)), b.i32(smallest));  // at most the number
  const uint32_t steps = dropped << single.mantissa;
  const Value ruler = b.bitcast(ir::F32, b.add(power, b.i32(steps)));
  const Value aligned = bitsOf(b, b.floating(Op::FAdd, either, {magnitude, ruler}));
  const Value count = b.sub(aligned, b.add(power, b.i32(steps + (smallest >> dropped))));
  const Value rounded = b.add(count, b.lshr(power, b.i32(dropped)));
  const Value sign =
      b.bitAnd(b.lshr(bitsOf(b, x), b.i32(32 - format.bits)), b.i32(static_cast<uint32_t>(format.signBit())));
  // A format without NaN takes its largest number instead.
  return b.select(isNan(b, x), b.i32(static_cast<uint32_t>(format.nan())), b.bitOr(rounded, sign));
}

// The number's bits, moved to where f16 has them, stand for 2^(bias - 15) of it, denormals included.
std::vector<Value> widenSmallPair(ir::Builder& b, Value low, Value high, const FloatFormat& format) {
  const auto sign = static_cast<uint32_t>(format.signBit()) * 0x10001, magnitude = sign - 0x10001;
  const Value codes = b.bitOr(low, b.shl(high, b.i32(16)));
  const Value moved = b.bitOr(b.shl(b.bitAnd(codes, b.i32(sign)), b.i32(half.bits - format.bits)),
                              b.shl(b.bitAnd(codes, b.i32(magnitude)), b.i32(half.mantissa - format.mantissa)));
  const ir::Type pair = ir::F16.withLanes(2);
  Value numbers = b.bitcast(pair, moved);
  if (const int scale = half.bias() - format.bias(); scale != 0) {
    const Value factor = floatConstant(b, ir::F16, std::ldexp(1, scale));
    numbers = b.binary(Op::FMul, numbers, b.vector(std::array{factor, factor}));
  }
  std::vector<Value> result;
  for (unsigned i = 0; i < 2; ++i) {
    const Value number = b.extract(numbers, i);
    if (format.special == FloatFormat::Special::None) {
      result.push_back(number);
      continue;
    }
    const auto largest = static_cast<uint32_t>(format.special == FloatFormat::Special::NanOnly ? format.largestFinite()
                                                                                               : format.infinity());
    const Value code = b.bitAnd(i == 0 ? low : high, b.i32(magnitude & 0xFFFF));
    result.push_back(orNan(b, b.compare(Op::ULt, b.i32(largest), code), number));
  }
  return result;
}

Value widenFloat(ir::Builder& b, Value bits, const FloatFormat& format) {
  unsigned shift = single.mantissa - format.mantissa;
  Value magnitude = b.bitAnd(bits, b.i32(static_cast<uint32_t>(format.signBit() - 1)));
  uint32_t rebias = static_cast<uint32_t>(single.bias() - format.bias()) << single.mantissa;
  Value normal = b.add(b.shl(magnitude, b.i32(shift)), b.i32(rebias));
  float step = std::ldexp(1.0f, 1 - format.bias() - int(format.mantissa));
  Value tiny = b.binary(Op::FMul, b.convert(Op::UToF, ir::F32, magnitude), b.f32(step));
  Value isTiny = b.compare(Op::ULt, magnitude, b.i32(static_cast<uint32_t>(format.smallestNormal())));
  Value result = b.select(isTiny, bitsOf(b, tiny), normal);
  if (format.special == FloatFormat::Special::InfinityAndNan) {
    Value special = b.bitOr(b.shl(magnitude, b.i32(shift)), b.i32(0x7F800000));
    result = b.select(b.compare(Op::ULe, b.i32(static_cast<uint32_t>(format.infinity())), magnitude), special, result);
  } else if (format.special == FloatFormat::Special::NanOnly) {
    result =
        b.select(b.compare(Op::IEq, magnitude, b.i32(static_cast<uint32_t>(format.nan()))), b.i32(0x7FFFFFFF), result);
  }
  Value sign = b.shl(b.bitAnd(bits, b.i32(static_cast<uint32_t>(format.signBit()))), b.i32(32 - format.bits));
  return b.bitcast(ir::F32, b.bitOr(result, sign));
}

}  // namespace mulciber::lower
