// Conversions between widths and between integers and floats, bitcasts, and vectors.
#include <array>

#include "translator/spirv/emitter.h"

namespace mulciber::spirv {
namespace {

using ir::Op;

ir::Type word(ir::Type type) { return {ir::Kind::Int, 32, type.lanes}; }

Id extend(Emitter& e, const ir::Instruction& i) {
  ir::Type from = i.operands[0]->type;
  bool isSigned = i.op == Op::SExt;
  Id value = e.operand(i, 0);
  if (from.isBool()) return e.select(value, i.type, e.constant(i.type, isSigned ? ~uint64_t{0} : 1), e.zero(i.type));
  spv::Op op = isSigned ? spv::Op::OpSConvert : spv::Op::OpUConvert;
  if (e.isNative(from) && e.isNative(i.type)) return e.op(op, i.type, {value});
  Id wide = e.widen(value, from, isSigned);
  if (i.type.bits == 32) return wide;
  return i.type.bits == 64 ? e.op(op, i.type, {wide}) : e.narrow(wide, i.type);
}

Id truncate(Emitter& e, const ir::Instruction& i) {
  ir::Type from = i.operands[0]->type;
  Id value = e.operand(i, 0);
  if (i.type.isBool()) {
    Id bit = e.op(spv::Op::OpBitwiseAnd, from, {value, e.constant(from, 1)});
    return e.op(spv::Op::OpINotEqual, i.type, {bit, e.constant(from, 0)});
  }
  if (e.isNative(i.type)) {
    // A 16-bit value in a 32-bit word has to be cut down all the same.
    return e.op(spv::Op::OpUConvert, i.type, {e.isNative(from) ? value : e.widen(value, from, false)});
  }
  Id wide = from.bits == 64 ? e.op(spv::Op::OpUConvert, word(from), {value}) : e.widen(value, from, false);
  return e.narrow(wide, i.type);
}

Id toFloat(Emitter& e, const ir::Instruction& i) {
  bool isSigned = i.op == Op::SToF;
  Id value = e.widen(e.operand(i, 0), i.operands[0]->type, isSigned);
  return e.op(isSigned ? spv::Op::OpConvertSToF : spv::Op::OpConvertUToF, i.type, {value});
}

Id toInteger(Emitter& e, const ir::Instruction& i) {
  const bool isSigned = i.op == Op::FToS || i.op == Op::FToSClamped;
  spv::Op op = isSigned ? spv::Op::OpConvertFToS : spv::Op::OpConvertFToU;
  if (i.type.bits >= 32) return e.op(op, i.type, {e.operand(i, 0)});
  return e.narrow(e.op(op, word(i.type), {e.operand(i, 0)}), i.type);
}

// NVIDIA's device makes the one NaN of any; its driver, of constants, keeps their bits.
bool isNanForHalf(const Emitter& e, const ir::Instruction& i) {
  const ir::Instruction& x = *i.operands[0];
  return e.profile.nvidiaNan && i.type == ir::F16 && x.type == ir::F32 && x.isConstant() &&
         (x.payload & 0x7FFF'FFFF) > 0x7F80'0000;
}

Id packBfloats(Emitter& e, const ir::Instruction& i) {
  const Id pair = e.construct(ir::F32.withLanes(2), std::array{e.operand(i, 0), e.operand(i, 1)});
  const Id bfloats = e.module.emit(spv::Op::OpFConvert, e.module.vectorType(e.brainFloatType(), 2), {pair});
  return e.op(spv::Op::OpBitcast, i.type, {bfloats});
}

}  // namespace

Id emitConversion(Emitter& e, const ir::Instruction& i) {
  switch (i.op) {
    case Op::ZExt:
    case Op::SExt: return extend(e, i);
    case Op::Trunc: return truncate(e, i);
    case Op::UToF:
    case Op::SToF: return toFloat(e, i);
    case Op::FToU:
    case Op::FToS:
    case Op::FToUClamped:
    case Op::FToSClamped: return toInteger(e, i);
    case Op::FConvert:
      if (isNanForHalf(e, i)) return e.constant(ir::F16, 0x7FFF);
      return e.op(spv::Op::OpFConvert, i.type, {e.operand(i, 0)});
    case Op::PackBfloats: return packBfloats(e, i);
    case Op::Bitcast: return e.bitcast(e.operand(i, 0), i.operands[0]->type, i.type);
    case Op::VecBuild: {
      std::vector<Id> lanes;
      for (const ir::Instruction* lane : i.operands) lanes.push_back(e.value(lane));
      return e.construct(i.type, lanes);
    }
    case Op::VecExtract: return e.extract(e.operand(i, 0), i.type, static_cast<unsigned>(i.payload));
    default:
      return e.module.emit(spv::Op::OpCompositeInsert, e.type(i.type),
                           {e.operand(i, 1), e.operand(i, 0), static_cast<uint32_t>(i.payload)});
  }
}

}  // namespace mulciber::spirv
