// Integer arithmetic, bitwise operations and shifts, of 8 to 64 bits and on booleans.
#include "translator/spirv/emitter.h"

namespace mulciber::spirv {
namespace {

using ir::Op;

enum class Reads : uint8_t { Bits, Unsigned, Signed };  // what the operation needs of a widened operand's upper bits

struct Simple {
  spv::Op op;
  Reads reads;
  bool overflows;  // the result may not fit the narrow type
};

std::optional<Simple> simpleOperation(Op op) {
  switch (op) {
    case Op::Add: return Simple{spv::Op::OpIAdd, Reads::Bits, true};
    case Op::Sub: return Simple{spv::Op::OpISub, Reads::Bits, true};
    case Op::Mul: return Simple{spv::Op::OpIMul, Reads::Bits, true};
    case Op::UDiv: return Simple{spv::Op::OpUDiv, Reads::Unsigned, false};
    case Op::SDiv: return Simple{spv::Op::OpSDiv, Reads::Signed, true};
    case Op::URem: return Simple{spv::Op::OpUMod, Reads::Unsigned, false};
    case Op::SRem: return Simple{spv::Op::OpSRem, Reads::Signed, true};
    case Op::Neg: return Simple{spv::Op::OpSNegate, Reads::Bits, true};
    case Op::And: return Simple{spv::Op::OpBitwiseAnd, Reads::Unsigned, false};
    case Op::Or: return Simple{spv::Op::OpBitwiseOr, Reads::Unsigned, false};
    case Op::Xor: return Simple{spv::Op::OpBitwiseXor, Reads::Unsigned, false};
    case Op::Not: return Simple{spv::Op::OpNot, Reads::Bits, true};
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
    default: break;
  }
  std::optional<Simple> simple = simpleOperation(i.op);
  bool native = e.isNative(i.type);
  std::vector<Id> operands;
  for (const ir::Instruction* operand : i.operands) {
    Id id = e.value(operand);
    operands.push_back(native ? id : e.widen(id, i.type, simple->reads == Reads::Signed));
  }
  Id result = e.module.emit(simple->op, e.type(i.type), operands);
  return native || !simple->overflows ? result : e.narrow(result, i.type);
}

}  // namespace mulciber::spirv
