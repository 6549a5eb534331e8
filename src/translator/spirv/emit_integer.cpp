// Integer arithmetic, bitwise operations and shifts, of 8 to 64 bits and on booleans.
#include "translator/spirv/emitter.h"

namespace mulciber::spirv {
namespace {

using ir::Op;

struct Simple {
  spv::Op op;
  bool overflows;  // the result may not fit the narrow type
};

std::optional<Simple> simpleOperation(Op op) {
  switch (op) {
    case Op::Add: return Simple{spv::Op::OpIAdd, true};
    case Op::Sub: return Simple{spv::Op::OpISub, true};
    case Op::Mul: return Simple{spv::Op::OpIMul, true};
    case Op::Neg: return Simple{spv::Op::OpSNegate, true};
    case Op::And: return Simple{spv::Op::OpBitwiseAnd, false};
    case Op::Or: return Simple{spv::Op::OpBitwiseOr, false};
    case Op::Xor: return Simple{spv::Op::OpBitwiseXor, false};
    case Op::Not: return Simple{spv::Op::OpNot, true};
    default: return std::nullopt;
  }
}

Id logical(Emitter& e, const ir::Instruction& i) {
  spv::Op op = i.op == Op::And  ? spv::Op::OpLogicalAnd
               : i.op == Op::Or ? spv::Op::OpLogicalOr
                                : spv::Op::OpLogicalNotEqual;
  if (i.op == Op::Not) return e.op(spv::Op::OpLogicalNot, i.type, {e.operand(i, 0)});
  return e.op(op, i.type, {e.operand(i, 0), e.operand(i, 1)});
}

Id shift(Emitter& e, const ir::Instruction& i) {
  Id value = e.operand(i, 0), amount = e.operand(i, 1);
  if (i.type.isVector() && !i.operands[1]->type.isVector()) {
    std::vector<Id> lanes(i.type.lanes, amount);
    amount = e.construct(i.operands[1]->type.withLanes(i.type.lanes), lanes);
  }
  spv::Op op = i.op == Op::Shl    ? spv::Op::OpShiftLeftLogical
               : i.op == Op::LShr ? spv::Op::OpShiftRightLogical
                                  : spv::Op::OpShiftRightArithmetic;
  if (e.isNative(i.type)) return e.op(op, i.type, {value, amount});
  Id wide = e.op(op, i.type, {e.widen(value, i.type, i.op == Op::AShr), amount});
  return i.op == Op::LShr ? wide : e.narrow(wide, i.type);
}

// 32-bit minimum and maximum serve the narrow types too; the GLSL functions are only sure to exist there.
Id minMax(Emitter& e, const ir::Instruction& i) {
  bool isSigned = i.op == Op::SMin || i.op == Op::SMax;
  bool isMin = i.op == Op::UMin || i.op == Op::SMin;
  GLSLstd450 function = isMin ? isSigned ? GLSLstd450SMin : GLSLstd450UMin : isSigned ? GLSLstd450SMax : GLSLstd450UMax;
  ir::Type wide = i.type.bits < 32 ? ir::Type{ir::Kind::Int, 32, i.type.lanes} : i.type;
  Id result =
      e.glsl(function, wide, {e.widen(e.operand(i, 0), i.type, isSigned), e.widen(e.operand(i, 1), i.type, isSigned)});
  return e.narrow(result, i.type);
}

Id mulHigh(Emitter& e, const ir::Instruction& i) {
  bool isSigned = i.op == Op::MulHiS;
  Id a = e.operand(i, 0), b = e.operand(i, 1);
  if (i.type.bits < 32) {
    ir::Type wide{ir::Kind::Int, 32, i.type.lanes};
    Id product = e.op(spv::Op::OpIMul, wide, {e.widen(a, i.type, isSigned), e.widen(b, i.type, isSigned)});
    Id high = e.op(spv::Op::OpShiftRightLogical, wide, {product, e.constant(wide, i.type.bits)});
    return e.narrow(high, i.type);
  }
  Id resultType = e.module.pairType(e.type(i.type));
  Id both = e.module.emit(isSigned ? spv::Op::OpSMulExtended : spv::Op::OpUMulExtended, resultType, {a, b});
  return e.extract(both, i.type, 1);
}

// Vulkan leaves OpSRem undefined for negative operands, and drivers take that up. Division is not in doubt at 32 bits
// and more; NVIDIA's driver 580 gets it wrong at 8.
Id divide(Emitter& e, const ir::Instruction& i) {
  bool isSigned = i.op == Op::SDiv || i.op == Op::SRem;
  ir::Type wide = i.type.bits < 32 ? ir::Type{ir::Kind::Int, 32, i.type.lanes} : i.type;
  Id a = e.widen(e.operand(i, 0), i.type, isSigned), b = e.widen(e.operand(i, 1), i.type, isSigned);
  if (i.op == Op::URem) return e.narrow(e.op(spv::Op::OpUMod, wide, {a, b}), i.type);
  Id quotient = e.op(isSigned ? spv::Op::OpSDiv : spv::Op::OpUDiv, wide, {a, b});
  if (i.op != Op::SRem) return e.narrow(quotient, i.type);
  Id whole = e.op(spv::Op::OpIMul, wide, {quotient, b});
  return e.narrow(e.op(spv::Op::OpISub, wide, {a, whole}), i.type);
}

}  // namespace

Id emitInteger(Emitter& e, const ir::Instruction& i) {
  if (i.type.isBool()) return logical(e, i);
  switch (i.op) {
    case Op::Shl:
    case Op::LShr:
    case Op::AShr: return shift(e, i);
    case Op::UMin:
    case Op::UMax:
    case Op::SMin:
    case Op::SMax: return minMax(e, i);
    case Op::MulHiU:
    case Op::MulHiS: return mulHigh(e, i);
    case Op::UDiv:
    case Op::SDiv:
    case Op::URem:
    case Op::SRem: return divide(e, i);
    default: break;
  }
  std::optional<Simple> simple = simpleOperation(i.op);
  bool native = e.isNative(i.type);
  std::vector<Id> operands;
  for (const ir::Instruction* operand : i.operands) operands.push_back(e.value(operand));
  Id result = e.module.emit(simple->op, e.type(i.type), operands);
  return native || !simple->overflows ? result : e.narrow(result, i.type);
}

}  // namespace mulciber::spirv
