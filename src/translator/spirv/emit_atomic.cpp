// Atomic read-modify-write operations: native where the device has them, else a compare-exchange loop on the word
// around the value. PTX's wrapping increment and decrement have no native form in Vulkan.
#include "translator/spirv/memory.h"

#include <algorithm>

namespace mulciber::spirv {
namespace {

using ir::Op;

spv::Op integerAtomic(Op op) {
  switch (op) {
    case Op::AtomicAdd: return spv::Op::OpAtomicIAdd;
    case Op::AtomicSub: return spv::Op::OpAtomicISub;
    case Op::AtomicAnd: return spv::Op::OpAtomicAnd;
    case Op::AtomicOr: return spv::Op::OpAtomicOr;
    case Op::AtomicXor: return spv::Op::OpAtomicXor;
    case Op::AtomicUMin: return spv::Op::OpAtomicUMin;
    case Op::AtomicUMax: return spv::Op::OpAtomicUMax;
    case Op::AtomicSMin: return spv::Op::OpAtomicSMin;
    case Op::AtomicSMax: return spv::Op::OpAtomicSMax;
    case Op::AtomicExchange: return spv::Op::OpAtomicExchange;
    default: return spv::Op::OpNop;
  }
}

// NVIDIA's sum of floats flushes denormals in device memory and keeps them in shared memory. Other devices, and the
// same ones under Vulkan, do it one way in both.
bool needsExactSum(const Emitter& e, const ir::Instruction& i, ir::Space space) {
  return i.op == Op::AtomicFAdd && i.type == ir::F32 && e.options.exactDenormals &&
         (!e.profile.nvidiaNan || space == ir::Space::Shared);
}

Id exactSum(Emitter& e, Id x, Id y, bool flushes) {
  auto bitAnd = [&](Id value, uint32_t mask) {
    return e.op(spv::Op::OpBitwiseAnd, ir::I32, {value, e.constant(ir::I32, mask)});
  };
  auto flush = [&](Id value) {
    if (!flushes) return value;
    Id bits = e.bitcast(value, ir::F32, ir::I32);
    Id isTiny = e.op(spv::Op::OpIEqual, ir::Bool, {bitAnd(bits, 0x7F800000), e.constant(ir::I32, 0)});
    return e.bitcast(e.select(isTiny, ir::I32, bitAnd(bits, 0x80000000), bits), ir::I32, ir::F32);
  };
  Id sum = e.op(spv::Op::OpFAdd, ir::F32, {flush(x), flush(y)});
  e.module.decorate(sum, spv::Decoration::NoContraction);
  sum = flush(sum);
  return e.select(e.op(spv::Op::OpIsNan, ir::Bool, {sum}), ir::F32, e.constant(ir::F32, 0x7FFFFFFF), sum);
}

// In f32, which holds the sum of two halves closely enough to round once.
Id sumOfHalves(Emitter& e, ir::Type type, Id x, Id y) {
  const ir::Type wide = ir::F32.withLanes(type.lanes);
  auto widened = [&](Id halves) { return e.op(spv::Op::OpFConvert, wide, {halves}); };
  Id sum = e.op(spv::Op::OpFAdd, wide, {widened(x), widened(y)});
  e.module.decorate(sum, spv::Decoration::NoContraction);
  Id isNan = e.op(spv::Op::OpIsNan, ir::Bool.withLanes(type.lanes), {sum});
  return e.select(isNan, type, e.constant(type, 0x7FFF), e.op(spv::Op::OpFConvert, type, {sum}));
}

// What the operation makes of the old value, as the equivalent IR instruction would.
Id computeNew(Emitter& e, const ir::Instruction& i, ir::Space space, Id old) {
  ir::Type type = i.type;
  Id value = e.operand(i, 1);
  auto wide = [&](Id id, bool isSigned) { return e.widen(id, type, isSigned); };
  ir::Type computed = type.isInt() && type.bits < 32 ? ir::Type{ir::Kind::Int, 32, type.lanes} : type;
  auto simple = [&](spv::Op op) { return e.narrow(e.op(op, computed, {wide(old, false), wide(value, false)}), type); };
  auto minMax = [&](GLSLstd450 function, bool isSigned) {
    return e.narrow(e.glsl(function, computed, {wide(old, isSigned), wide(value, isSigned)}), type);
  };
  auto compare = [&](spv::Op op, Id a, Id b) { return e.op(op, ir::Bool, {a, b}); };
  auto precise = [&](Id result) {
    e.module.decorate(result, spv::Decoration::NoContraction);
    return result;
  };
  switch (i.op) {
    case Op::AtomicAdd: return simple(spv::Op::OpIAdd);
    case Op::AtomicSub: return simple(spv::Op::OpISub);
    case Op::AtomicAnd: return simple(spv::Op::OpBitwiseAnd);
    case Op::AtomicOr: return simple(spv::Op::OpBitwiseOr);
    case Op::AtomicXor: return simple(spv::Op::OpBitwiseXor);
    case Op::AtomicUMin: return minMax(GLSLstd450UMin, false);
    case Op::AtomicUMax: return minMax(GLSLstd450UMax, false);
    case Op::AtomicSMin: return minMax(GLSLstd450SMin, true);
    case Op::AtomicSMax: return minMax(GLSLstd450SMax, true);
    case Op::AtomicExchange: return value;
    case Op::AtomicCas: return e.select(compare(spv::Op::OpIEqual, old, value), type, e.operand(i, 2), old);
    case Op::AtomicInc: {
      Id wraps = compare(spv::Op::OpUGreaterThanEqual, old, value);
      return e.select(wraps, type, e.zero(type), e.op(spv::Op::OpIAdd, type, {old, e.constant(type, 1)}));
    }
    case Op::AtomicDec: {
      Id isZero = compare(spv::Op::OpIEqual, old, e.constant(type, 0));
      Id isAbove = compare(spv::Op::OpUGreaterThan, old, value);
      Id wraps = e.op(spv::Op::OpLogicalOr, ir::Bool, {isZero, isAbove});
      return e.select(wraps, type, value, e.op(spv::Op::OpISub, type, {old, e.constant(type, 1)}));
    }
    case Op::AtomicFAdd:
      if (needsExactSum(e, i, space)) return exactSum(e, old, value, space == ir::Space::Global);
      if (type.bits == 16) return sumOfHalves(e, type, old, value);
      return precise(e.op(spv::Op::OpFAdd, type, {old, value}));
    case Op::AtomicFMin: return precise(e.glsl(GLSLstd450NMin, type, {old, value}));
    default: return precise(e.glsl(GLSLstd450NMax, type, {old, value}));
  }
}

// NVIDIA's GPUs have no such instruction for shared memory: their driver emits a loop.
bool isLoopOnNvidia(const ir::Instruction& i) {
  return i.op == Op::AtomicFAdd || (i.type.totalBits() == 64 && i.op != Op::AtomicExchange);
}

struct Native {
  spv::Op op;
  ir::Type element;
};

// The single instruction that does it, if this device has one. Asks for its capability.
std::optional<Native> nativeAtomic(Emitter& e, const ir::Instruction& i, ir::Space space) {
  const TargetProfile& p = e.profile;
  ModuleBuilder& m = e.module;
  bool isShared = space == ir::Space::Shared;
  if (needsExactSum(e, i, space)) return std::nullopt;
  if (isShared && p.partsLanesAtSharedAtomics && isLoopOnNvidia(i)) return std::nullopt;
  if (i.op == Op::AtomicFAdd) {
    bool canPoint = !isShared || p.sharedExplicitLayout;
    if (i.type == ir::F32 && canPoint && (isShared ? p.atomicSharedFloat32Add : p.atomicFloat32Add)) {
      m.capability(spv::Capability::AtomicFloat32AddEXT);
      m.extension("SPV_EXT_shader_atomic_float_add");
    } else if (i.type == ir::F64 && canPoint && (isShared ? p.atomicSharedFloat64Add : p.atomicFloat64Add)) {
      m.capability(spv::Capability::AtomicFloat64AddEXT);
      m.extension("SPV_EXT_shader_atomic_float_add");
    } else if (i.type == ir::F16 && !isShared && p.atomicFloat16Add) {
      m.capability(spv::Capability::AtomicFloat16AddEXT);
      m.extension("SPV_EXT_shader_atomic_float16_add");
    } else if (i.type == ir::F16.withLanes(2) && !isShared && p.atomicFloat16Vector) {
      m.capability(spv::Capability::AtomicFloat16VectorNV);
      m.extension("SPV_NV_shader_atomic_fp16_vector");
    } else {
      return std::nullopt;
    }
    return Native{spv::Op::OpAtomicFAddEXT, i.type};
  }
  ir::Type word = ir::intType(i.type.totalBits());
  spv::Op op = integerAtomic(i.op);
  bool isBitwise = i.type.isInt() || i.op == Op::AtomicExchange;
  if (op == spv::Op::OpNop || !isBitwise || word.bits < 32 || !e.hasAtomics(word, space)) return std::nullopt;
  return Native{op, word};
}

Id atomicIn(Emitter& e, const ir::Instruction& i, ir::Space space, Address address) {
  MemoryEmitter& memory = e.memory();
  ir::Type type = i.type;
  if (type.totalBits() > 64) {
    e.refuse("Vulkan has no 128-bit atomic operation");
    return e.zero(type);
  }
  if (space == ir::Space::Local || space == ir::Space::Param) {  // nobody else can see it
    Id old = memory.load(type, space, address, {});
    if (space == ir::Space::Local) memory.store(type, space, address, computeNew(e, i, space, old), {});
    return old;
  }
  ir::Scope range = space == ir::Space::Shared ? std::min(i.memory.scope, ir::Scope::Block) : i.memory.scope;
  uint32_t scope = e.module.constant32(scopeOf(range));
  uint32_t semantics = semanticsOf(i.memory.order);

  if (auto native = nativeAtomic(e, i, space)) {
    Id pointer = memory.pointer(native->element, space, address);
    Id value = e.bitcast(e.operand(i, 1), type, native->element);
    Id old = e.op(native->op, native->element, {pointer, scope, e.module.constant32(semantics), value});
    return e.bitcast(old, native->element, type);
  }
  ir::Type word = ir::intType(type.totalBits());
  if (word.bits >= 32) {
    if (!e.hasAtomics(word, space)) {
      e.refuse(space == ir::Space::Shared ? "the device has no 64-bit atomics in shared memory"
                                          : "the device has no 64-bit atomics");
      return e.zero(type);
    }
    Id pointer = memory.pointer(word, space, address);
    if (i.op == Op::AtomicCas) {
      uint32_t unequal =
          semanticsOf(i.memory.order == ir::Order::AcquireRelease || i.memory.order == ir::Order::SequentiallyConsistent
                          ? ir::Order::Acquire
                      : i.memory.order == ir::Order::Release ? ir::Order::Relaxed
                                                             : i.memory.order);
      return e.op(spv::Op::OpAtomicCompareExchange, type,
                  {pointer, scope, e.module.constant32(semantics), e.module.constant32(unequal), e.operand(i, 2),
                   e.operand(i, 1)});
    }
    return e.bitcast(
        compareExchangeLoop(
            e, word, pointer, scopeOf(range), semantics,
            [&](Id old) { return e.bitcast(computeNew(e, i, space, e.bitcast(old, word, type)), type, word); }),
        word, type);
  }
  // 8 and 16 bits: a part of the 32-bit word around them.
  MemoryEmitter::SubWord there = memory.subWord(space, address);
  Id count = e.constant(ir::I32, word.bits);
  auto part = [&](Id whole) {
    Id bits = e.op(spv::Op::OpBitFieldUExtract, ir::I32, {whole, there.shift, count});
    return e.bitcast(e.narrow(bits, word), word, type);
  };
  Id old = compareExchangeLoop(e, ir::I32, there.pointer, scopeOf(range), semantics, [&](Id whole) {
    Id changed = e.widen(e.bitcast(computeNew(e, i, space, part(whole)), type, word), word, false);
    return e.op(spv::Op::OpBitFieldInsert, ir::I32, {whole, changed, there.shift, count});
  });
  return part(old);
}

}  // namespace

bool Emitter::hasAtomics(ir::Type wanted, ir::Space space) {
  if (wanted.bits <= 32) return true;
  bool isShared = space == ir::Space::Shared;
  if (isShared ? !profile.atomicSharedInt64 || !profile.sharedExplicitLayout : !profile.atomicInt64) return false;
  module.capability(spv::Capability::Int64Atomics);
  return true;
}

Id compareExchangeLoop(Emitter& e, ir::Type type, Id pointer, uint32_t scope, uint32_t semantics,
                       const std::function<Id(Id)>& change) {
  ModuleBuilder& m = e.module;
  Id scopeId = m.constant32(scope), relaxed = m.constant32(0);
  Id first = e.op(spv::Op::OpAtomicLoad, type, {pointer, scopeId, relaxed});
  Id before = e.currentLabel();
  Id header = m.newId(), body = m.newId(), next = m.newId(), done = m.newId();
  m.branch(header);
  e.startBlock(header);
  size_t operands = 0;
  Id old = m.deferredPhi(e.type(type), 2, operands);
  m.emitVoid(spv::Op::OpLoopMerge, {done, next, static_cast<uint32_t>(spv::LoopControlMask::DontUnroll)});
  m.branch(body);
  e.startBlock(body);
  // A failed exchange gives a fresh value and orders nothing.
  Id seen = e.op(spv::Op::OpAtomicCompareExchange, type,
                 {pointer, scopeId, m.constant32(semantics), relaxed, change(old), old});
  Id unchanged = e.op(spv::Op::OpIEqual, ir::Bool, {seen, old});
  m.emitVoid(spv::Op::OpBranchConditional, {unchanged, done, next});
  e.startBlock(next);
  m.branch(header);
  m.patch(operands, first);
  m.patch(operands + 1, before);
  m.patch(operands + 2, seen);
  m.patch(operands + 3, next);
  e.startBlock(done);
  return seen;
}

Id emitAtomic(Emitter& e, const ir::Instruction& i) {
  MemoryEmitter& memory = e.memory();
  Address address = memory.addressOf(i.operands[0], i.memory.space);
  if (i.memory.space != ir::Space::Generic) return atomicIn(e, i, i.memory.space, address);
  return memory.dispatchGeneric(i.type, address,
                                [&](ir::Space space, Address at) { return atomicIn(e, i, space, at); });
}

}  // namespace mulciber::spirv
