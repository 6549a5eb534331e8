#include "translator/lower/matrix_words.h"

#include <array>

namespace mulciber::lower {

using ir::Op;
using ptx::Mod;
using ptx::Type;

std::span<const ptx::Operand> fragment(const ptx::Operand& operand) {
  if (operand.kind == ptx::Operand::Kind::Vector) return operand.elements;
  return {&operand, 1};
}

ir::Type MatrixWords::sumType() const {
  if (a_ == Type::F64) return ir::F64;
  return ptx::isFloat(a_) ? ir::F32 : ir::I32;
}

MatrixWords::Parts MatrixWords::parts(Value word, Type type) {
  switch (type) {
    case Type::F16: {
      Value halves = b.bitcast(ir::F16.withLanes(2), word);
      return {b.convert(Op::FConvert, ir::F32, b.extract(halves, 0)),
              b.convert(Op::FConvert, ir::F32, b.extract(halves, 1))};
    }
    case Type::BF16: return {bfloatToSingle(b, word), b.bitcast(ir::F32, b.bitAnd(word, b.i32(0xFFFF0000)))};
    case Type::TF32: return {b.bitcast(ir::F32, b.bitAnd(word, b.i32(0xFFFFE000)))};  // the rest is not looked at
    case Type::E4M3:
    case Type::E5M2: {
      Parts result;
      for (unsigned i = 0; i < 4; i++)
        result.push_back(widenFloat(b, lane(b, word, i, 8, false), type == Type::E4M3 ? e4m3 : e5m2));
      return result;
    }
    case Type::U4:
    case Type::S4: {  // the even ones and the odd ones: A and B are taken apart alike
      Parts result;
      for (unsigned shift : {0, 4}) {
        Value bytes = b.bitAnd(b.lshr(word, b.i32(shift)), b.i32(0x0F0F0F0F));
        if (type == Type::S4)  // the sign bit times 0x1E is the upper half's four
          bytes = b.bitOr(bytes, b.mul(b.bitAnd(bytes, b.i32(0x08080808)), b.i32(0x1E)));
        result.push_back(bytes);
      }
      return result;
    }
    default: return {word};
  }
}

Value MatrixWords::addProducts(Value sum, const Parts& x, const Parts& y) {
  const ir::FloatControl rounded{roundingOf(instruction)};
  for (size_t i = 0; i < x.size(); i++) {
    if (ptx::isFloat(a_)) {
      sum = b.floating(Op::Fma, rounded, {x[i], y[i], sum});
    } else if (a_ == Type::B1) {
      Value bits = instruction.has(Mod::and_) ? b.bitAnd(x[i], y[i]) : b.bitXor(x[i], y[i]);
      sum = b.add(sum, b.emit(Op::PopCount, ir::I32, {bits}));
    } else {
      const bool isSigned = ptx::isSigned(a_), isOtherSigned = ptx::isSigned(b_);
      const Op op = isSigned != isOtherSigned ? Op::DotSU8 : isSigned ? Op::DotS8 : Op::DotU8;
      const bool isSwapped = isOtherSigned && !isSigned;
      sum = b.add(sum, b.emit(op, ir::I32, {isSwapped ? y[i] : x[i], isSwapped ? x[i] : y[i]}));
    }
  }
  return sum;
}

Value MatrixWords::compress(Value low, Value high, Value metadata) {
  auto index = [&](unsigned which) { return b.bitAnd(b.lshr(metadata, b.i32(2 * which)), b.i32(3)); };
  auto piece = [&](Value word, Value which) {
    Value shift = b.mul(which, b.i32(pieceBits()));
    return b.bitAnd(b.lshr(word, shift), b.i32((1u << pieceBits()) - 1));
  };
  Value result = nullptr;
  for (unsigned i = 0; i < 32 / pieceBits(); i++) {
    Value picked = nullptr;
    if (pieceBits() == 16) {
      Value isHigh = b.compare(Op::ULe, b.i32(2), index(i));
      picked = piece(b.select(isHigh, high, low), b.bitAnd(index(i), b.i32(1)));
    } else {
      picked = piece(i < 2 ? low : high, index(i));
    }
    result = result ? b.bitOr(result, b.shl(picked, b.i32(i * pieceBits()))) : picked;
  }
  return result;
}

// A number of tf32 has three bits more than bf16 holds. All are the upper halves of words. What multiplies infinities
// is `finite`: `high`, but zero for infinities and NaNs, whose `low` is zero.
struct MatrixWords::BrainFloats {
  Value high, low, finite;
};

MatrixWords::BrainFloats MatrixWords::split(Value number) {
  constexpr uint32_t ofBrainFloat = 0xFFFF0000, ofTf32 = 0xFFFFE000, infinity = 0x7F800000, quiet = 0x00400000;
  Value bits = b.bitAnd(number, b.i32(ofTf32)), high = b.bitAnd(number, b.i32(ofBrainFloat));
  Value magnitude = b.bitAnd(bits, b.i32(0x7FFFFFFF));
  Value isFinite = b.compare(Op::ULt, magnitude, b.i32(infinity));
  Value rest = b.floating(Op::FSub, ir::FloatControl{}, {b.bitcast(ir::F32, bits), b.bitcast(ir::F32, high)});
  BrainFloats parts;
  parts.low = b.select(isFinite, b.bitcast(ir::I32, rest), b.i32(0));
  parts.finite = b.select(isFinite, high, b.i32(0));
  // The bits that make it a NaN may all be among the three.
  Value isNan = b.compare(Op::ULt, b.i32(infinity), magnitude);
  parts.high = b.select(isNan, b.bitOr(high, b.i32(quiet)), high);
  return parts;
}

std::vector<Value> MatrixWords::unitWordsOfA(const std::vector<Value>& registers, unsigned rows) {
  auto taken = [&](Value word) -> Parts {
    if (ptx::bitWidth(a_) == 4) return partsOfA(word);
    if (a_ != Type::TF32) return {word};
    const BrainFloats x = split(word);
    return {b.bitOr(x.low, b.lshr(x.high, b.i32(16))), b.bitOr(x.low, b.lshr(x.finite, b.i32(16)))};
  };
  std::vector<Value> result;
  for (size_t i = 0; i < registers.size(); i += rows) {
    std::vector<Parts> blocks;
    for (unsigned row = 0; row < rows; row++) blocks.push_back(taken(registers[i + row]));
    for (size_t part = 0; part < blocks[0].size(); part++)
      for (const Parts& block : blocks) result.push_back(block[part]);
  }
  return result;
}

// Beside A's halves of tf32, the same twice: (high, low) * (high, high) + (high, low) * (low, low).
std::vector<Value> MatrixWords::unitWordsOfB(const std::vector<Value>& registers) {
  std::vector<Value> result;
  for (Value word : registers) {
    Parts taken{word};
    if (ptx::bitWidth(b_) == 4) taken = partsOfB(word);
    if (b_ == Type::TF32) {
      const BrainFloats x = split(word);
      taken = {b.bitOr(x.finite, b.lshr(x.high, b.i32(16))), b.bitOr(x.low, b.lshr(x.low, b.i32(16)))};
    }
    result.insert(result.end(), taken.begin(), taken.end());
  }
  return result;
}

std::vector<Value> MatrixWords::readSums(const ptx::Operand& operand, Type type, ir::Type sum) {
  std::vector<Value> sums;
  for (const ptx::Operand& element : fragment(operand)) {
    if (type != Type::F16) {
      sums.push_back(f.value(element, irType(type)));
      continue;
    }
    Value halves = b.bitcast(ir::F16.withLanes(2), f.value(element, ir::I32));
    for (unsigned i = 0; i < 2; i++) {
      Value number = b.extract(halves, i);
      sums.push_back(sum == ir::F16 ? number : b.convert(Op::FConvert, ir::F32, number));
    }
  }
  return sums;
}

// Of versions before 6.5: the largest number for an infinity, and zero for a NaN.
Value MatrixWords::saturateFinite(Value sum, Type type) {
  Value largest = b.f32(type == Type::F16 ? 65504.0f : 3.40282347e38f);
  Value lowest = b.unary(Op::FNeg, largest);
  Value clamped = b.binary(Op::FMax, b.binary(Op::FMin, sum, largest), lowest);
  return b.select(isNan(b, sum), b.f32(0), clamped);
}

void MatrixWords::writeSums(const ptx::Operand& operand, Type type, const std::vector<Value>& sums) {
  std::vector<Value> values = sums;
  const bool saturates = sumType() == ir::F32 && instruction.has(Mod::satfinite);
  const bool isRounded = values[0]->type == ir::F16 && !saturates;  // by a matrix unit
  if (saturates)
    for (Value& value : values) {
      if (value->type == ir::F16) value = b.convert(Op::FConvert, ir::F32, value);
      value = saturateFinite(value, type);
    }
  if (type == Type::F16 && !isRounded)
    for (Value& value : values) value = orNan(b, isNan(b, value), b.convert(Op::FConvert, ir::F16, value));
  std::span<const ptx::Operand> registers = fragment(operand);
  const size_t each = values.size() / registers.size();
  for (size_t i = 0; i < registers.size(); i++) {
    Value value = each == 2 ? b.vector(std::array{values[2 * i], values[2 * i + 1]}) : values[i];
    f.write(registers[i], value);
  }
}

Value MatrixWords::addSaturated(Value sum, Value products) {
  Value total = b.add(sum, products);
  Value overflows = b.compare(Op::SLt, b.bitAnd(b.bitXor(sum, total), b.bitXor(products, total)), b.i32(0));
  return b.select(overflows, b.bitXor(b.ashr(sum, b.i32(31)), b.i32(0x7FFFFFFF)), total);
}

}  // namespace mulciber::lower
