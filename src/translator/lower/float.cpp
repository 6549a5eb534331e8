// Floating-point arithmetic of every type: the exact operations, min and max, signs, and the approximations.
//
// The IR's operations say what is meant (rounding, flushing); passes/legalize_floats makes of them what the target
// can do. bf16 is computed in f32 and rounded once: sums and products of two bf16 numbers survive the double
// rounding, fma needs its f32 result rounded to odd.
#include "translator/lower/float_formats.h"

#include <algorithm>

#include "translator/ptx/assembler_options.h"

namespace mulciber::lower {
namespace {

using ir::FloatControl;
using ir::Op;
using ir::Rounding;
using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Type;

bool isBfloat(Type type) { return type == Type::BF16 || type == Type::BF16x2; }

bool isRounded(const Instruction& instruction) {
  return instruction.first({Mod::rn, Mod::rz, Mod::rm, Mod::rp}, Mod::f32) != Mod::f32;
}

// Whether ptxas may round a product and a sum once. It does not when it compiles for a debugger.
bool contracts(FunctionLowering& f, const Instruction& instruction) {
  return !isRounded(instruction) && instruction.typeCount == 1 && !isBfloat(instruction.type()) &&
         !ptx::isRoundedEach(f.module(), f.function());
}

// The operands of one lane to its result.
using LaneFn = Value (*)(FunctionLowering&, const Instruction&, FloatControl, std::span<const Value>);

FloatControl controlOf(FunctionLowering& f, const Instruction& instruction) {
  FloatControl fp;
  fp.rounding = roundingOf(instruction);
  fp.flush = flushes(f, instruction);
  fp.approximate = instruction.has(Mod::approx) || instruction.has(Mod::full);
  return fp;
}

// Applies `compute` to every lane. f16x2 operands stay vectors where `vectorized` says so.
void lowerLanes(FunctionLowering& f, const Instruction& instruction, FloatControl fp, LaneFn compute, bool vectorized) {
  ir::Builder& b = f.b;
  Type type = instruction.type();
  unsigned count = static_cast<unsigned>(instruction.operands.size()) - 1;
  bool clamps = instruction.has(Mod::sat), rectifies = instruction.has(Mod::relu);
  std::vector<std::vector<Value>> operands;
  if (type == Type::F16x2 && vectorized && !clamps && !rectifies) {
    std::vector<Value> vectors;
    for (unsigned i = 0; i < count; i++)
      vectors.push_back(b.bitcast(ir::F16.withLanes(2), operand(f, instruction, i + 1, type)));
    f.write(instruction.operands[0], b.bitcast(ir::I32, compute(f, instruction, fp, vectors)));
    return;
  }
  // Mixed precision: an operand of the second type is widened to the first.
  bool isMixed = instruction.typeCount > 1;
  for (unsigned i = 0; i < count; i++) {
    bool isNarrow = isMixed && (i == 0 || (instruction.opcode == Opcode::Fma && i == 1));
    operands.push_back(unpackFloats(f, instruction.operands[i + 1], isNarrow ? instruction.type(1) : type));
    for (Value& v : operands.back())
      if (isNarrow && v->type != irType(type)) v = b.convert(Op::FConvert, irType(type), v);
  }
  std::vector<Value> results;
  for (size_t lane = 0; lane < operands[0].size(); lane++) {
    std::vector<Value> arguments;
    for (auto& o : operands) arguments.push_back(o[lane]);
    Value result = compute(f, instruction, fp, arguments);
    if (clamps) result = clampToUnit(b, result, fp.flush);
    if (rectifies) result = rectify(b, result);
    results.push_back(result);
  }
  const bool fits = instruction.opcode == Opcode::Min || instruction.opcode == Opcode::Max;
  writeFloats(f, instruction.operands[0], type, results, fits);
}

Value computeSum(FunctionLowering& f, const Instruction& instruction, FloatControl fp, std::span<const Value> x) {
  Op op = instruction.opcode == Opcode::Add ? Op::FAdd : instruction.opcode == Opcode::Sub ? Op::FSub : Op::FMul;
  return f.b.floating(op, fp, {x[0], x[1]});
}

void lowerSum(FunctionLowering& f, const Instruction& instruction) {
  FloatControl fp = controlOf(f, instruction);
  fp.contracts = contracts(f, instruction);
  lowerLanes(f, instruction, fp, computeSum, true);
}

// The NaN that stands for what lies out of the bounds of a tensor, whatever its sign; of bf16 it is widened here.
Value isOutOfBounds(ir::Builder& b, Value x) {
  const unsigned above = x->type == ir::F16 ? 0 : 16;
  Value bits = bitsOf(b, x);
  return b.compare(Op::IEq, b.bitAnd(bits, b.constant(bits->type, 0x7FFFull << above)),
                   b.constant(bits->type, 0x7FF7ull << above));
}

Value computeFma(FunctionLowering& f, const Instruction& instruction, FloatControl fp, std::span<const Value> x) {
  Value result = f.b.floating(Op::Fma, fp, {x[0], x[1], x[2]});
  if (!instruction.has(Mod::oob)) return result;
  for (Value factor : x.first(2))
    result = f.b.select(isOutOfBounds(f.b, factor), f.b.constant(result->type, 0), result);
  return result;
}

void lowerFma(FunctionLowering& f, const Instruction& instruction) {
  FloatControl fp = controlOf(f, instruction);
  if (isBfloat(instruction.type())) fp.rounding = Rounding::ToOdd;
  lowerLanes(f, instruction, fp, computeFma, !instruction.has(Mod::oob));
}

Value computeQuotient(FunctionLowering& f, const Instruction&, FloatControl fp, std::span<const Value> x) {
  return f.b.floating(Op::FDiv, fp, {x[0], x[1]});
}

Value computeUnary(FunctionLowering& f, const Instruction& instruction, FloatControl fp, std::span<const Value> x) {
  auto emit = [&](Op op) { return f.b.floating(op, fp, {x[0]}); };
  switch (instruction.opcode) {
    case Opcode::Abs: return emit(Op::FAbs);
    case Opcode::Neg: return emit(Op::FNeg);
    case Opcode::Rcp: return emit(Op::FRcp);
    case Opcode::Sqrt: return emit(Op::FSqrt);
    case Opcode::Rsqrt: return emit(Op::FRsqrt);
    case Opcode::Sin: return emit(Op::FSin);
    case Opcode::Cos: return emit(Op::FCos);
    case Opcode::Lg2: return emit(Op::FLog2);
    case Opcode::Ex2: return emit(Op::FExp2);
    default: return emit(Op::FTanh);
  }
}

// Signs are bits: in bf16 no trip through f32 is needed. A NaN becomes the hardware's.
void lowerSign(FunctionLowering& f, const Instruction& instruction) {
  Type type = instruction.type();
  if (!isBfloat(type)) return lowerLanes(f, instruction, controlOf(f, instruction), computeUnary, true);
  ir::Builder& b = f.b;
  Value x = operand(f, instruction, 1, type);
  uint64_t signs = type == Type::BF16 ? 0x8000 : 0x80008000;
  Value result = instruction.opcode == Opcode::Neg ? b.bitXor(x, b.constant(x->type, signs))
                                                   : b.bitAnd(x, b.constant(x->type, ~signs));
  for (uint64_t low : {uint64_t(0), uint64_t(16)}) {
    if (low >= x->type.bits) break;
    auto constant = [&](uint64_t bits) { return b.constant(x->type, bits << low); };
    Value isNan = b.compare(Op::ULt, constant(bfloat.infinity()), b.bitAnd(x, constant(bfloat.nan())));
    Value replaced = b.bitOr(b.bitAnd(result, b.constant(x->type, ~(uint64_t(0xFFFF) << low))), constant(bfloat.nan()));
    result = b.select(isNan, replaced, result);
  }
  f.write(instruction.operands[0], result);
}

// As ptxas makes it of the hardware's reciprocal. div.full also brings large divisors into its range, and div.approx
// without .ftz does so with denormal ones.
Value computeApproximateQuotient(FunctionLowering& f, const Instruction& instruction, FloatControl fp,
                                 std::span<const Value> x) {
  ir::Builder& b = f.b;
  const FloatControl plain{Rounding::NearestEven, fp.flush}, product{Rounding::NearestEven, fp.flush, false, true};
  const auto magnitude = [&] { return b.unary(Op::FAbs, x[1]); };
  Value factor = b.f32(1);
  if (!fp.flush) factor = b.select(b.compare(Op::FLt, magnitude(), b.f32(0x1p-126f)), b.f32(0x1p24f), factor);
  if (instruction.has(Mod::full))
    factor = b.select(b.compare(Op::FLt, b.f32(0x1p126f), magnitude()), b.f32(0.25f), factor);
  if (factor->isConstant()) return b.floating(Op::FMul, product, {b.floating(Op::FRcp, fp, {x[1]}), x[0]});
  Value reciprocal =
      b.floating(Op::FRcp, {Rounding::NearestEven, true, true}, {b.floating(Op::FMul, plain, {x[1], factor})});
  return b.floating(Op::FMul, product, {reciprocal, b.floating(Op::FMul, plain, {x[0], factor})});
}

// div, rcp and sqrt without a rounding are the approximations of PTX 1.3, except in f64.
void lowerQuotientOrRoot(FunctionLowering& f, const Instruction& instruction) {
  FloatControl fp = controlOf(f, instruction);
  if (!isRounded(instruction) && instruction.type() == Type::F32) fp.approximate = true;
  const bool isQuotient = instruction.opcode == Opcode::Div;
  lowerLanes(f, instruction, fp,
             !isQuotient      ? computeUnary
             : fp.approximate ? computeApproximateQuotient
                              : computeQuotient,
             false);
}

// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 look at the upper word only and leave the lower one zero.
void lowerCoarse64(FunctionLowering& f, const Instruction& instruction) {
  ir::Builder& b = f.b;
  auto keepUpper = [&](Value x) { return b.bitcast(ir::F64, b.bitAnd(bitsOf(b, x), b.i64(0xFFFFFFFF'00000000))); };
  FloatControl fp = controlOf(f, instruction);
  fp.approximate = true;
  Value x = keepUpper(operand(f, instruction, 1, Type::F64));
  Value isZero = b.compare(Op::FLt, b.unary(Op::FAbs, x), b.constant(ir::F64, doublePrecision.smallestNormal()));
  Value zero = b.bitcast(ir::F64, b.bitAnd(bitsOf(b, x), b.i64(doublePrecision.signBit())));
  x = b.select(isZero, zero, x);
  Value result = b.floating(instruction.opcode == Opcode::Rcp ? Op::FRcp : Op::FRsqrt, fp, {x});
  Value isTiny = b.compare(Op::FLt, b.unary(Op::FAbs, result), b.constant(ir::F64, doublePrecision.smallestNormal()));
  Value sign = b.bitcast(ir::F64, b.bitAnd(bitsOf(b, result), b.i64(doublePrecision.signBit())));
  f.write(instruction.operands[0], keepUpper(b.select(isTiny, sign, orNan(b, isNan(b, result), result))));
}

// rsqrt.approx.f64 is no estimate: nvcc's rsqrt() of doubles is this instruction alone. The reciprocal y of the root s
// is corrected for what both roundings lost; where there is no such error term (zeros, infinities, NaNs) y stands. Tiny
// numbers are raised before, so that what the root lost is no denormal.
void lowerReciprocalRoot64(FunctionLowering& f, const Instruction& instruction) {
  ir::Builder& b = f.b;
  auto emit = [&](Op op, std::initializer_list<Value> operands) { return b.floating(op, FloatControl{}, operands); };
  Value x = operand(f, instruction, 1, Type::F64);
  Value isTiny = b.compare(Op::FLt, x, b.f64(0x1p-900));
  x = emit(Op::FMul, {x, b.select(isTiny, b.f64(0x1p200), b.f64(1))});
  Value s = emit(Op::FSqrt, {x});
  Value y = emit(Op::FRcp, {s});
  Value negatedRoot = emit(Op::FNeg, {s});
  Value lostByRoot = emit(Op::Fma, {negatedRoot, s, x});               // x - s * s
  Value lostByReciprocal = emit(Op::Fma, {negatedRoot, y, b.f64(1)});  // 1 - s * y
  Value half = emit(Op::FMul, {emit(Op::FMul, {lostByRoot, y}), emit(Op::FMul, {y, b.f64(-0.5)})});
  Value corrected = emit(Op::Fma, {y, emit(Op::FAdd, {lostByReciprocal, half}), y});
  Value result = b.select(isNan(b, corrected), y, corrected);
  f.write(instruction.operands[0], emit(Op::FMul, {result, b.select(isTiny, b.f64(0x1p100), b.f64(1))}));
}

void lowerRoot(FunctionLowering& f, const Instruction& instruction) {
  bool isDouble = instruction.type() == Type::F64, isRsqrt = instruction.opcode == Opcode::Rsqrt;
  if (isDouble && isRsqrt && !instruction.has(Mod::ftz)) return lowerReciprocalRoot64(f, instruction);
  if (isDouble && (isRsqrt || (instruction.opcode == Opcode::Rcp && instruction.has(Mod::approx))))
    return lowerCoarse64(f, instruction);
  lowerQuotientOrRoot(f, instruction);
}

// sin to tanh. The hardware's 16-bit results are those of f32, cut off.
Value computeNarrowFunction(FunctionLowering& f, const Instruction& instruction, FloatControl fp,
                            std::span<const Value> x) {
  ir::Builder& b = f.b;
  if (x[0]->type != ir::F16) return computeUnary(f, instruction, fp, x);
  Value wide = b.convert(Op::FConvert, ir::F32, x[0]);
  Value wideArguments[] = {wide};
  Value result = computeUnary(f, instruction, fp, wideArguments);
  // Only what f32 can hold is cut off: of what is larger than f16's numbers the hardware makes an infinity.
  Value narrow = b.convert(Op::FConvert, ir::F16, result, {Rounding::TowardZero});
  if (instruction.opcode == Opcode::Ex2)
    narrow = b.select(b.compare(Op::FLe, b.f32(0x1p16f), result), b.constant(ir::F16, 0x7C00), narrow);
  return orNan(b, isNan(b, x[0]), narrow);
}

void lowerFunction(FunctionLowering& f, const Instruction& instruction) {
  FloatControl fp = controlOf(f, instruction);
  fp.approximate = true;
  if (isBfloat(instruction.type())) {
    std::vector<Value> lanes = unpackFloats(f, instruction.operands[1], instruction.type());
    for (Value& lane : lanes) {
      Value x[] = {lane};
      Value result =
          f.b.bitcast(ir::F32, f.b.bitAnd(bitsOf(f.b, computeUnary(f, instruction, fp, x)), f.b.i32(0xFFFF0000)));
      lane = orNan(f.b, isNan(f.b, lane), result);
    }
    return writeFloats(f, instruction.operands[0], instruction.type(), lanes);
  }
  lowerLanes(f, instruction, fp, computeNarrowFunction, false);
}

bool isOneRegister(const ptx::Operand& x, const ptx::Operand& y) {
  return x.kind == ptx::Operand::Kind::Register && x.kind == y.kind && x.reg == y.reg;
}

// NVIDIA's driver makes of NMin and NMax what ptxas makes of min and max, the NaN of two NaNs included: unless it sees
// that the result is one of the operands.
bool unitesNans(FunctionLowering& f, const Instruction& instruction, std::span<const Value> x) {
  return f.profile().exactMinMax && f.profile().nvidiaNan && x.size() == 2 && !isBfloat(instruction.type()) &&
         !isOneRegister(instruction.operands[1], instruction.operands[2]) && !x[0]->isConstant() && !x[1]->isConstant();
}

bool isNumber(Value x) {
  const FloatFormat& format = formatOf(x->type);
  return x->isConstant() && (x->payload & (format.signBit() - 1)) <= format.infinity();
}

// One of two or three: with .NaN a NaN wins, else a number does. xorsign: the magnitudes' extremum, the signs' product.
Value computeExtremum(FunctionLowering& f, const Instruction& instruction, FloatControl fp, std::span<const Value> x) {
  ir::Builder& b = f.b;
  Op op = instruction.opcode == Opcode::Min ? Op::FMin : Op::FMax;
  if (!instruction.has(Mod::NaN) && !instruction.has(Mod::xorsign) &&
      (unitesNans(f, instruction, x) || (x.size() == 2 && (isNumber(x[0]) || isNumber(x[1])))))
    return b.floating(op, fp, {x[0], x[1]});
  bool ofMagnitudes = instruction.has(Mod::abs);
  Value result = nullptr, anyNan = nullptr, allNan = nullptr;
  for (Value v : x) {
    Value nan = isNan(b, v);
    if (ofMagnitudes) v = b.floating(Op::FAbs, fp, {v});
    anyNan = anyNan ? b.bitOr(anyNan, nan) : nan;
    allNan = allNan ? b.bitAnd(allNan, nan) : nan;
    result = result ? b.floating(op, fp, {result, v}) : v;
  }
  if (instruction.has(Mod::xorsign)) {
    Value signs = b.bitAnd(b.bitXor(bitsOf(b, x[0]), bitsOf(b, x[1])),
                           b.constant(x[0]->type.asInt(), formatOf(x[0]->type).signBit()));
    result = b.bitcast(result->type, b.bitOr(bitsOf(b, result), signs));
  }
  if (result->type == ir::F64) {  // made of a comparison and selections, which leave the second operand's payload
    constexpr uint64_t quiet = uint64_t(1) << 51;
    return b.select(allNan, b.bitcast(ir::F64, b.bitOr(bitsOf(b, x[1]), b.i64(quiet))), result);
  }
  return orNan(b, instruction.has(Mod::NaN) ? anyNan : allNan, result);
}

// ptxas makes a copy of the extremum of a number and itself.
bool isCopy(const Instruction& instruction) {
  return instruction.modifiers.size() == 1 && isOneRegister(instruction.operands[1], instruction.operands[2]) &&
         (instruction.type() == Type::F16 || instruction.type() == Type::F32 || instruction.type() == Type::F64);
}

void lowerExtremum(FunctionLowering& f, const Instruction& instruction) {
  if (instruction.operands.size() == 3 && isCopy(instruction))
    return f.write(instruction.operands[0], operand(f, instruction, 1, instruction.type()));
  lowerLanes(f, instruction, controlOf(f, instruction), computeExtremum, false);
}

void lowerCopysign(FunctionLowering& f, const Instruction& instruction) {
  ir::Builder& b = f.b;
  Type type = instruction.type();
  Value sign = bitsOf(b, operand(f, instruction, 1, type)), magnitude = bitsOf(b, operand(f, instruction, 2, type));
  // In words of 32 bits, lest a driver sees an operation on doubles in it, which would make signalling NaNs quiet.
  Value low = nullptr;
  if (type == Type::F64) {
    low = b.convert(Op::Trunc, ir::I32, magnitude);
    for (Value* v : {&sign, &magnitude}) *v = b.convert(Op::Trunc, ir::I32, b.lshr(*v, b.i32(32)));
  }
  Value bits = b.bitOr(b.bitAnd(sign, b.i32(0x80000000)), b.bitAnd(magnitude, b.i32(0x7FFFFFFF)));
  if (low) bits = b.bitOr(b.shl(b.convert(Op::ZExt, ir::I64, bits), b.i32(32)), b.convert(Op::ZExt, ir::I64, low));
  f.write(instruction.operands[0], b.bitcast(irType(type), bits));
}

constexpr Lowering rows[] = {
    {Opcode::Fma, lowerFma},           {Opcode::Rcp, lowerRoot},     {Opcode::Sqrt, lowerRoot},
    {Opcode::Rsqrt, lowerRoot},        {Opcode::Sin, lowerFunction}, {Opcode::Cos, lowerFunction},
    {Opcode::Lg2, lowerFunction},      {Opcode::Ex2, lowerFunction}, {Opcode::Tanh, lowerFunction},
    {Opcode::Copysign, lowerCopysign},
};

}  // namespace

void lowerFloatArithmetic(FunctionLowering& f, const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Add:
    case Opcode::Sub:
    case Opcode::Mul: return lowerSum(f, instruction);
    case Opcode::Mad: return lowerFma(f, instruction);
    case Opcode::Div: return lowerQuotientOrRoot(f, instruction);
    case Opcode::Abs:
    case Opcode::Neg: return lowerSign(f, instruction);
    default: return lowerExtremum(f, instruction);
  }
}

std::span<const Lowering> floatLowerings() { return rows; }

}  // namespace mulciber::lower
