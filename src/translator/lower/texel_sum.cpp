#include "translator/lower/texel_sum.h"

namespace mulciber::lower {
namespace {

using ir::Op;

constexpr uint32_t mantissaBits = 23, weightBits = 8, bias = 127;
constexpr uint32_t keptOfSingle = 28, keptOfHalf = 15;
constexpr uint32_t keptBetweenPlanes = 2;  // bits below the unit of the largest one

Value exponentOf(ir::Builder& b, Value bits) { return b.emit(Op::BitExtractU, ir::I32, {bits, b.i32(23), b.i32(8)}); }

// Divided by a power of two, halves upwards.
Value roundedShift(ir::Builder& b, Value x, uint32_t amount) {
  return b.ashr(b.add(x, b.i32(1u << (amount - 1))), b.i32(amount));
}

}  // namespace

Channels TexelSum::of(const std::vector<Plane>& planes) {
  std::array<ir::VariableId, 4> results;
  for (ir::VariableId& result : results) {
    result = b_.function().addVariable(ir::I32, "sum");
    b_.write(result, b_.i32(0));
  }
  // Most textures have one channel, and a sum takes long. There may be one, two or four.
  const auto sumEach = [&](auto&& sum) {
    b_.write(results[0], sum(0u));
    f_.beginIf(b_.compare(Op::ULt, b_.i32(1), format_.channels));
    b_.write(results[1], sum(1u));
    f_.beginIf(b_.compare(Op::ULt, b_.i32(2), format_.channels));
    for (const unsigned channel : {2u, 3u}) b_.write(results[channel], sum(channel));
    f_.endIf();
    f_.endIf();
  };
  f_.beginIf(format_.isFloat);
  sumEach([&](unsigned channel) { return ofFloats(planes, channel); });
  f_.beginElse();
  f_.beginIf(format_.isSrgb);
  sumEach([&](unsigned channel) { return ofDecoded(planes, channel); });
  f_.beginElse();
  sumEach([&](unsigned channel) { return ofFractions(planes, channel); });
  f_.endIf();
  f_.endIf();
  return {b_.read(results[0]), b_.read(results[1]), b_.read(results[2]), b_.read(results[3])};
}

// Bytes become numbers of 16 bits by repeating theirs; of signed ones, which have 7, as far as 16 bits of the sum go.
Value TexelSum::ofFractions(const std::vector<Plane>& planes, unsigned channel) {
  const Value shift = b_.sub(b_.i32(32), format_.channelBits);
  Value sum = b_.i32(0);
  for (const Plane& plane : planes)
    for (const Tap& tap : plane) {
      Value field = tap.fields[channel];
      Value extended = b_.ashr(b_.shl(field, shift), shift);
      sum = b_.add(sum, b_.mul(b_.select(format_.isSigned, extended, field), tap.weight));
    }
  Value repeated = b_.add(b_.bitAnd(sum, b_.i32(~15u)), b_.ashr(sum, b_.i32(8)));
  Value ofSignedBytes = b_.add(sum, roundedShift(b_, repeated, 7));
  Value ofBytes = roundedShift(b_, b_.mul(sum, b_.i32(257)), weightBits);
  Value ofShorts = roundedShift(b_, sum, weightBits);
  Value integer = b_.select(format_.isByte, b_.select(format_.isSigned, ofSignedBytes, ofBytes), ofShorts);
  auto choose = [&](float ofSigned, float ofUnsigned) {
    return b_.select(format_.isSigned, b_.f32(ofSigned), b_.f32(ofUnsigned));
  };
  Value fraction = fractionOf(b_, integer, true, choose(32767, 65535), choose(1.f / 32767, 1.f / 65535));
  return b_.bitcast(ir::I32, b_.binary(Op::FMax, fraction, b_.f32(-1)));
}

// Decoded bytes have 14 bits behind the point, and weights 8: no sum is rounded.
Value TexelSum::ofDecoded(const std::vector<Plane>& planes, unsigned channel) {
  if (channel == 3) return ofFractions(planes, channel);
  constexpr ir::FloatControl plain{.flush = true};
  Value sum = b_.f32(0);
  for (const Plane& plane : planes)
    for (const Tap& tap : plane) {
      const Value weight = b_.convert(Op::UToF, ir::F32, tap.weight);
      sum =
          b_.floating(Op::Fma, plain, {record_.decodedSrgb(b_.bitAnd(tap.fields[channel], b_.i32(255))), weight, sum});
    }
  const Value decoded = b_.bitcast(ir::I32, b_.floating(Op::FMul, plain, {sum, b_.f32(1 / 256.f)}));
  return b_.select(format_.decodes(b_, channel), decoded, ofFractions(planes, channel));
}

// Denormals of f32 count as zeros.
TexelSum::PlaneSum TexelSum::sumOf(const Plane& plane, unsigned channel) {
  const Value zero = b_.i32(0), highest = b_.i32(255);
  std::vector<Value> numbers;  // bits of f32
  PlaneSum result{b_.i64(0), zero, zero};
  for (const Tap& tap : plane) {
    Value field = tap.fields[channel];
    Value half = b_.bitcast(ir::F16, b_.convert(Op::Trunc, ir::I16, field));
    Value widened = b_.bitcast(ir::I32, b_.convert(Op::FConvert, ir::F32, half));
    Value number = b_.select(format_.isShort, widened, field);
    Value counts = b_.compare(Op::INe, tap.weight, zero);
    Value exponent = b_.select(counts, exponentOf(b_, number), zero);
    result.exponent = b_.binary(Op::UMax, result.exponent, exponent);
    Value sign = b_.add(b_.lshr(number, b_.i32(31)), b_.i32(1));
    Value isNan = b_.compare(Op::INe, b_.shl(number, b_.i32(32 - mantissaBits)), zero);
    Value special = b_.select(isNan, b_.i32(3), sign);
    special = b_.select(b_.compare(Op::IEq, exponent, highest), special, zero);
    result.specials = b_.bitOr(result.specials, special);
    numbers.push_back(number);
  }
  const Value dropped = b_.select(format_.isShort, b_.i32(keptOfSingle - keptOfHalf), zero);
  for (size_t i = 0; i < plane.size(); ++i) {
    Value exponent = exponentOf(b_, numbers[i]);
    Value mantissa = b_.bitOr(b_.bitAnd(numbers[i], b_.i32((1u << mantissaBits) - 1)), b_.i32(1u << mantissaBits));
    mantissa = b_.shl(mantissa, b_.i32(keptOfSingle - mantissaBits - 1));
    mantissa = b_.select(b_.compare(Op::INe, exponent, zero), mantissa, zero);
    Value distance = b_.add(b_.sub(result.exponent, exponent), dropped);
    Value aligned = b_.lshr(mantissa, b_.binary(Op::UMin, distance, b_.i32(31)));
    aligned = b_.select(b_.compare(Op::SLt, numbers[i], zero), b_.unary(Op::Neg, aligned), aligned);
    Value term = b_.mul(b_.convert(Op::SExt, ir::I64, aligned), b_.convert(Op::SExt, ir::I64, plane[i].weight));
    result.sum = b_.add(result.sum, term);
  }
  return result;
}

Value TexelSum::ofFloats(const std::vector<Plane>& planes, unsigned channel) {
  std::vector<PlaneSum> sums;
  for (const Plane& plane : planes) sums.push_back(sumOf(plane, channel));
  PlaneSum whole = sums[0];
  for (const PlaneSum& sum : sums) {
    whole.exponent = b_.binary(Op::UMax, whole.exponent, sum.exponent);
    whole.specials = b_.bitOr(whole.specials, sum.specials);
  }
  whole.sum = b_.i64(0);
  for (const PlaneSum& sum : sums) {
    Value distance = b_.binary(Op::UMin, b_.sub(whole.exponent, sum.exponent), b_.i32(63));
    Value fine = b_.shl(sum.sum, b_.i32(keptBetweenPlanes));
    whole.sum = b_.add(whole.sum, b_.ashr(fine, distance));
  }
  Value nan = b_.select(format_.isShort, b_.i32(0x7FFFE000), b_.i32(0x7FFFFFFF));
  auto isSpecial = [&](uint32_t which) { return b_.compare(Op::IEq, whole.specials, b_.i32(which)); };
  Value special = b_.select(isSpecial(1), b_.i32(0x7F800000), b_.select(isSpecial(2), b_.i32(0xFF800000), nan));
  return b_.select(isSpecial(0), rounded(whole.sum, whole.exponent), special);
}

// To the nearest number of the format, halves away from zero. Halves may be denormal, f32 numbers become zeros then.
Value TexelSum::rounded(Value sum, Value exponent) {
  const Value isHalf = format_.isShort, zero = b_.i32(0);
  const Value isNegative = b_.compare(Op::SLt, sum, b_.i64(0));
  const Value magnitude = b_.select(isNegative, b_.unary(Op::Neg, sum), sum);
  constexpr uint32_t lessThanExponent = keptOfSingle - 1 + weightBits + keptBetweenPlanes;
  Value unit = b_.sub(
      exponent, b_.select(isHalf, b_.i32(lessThanExponent - (keptOfSingle - keptOfHalf)), b_.i32(lessThanExponent)));
  Value bits = b_.add(b_.convert(Op::FindMsbU, ir::I32, magnitude), b_.i32(1));
  Value excess = b_.binary(Op::SMax, b_.sub(bits, b_.select(isHalf, b_.i32(11), b_.i32(mantissaBits + 1))), zero);
  constexpr uint32_t lowestOfHalf = bias - 24;
  Value tooLow = b_.sub(b_.i32(lowestOfHalf), unit);
  excess = b_.select(isHalf, b_.binary(Op::SMax, excess, tooLow), excess);
  excess = b_.binary(Op::SMin, excess, b_.i32(63));
  Value half = b_.lshr(b_.shl(b_.i64(1), excess), b_.i32(1));
  Value kept = b_.convert(Op::Trunc, ir::I32, b_.lshr(b_.add(magnitude, half), excess));
  Value number = b_.bitcast(ir::I32, b_.convert(Op::UToF, ir::F32, kept));
  Value scale = b_.sub(b_.add(unit, excess), b_.i32(bias));
  Value isNormal = b_.compare(Op::SLt, zero, b_.add(exponentOf(b_, number), scale));
  isNormal = b_.bitAnd(isNormal, b_.compare(Op::INe, kept, zero));
  number = b_.select(isNormal, b_.add(number, b_.shl(scale, b_.i32(mantissaBits))), zero);
  return b_.bitOr(number, b_.select(isNegative, b_.i32(1u << 31), zero));
}

}  // namespace mulciber::lower
