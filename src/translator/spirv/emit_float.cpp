// Floating-point arithmetic. Rounding modes other than nearest-even, flushing and exactness that the target lacks have
// been rewritten by passes before: what arrives here is what the target does by itself.
#include "translator/ir/float_bits.h"
#include "translator/spirv/emitter.h"

namespace mulciber::spirv {
namespace {

using ir::Op;

std::optional<spv::Op> coreOperation(Op op) {
  switch (op) {
    case Op::FAdd: return spv::Op::OpFAdd;
    case Op::FSub: return spv::Op::OpFSub;
    case Op::FMul: return spv::Op::OpFMul;
    case Op::FDiv: return spv::Op::OpFDiv;
    case Op::FNeg: return spv::Op::OpFNegate;
    default: return std::nullopt;
  }
}

struct Extended {
  GLSLstd450 function;
  bool onlyUpTo32;  // GLSL.std.450 has no 64-bit form
};

Extended extendedFunction(Op op) {
  switch (op) {
    case Op::Fma: return {GLSLstd450Fma, false};
    case Op::FAbs: return {GLSLstd450FAbs, false};
    case Op::FMin: return {GLSLstd450NMin, false};
    case Op::FMax: return {GLSLstd450NMax, false};
    case Op::FSqrt: return {GLSLstd450Sqrt, false};
    case Op::FRsqrt: return {GLSLstd450InverseSqrt, false};
    case Op::FExp2: return {GLSLstd450Exp2, true};
    case Op::FLog2: return {GLSLstd450Log2, true};
    case Op::FSin: return {GLSLstd450Sin, true};
    case Op::FCos: return {GLSLstd450Cos, true};
    case Op::FTanh: return {GLSLstd450Tanh, true};
    case Op::FFloor: return {GLSLstd450Floor, false};
    case Op::FCeil: return {GLSLstd450Ceil, false};
    case Op::FTrunc: return {GLSLstd450Trunc, false};
    default: return {GLSLstd450RoundEven, false};
  }
}

// A constant above 2^126, whose reciprocal is denormal or zero.
bool isHuge(const ir::Instruction& x) {
  const uint64_t magnitude = x.payload & 0x7FFF'FFFF;
  return x.isConstant() && x.type == ir::F32 && magnitude > 0x7E80'0000 && magnitude <= 0x7F80'0000;
}

}  // namespace

Id emitFloat(Emitter& e, const ir::Instruction& i) {
  std::vector<Id> operands;
  for (const ir::Instruction* operand : i.operands) operands.push_back(e.value(operand));
  Id result = 0;
  if (i.op == Op::FRcp && i.fp.approximate && e.profile.approximationsFlush32 && isHuge(*i.operands[0])) {
    // The device's own would be zero. Its compiler, which computes with constants, gives the denormal.
    return e.constant(i.type, i.operands[0]->payload & 0x8000'0000);
  } else if (i.op == Op::FRcp) {
    result = e.op(spv::Op::OpFDiv, i.type, {e.constant(i.type, one(i.type)), operands[0]});
  } else if (i.op == Op::Fma && i.fp.isDot) {  // of (x, z) and (y, 1)
    const Id pair = e.type(i.type.withLanes(2)), unit = e.constant(i.type, one(i.type));
    const Id left = e.module.emit(spv::Op::OpCompositeConstruct, pair, {operands[0], operands[2]});
    const Id right = e.module.emit(spv::Op::OpCompositeConstruct, pair, {operands[1], unit});
    result = e.module.emit(spv::Op::OpDot, e.type(i.type), {left, right});
  } else if (auto core = coreOperation(i.op)) {
    result = e.module.emit(*core, e.type(i.type), operands);
  } else {
    Extended extended = extendedFunction(i.op);
    if (extended.onlyUpTo32 && i.type.bits == 64) {
      e.refuse("Vulkan has no 64-bit form of this function");
      return e.zero(i.type);
    }
    result = e.module.glsl(extended.function, e.type(i.type), operands);
  }
  // Even where PTX allows a fused multiply-add (add and mul without .rn): without the decoration drivers also
  // reassociate, and a - (a + b) becomes -b, which takes the compensation out of pow and every double-double sum.
  e.module.decorate(result, spv::Decoration::NoContraction);
  return result;
}

}  // namespace mulciber::spirv
