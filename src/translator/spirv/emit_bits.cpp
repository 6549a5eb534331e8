// Counting, finding, reversing and moving bits, and dot products of bytes. Vulkan has these for 32 bits only.
#include "translator/spirv/emitter.h"

namespace mulciber::spirv {
namespace {

using ir::Op;

constexpr uint32_t notFound = ~0u;

Id add(Emitter& e, Id a, Id b) { return e.op(spv::Op::OpIAdd, ir::I32, {a, b}); }
Id isEqual(Emitter& e, ir::Type type, Id a, uint64_t constant) {
  return e.op(spv::Op::OpIEqual, ir::Bool, {a, e.constant(type, constant)});
}

Id popCount(Emitter& e, Id value, ir::Type type) {
  auto count = [&](Id word) { return e.op(spv::Op::OpBitCount, ir::I32, {word}); };
  if (type.bits == 64) return add(e, count(e.low(value)), count(e.high(value)));
  return count(e.widen(value, type, false));
}

Id reverse(Emitter& e, Id value, ir::Type type) {
  auto word = [&](Id bits) { return e.op(spv::Op::OpBitReverse, ir::I32, {bits}); };
  if (type.bits == 64) return e.join(word(e.high(value)), word(e.low(value)));
  Id all = word(e.widen(value, type, false));
  if (type.bits == 32) return all;
  return e.narrow(e.op(spv::Op::OpShiftRightLogical, ir::I32, {all, e.constant(ir::I32, 32u - type.bits)}), type);
}

Id findMsb(Emitter& e, Id value, ir::Type type, bool isSigned) {
  auto find = [&](Id word) { return e.glsl(GLSLstd450FindUMsb, ir::I32, {word}); };
  if (type.bits < 64) {
    Id word = e.widen(value, type, isSigned);
    return isSigned ? e.glsl(GLSLstd450FindSMsb, ir::I32, {word}) : find(word);
  }
  if (isSigned) {
    Id sign = e.op(spv::Op::OpShiftRightArithmetic, ir::I64, {value, e.constant(ir::I32, 63)});
    value = e.op(spv::Op::OpBitwiseXor, ir::I64, {value, sign});
  }
  Id high = e.high(value);
  Id inHigh = add(e, find(high), e.constant(ir::I32, 32));
  return e.select(isEqual(e, ir::I32, high, 0), ir::I32, find(e.low(value)), inHigh);
}

Id findLsb(Emitter& e, Id value, ir::Type type) {
  auto find = [&](Id word) { return e.glsl(GLSLstd450FindILsb, ir::I32, {word}); };
  if (type.bits < 64) return find(e.widen(value, type, false));
  Id low = e.low(value), high = e.high(value);
  Id inHigh = add(e, find(high), e.constant(ir::I32, 32));
  Id otherwise = e.select(isEqual(e, ir::I32, high, 0), ir::I32, e.constant(ir::I32, notFound), inHigh);
  return e.select(isEqual(e, ir::I32, low, 0), ir::I32, otherwise, find(low));
}

// 64 - count, and the mask that keeps it a legal shift amount: with count 0 the shifted value is not used.
Id shiftForCount(Emitter& e, Id count) {
  Id amount = e.op(spv::Op::OpISub, ir::I32, {e.constant(ir::I32, 64), count});
  return e.op(spv::Op::OpBitwiseAnd, ir::I32, {amount, e.constant(ir::I32, 63)});
}

Id extract(Emitter& e, const ir::Instruction& i) {
  bool isSigned = i.op == Op::BitExtractS;
  Id value = e.operand(i, 0), offset = e.operand(i, 1), count = e.operand(i, 2);
  if (i.type.bits < 64) {
    spv::Op op = isSigned ? spv::Op::OpBitFieldSExtract : spv::Op::OpBitFieldUExtract;
    return e.narrow(e.op(op, ir::I32, {e.widen(value, i.type, isSigned), offset, count}), i.type);
  }
  // Up against the top, then down again.
  Id right = shiftForCount(e, count);
  Id left = e.op(spv::Op::OpISub, ir::I32, {right, offset});
  left = e.op(spv::Op::OpBitwiseAnd, ir::I32, {left, e.constant(ir::I32, 63)});
  Id up = e.op(spv::Op::OpShiftLeftLogical, ir::I64, {value, left});
  Id field = e.op(isSigned ? spv::Op::OpShiftRightArithmetic : spv::Op::OpShiftRightLogical, ir::I64, {up, right});
  return e.select(isEqual(e, ir::I32, count, 0), ir::I64, e.constant(ir::I64, 0), field);
}

Id insert(Emitter& e, const ir::Instruction& i) {
  Id base = e.operand(i, 0), value = e.operand(i, 1), offset = e.operand(i, 2), count = e.operand(i, 3);
  if (i.type.bits < 64) {
    const auto is16 = [&](size_t n) { return i.operands[n]->isConstant() && i.operands[n]->payload == 16; };
    if (i.type.bits == 32 && is16(2) && is16(3)) return e.insertHalf(base, value, offset);
    Id wide = e.op(spv::Op::OpBitFieldInsert, ir::I32,
                   {e.widen(base, i.type, false), e.widen(value, i.type, false), offset, count});
    return e.narrow(wide, i.type);
  }
  Id ones = e.op(spv::Op::OpShiftRightLogical, ir::I64, {e.constant(ir::I64, ~uint64_t{0}), shiftForCount(e, count)});
  Id amount = e.op(spv::Op::OpBitwiseAnd, ir::I32, {offset, e.constant(ir::I32, 63)});
  Id mask = e.op(spv::Op::OpShiftLeftLogical, ir::I64, {ones, amount});
  Id moved = e.op(spv::Op::OpShiftLeftLogical, ir::I64, {value, amount});
  Id kept = e.op(spv::Op::OpBitwiseAnd, ir::I64, {base, e.op(spv::Op::OpNot, ir::I64, {mask})});
  Id both = e.op(spv::Op::OpBitwiseOr, ir::I64, {kept, e.op(spv::Op::OpBitwiseAnd, ir::I64, {moved, mask})});
  return e.select(isEqual(e, ir::I32, count, 0), ir::I64, base, both);
}

Id dot(Emitter& e, const ir::Instruction& i) {
  Id a = e.operand(i, 0), b = e.operand(i, 1);
  if (e.profile.integerDotProduct) {
    spv::Op op = i.op == Op::DotU8 ? spv::Op::OpUDot : i.op == Op::DotS8 ? spv::Op::OpSDot : spv::Op::OpSUDot;
    e.module.capability(spv::Capability::DotProduct);
    e.module.capability(spv::Capability::DotProductInput4x8BitPacked);
    return e.op(op, ir::I32, {a, b, static_cast<uint32_t>(spv::PackedVectorFormat::PackedVectorFormat4x8Bit)});
  }
  auto byte = [&](Id word, unsigned which, bool isSigned) {
    return e.op(isSigned ? spv::Op::OpBitFieldSExtract : spv::Op::OpBitFieldUExtract, ir::I32,
                {word, e.constant(ir::I32, which * 8), e.constant(ir::I32, 8)});
  };
  Id sum = 0;
  for (unsigned which = 0; which < 4; ++which) {
    Id product = e.op(spv::Op::OpIMul, ir::I32, {byte(a, which, i.op != Op::DotU8), byte(b, which, i.op == Op::DotS8)});
    sum = which == 0 ? product : add(e, sum, product);
  }
  return sum;
}

}  // namespace

Id emitBits(Emitter& e, const ir::Instruction& i) {
  Id value = e.operand(i, 0);
  ir::Type type = i.operands[0]->type;
  if (type.isVector()) {
    e.refuse("an internal error: a bit operation on a vector");
    return e.zero(i.type);
  }
  switch (i.op) {
    case Op::PopCount: return popCount(e, value, type);
    case Op::BitReverse: return reverse(e, value, type);
    case Op::FindMsbU: return findMsb(e, value, type, false);
    case Op::FindMsbS: return findMsb(e, value, type, true);
    case Op::FindLsb: return findLsb(e, value, type);
    case Op::BitExtractU:
    case Op::BitExtractS: return extract(e, i);
    case Op::BitInsert: return insert(e, i);
    default: return dot(e, i);
  }
}

}  // namespace mulciber::spirv
