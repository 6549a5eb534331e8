// setp, set, selp, slct and testp.
#include <array>

#include "translator/lower/arithmetic.h"
#include "translator/lower/float_formats.h"

namespace mulciber::lower {
namespace {

using ir::Op;
using ptx::Mod;
using ptx::Opcode;
using ptx::Type;

// One comparison for each lane of the type: two for f16x2 and bf16x2.
std::vector<Value> compareLanes(FunctionLowering& f, const ptx::Instruction& instruction, Type type, Mod mod) {
  ir::Builder& b = f.b;
  if (!ptx::isFloat(type)) {
    Value x = operand(f, instruction, 1, type), y = operand(f, instruction, 2, type);
    return {compareInt(b, mod, ptx::isSigned(type), x, y)};
  }
  bool flush = instruction.has(Mod::ftz);
  std::vector<Value> x = unpackFloats(f, instruction.operands[1], type);
  std::vector<Value> y = unpackFloats(f, instruction.operands[2], type);
  std::vector<Value> results;
  for (size_t i = 0; i < x.size(); i++) results.push_back(compareFloat(b, mod, flush, x[i], y[i]));
  return results;
}

void lowerSetp(FunctionLowering& f, const ptx::Instruction& instruction) {
  Comparison comparison = comparisonOf(instruction);
  std::vector<Value> results = compareLanes(f, instruction, instruction.type(), comparison.compare);
  auto [first, second] = FunctionLowering::pair(instruction.operands[0]);
  // p|q of a scalar: the comparison and its opposite; of a pair: one result for each half.
  if (second && results.size() == 1) results.push_back(f.b.bitNot(results[0]));
  if (comparison.hasCombine) {
    Value third = f.predicate(instruction.operands[3]);
    for (Value& result : results) result = combine(f.b, comparison.combine, result, third);
  }
  f.write(*first, results[0]);
  if (second) f.write(*second, results[1]);
}

// What set writes for true: 1.0 in a float type, all ones in an integer type.
uint64_t trueBits(Type type) {
  switch (type) {
    case Type::F32: return 0x3F800000;
    case Type::F16:
    case Type::F16x2: return 0x3C00;
    case Type::BF16:
    case Type::BF16x2: return 0x3F80;
    default: return ~uint64_t(0);
  }
}

// What a predicated set leaves where its guard is false. ptxas puts the comparison under the guard, but not the step
// that makes the result's type of its all ones, which has the width of what is compared: that is applied to the old
// value, too.
Value leftBySet(FunctionLowering& f, const ptx::Instruction& instruction) {
  ir::Builder& b = f.b;
  const Type destination = instruction.type(0);
  Value old = bitsOf(b, f.value(instruction.operands[0], irType(destination)));
  const bool isNarrow = ptx::bitWidth(instruction.type(1)) == 16;
  if (old->type == ir::I32 && isNarrow) old = b.convert(Op::SExt, ir::I32, b.convert(Op::Trunc, ir::I16, old));
  if (old->type == ir::I16 && !isNarrow) old = b.convert(Op::ZExt, ir::I32, old);
  switch (destination) {
    case Type::F32: return b.convert(Op::SToF, ir::F32, absInt(b, old));
    case Type::F16: return b.convert(Op::SToF, ir::F16, absInt(b, old));
    case Type::BF16:
      return b.convert(Op::Trunc, ir::I16, narrowFloat(b, b.convert(Op::SToF, ir::F32, absInt(b, old)), bfloat, {}));
    default: return old;
  }
}

void lowerSet(FunctionLowering& f, const ptx::Instruction& instruction) {
  ir::Builder& b = f.b;
  Comparison comparison = comparisonOf(instruction);
  Type destination = instruction.type(0);
  std::vector<Value> results = compareLanes(f, instruction, instruction.type(1), comparison.compare);
  unsigned laneBits = ptx::bitWidth(destination) / static_cast<unsigned>(results.size());
  ir::Type laneType = ir::intType(laneBits);
  for (Value& result : results) {
    if (comparison.hasCombine) result = combine(b, comparison.combine, result, f.predicate(instruction.operands[3]));
    result = b.select(result, b.constant(laneType, trueBits(destination)), b.constant(laneType, 0));
  }
  Value packed = results.size() == 1 ? results[0] : b.bitcast(ir::I32, b.vector(results));
  Value result = b.bitcast(irType(destination), packed);
  if (Value guard = f.takeGuard())
    result = b.select(guard, result, b.bitcast(irType(destination), leftBySet(f, instruction)));
  f.write(instruction.operands[0], result, ptx::isSigned(destination));
}

void lowerSelp(FunctionLowering& f, const ptx::Instruction& instruction) {
  Type type = instruction.type();
  Value x = operand(f, instruction, 1, type), y = operand(f, instruction, 2, type);
  Value condition = f.predicate(instruction.operands[3]);
  f.write(instruction.operands[0], f.b.select(condition, x, y), ptx::isSigned(type));
}

void lowerSlct(FunctionLowering& f, const ptx::Instruction& instruction) {
  Type type = instruction.type();
  Value x = operand(f, instruction, 1, type), y = operand(f, instruction, 2, type);
  Value sign = operand(f, instruction, 3, instruction.type(1));
  Value condition = instruction.type(1) == Type::F32
                        ? compareFloat(f.b, Mod::ge, instruction.has(Mod::ftz), sign, f.b.f32(0))
                        : compareInt(f.b, Mod::ge, true, sign, f.b.i32(0));
  f.write(instruction.operands[0], f.b.select(condition, x, y), ptx::isSigned(type));
}

void lowerTestp(FunctionLowering& f, const ptx::Instruction& instruction) {
  ir::Builder& b = f.b;
  Value x = operand(f, instruction, 1, instruction.type());
  const FloatFormat& format = formatOf(x->type);
  Value magnitude = b.bitAnd(b.bitcast(x->type.asInt(), x), b.constant(x->type.asInt(), lowMask(format.bits - 1)));
  auto bits = [&](uint64_t value) { return b.constant(magnitude->type, value); };
  Value infinity = bits(format.infinity()), least = bits(format.smallestNormal());
  Value result;
  switch (instruction.first({Mod::finite, Mod::infinite, Mod::number, Mod::notanumber, Mod::normal, Mod::subnormal},
                            Mod::finite)) {
    case Mod::finite: result = b.compare(Op::ULt, magnitude, infinity); break;
    case Mod::infinite: result = b.compare(Op::IEq, magnitude, infinity); break;
    case Mod::number: result = b.compare(Op::ULe, magnitude, infinity); break;
    case Mod::notanumber: result = b.compare(Op::ULt, infinity, magnitude); break;
    case Mod::normal: {  // zero is one, too
      Value isSubnormal = b.compare(Op::ULt, b.sub(magnitude, bits(1)), b.sub(least, bits(1)));
      result = b.bitAnd(b.bitNot(isSubnormal), b.compare(Op::ULt, magnitude, infinity));
      break;
    }
    default: result = b.bitAnd(b.compare(Op::ULt, magnitude, least), b.compare(Op::INe, magnitude, bits(0))); break;
  }
  f.takeGuard();  // which ptxas forgets
  f.write(instruction.operands[0], result);
}

constexpr Lowering rows[] = {
    {Opcode::Setp, lowerSetp}, {Opcode::Set, lowerSet},     {Opcode::Selp, lowerSelp},
    {Opcode::Slct, lowerSlct}, {Opcode::Testp, lowerTestp},
};

}  // namespace

std::span<const Lowering> compareLowerings() { return rows; }

}  // namespace mulciber::lower
