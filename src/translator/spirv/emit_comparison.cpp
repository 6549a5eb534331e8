// Comparisons and select.
#include "translator/spirv/emitter.h"

namespace mulciber::spirv {
namespace {

using ir::Op;

spv::Op comparison(Op op) {
  switch (op) {
    case Op::IEq: return spv::Op::OpIEqual;
    case Op::INe: return spv::Op::OpINotEqual;
    case Op::ULt: return spv::Op::OpULessThan;
    case Op::ULe: return spv::Op::OpULessThanEqual;
    case Op::SLt: return spv::Op::OpSLessThan;
    case Op::SLe: return spv::Op::OpSLessThanEqual;
    case Op::FEq: return spv::Op::OpFOrdEqual;
    case Op::FNe: return spv::Op::OpFOrdNotEqual;
    case Op::FLt: return spv::Op::OpFOrdLessThan;
    case Op::FLe: return spv::Op::OpFOrdLessThanEqual;
    case Op::FEqU: return spv::Op::OpFUnordEqual;
    case Op::FNeU: return spv::Op::OpFUnordNotEqual;
    case Op::FLtU: return spv::Op::OpFUnordLessThan;
    case Op::FLeU: return spv::Op::OpFUnordLessThanEqual;
    case Op::FIsNan: return spv::Op::OpIsNan;
    default: return spv::Op::OpIsInf;
  }
}

}  // namespace

Id emitComparison(Emitter& e, const ir::Instruction& i) {
  if (i.op == Op::Select) return e.select(e.operand(i, 0), i.type, e.operand(i, 1), e.operand(i, 2));
  ir::Type type = i.operands[0]->type;
  if (type.isBool()) {
    spv::Op op = i.op == Op::IEq ? spv::Op::OpLogicalEqual : spv::Op::OpLogicalNotEqual;
    return e.op(op, i.type, {e.operand(i, 0), e.operand(i, 1)});
  }
  bool isSigned = i.op == Op::SLt || i.op == Op::SLe;
  std::vector<Id> operands;
  for (const ir::Instruction* operand : i.operands) {
    Id id = e.value(operand);
    operands.push_back(e.isNative(type) ? id : e.widen(id, type, isSigned));
  }
  Id result = e.module.emit(comparison(i.op), e.type(i.type), operands);
  // Keeps drivers from turning !(a < b) into a >= b, which differs for a NaN.
  if (type.isFloat()) e.module.decorate(result, spv::Decoration::NoContraction);
  return result;
}

}  // namespace mulciber::spirv
