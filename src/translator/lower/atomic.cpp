// atom, red and fences.
#include "translator/lower/atomics.h"

#include "translator/lower/atomic_locks.h"
#include "translator/lower/atomic_sums.h"
#include "translator/lower/families.h"
#include "translator/lower/mbarrier.h"
#include "translator/lower/memory_access.h"
#include "translator/lower/warp_tools.h"

namespace mulciber::lower {

using ptx::Mod;
using Address = FunctionLowering::Address;

ir::Instruction* atomic(FunctionLowering& f, ir::Op op, const Address& address, ir::MemoryAccess access,
                        std::initializer_list<ir::Instruction*> values) {
  ir::Instruction* instruction = f.b.emit(op, (*values.begin())->type, {address.value});
  instruction->operands.insert(instruction->operands.end(), values.begin(), values.end());
  access.space = address.space;
  access.alignment = static_cast<uint8_t>(instruction->type.totalBits() / 8);
  instruction->memory = access;
  return instruction;
}

ir::Instruction* atomicUpdate(FunctionLowering& f, const Address& address, ir::Type type, ir::MemoryAccess access,
                              const Update& update) {
  if (!hasAtomics(f.profile(), address.space, type.totalBits())) return lockedUpdate(f, address, type, update);
  ir::Builder& b = f.b;
  ir::VariableId expected = b.function().addVariable(type, "expected");
  ir::MemoryAccess first = access;
  first.space = address.space;
  first.order = ir::Order::Relaxed;
  first.alignment = static_cast<uint8_t>(type.bits / 8);
  b.write(expected, b.load(type, address.value, first));
  f.beginLoop();
  ir::Instruction* old = b.read(expected);
  ir::Instruction* seen = atomic(f, ir::Op::AtomicCas, address, access, {old, update(old)});
  b.write(expected, seen);
  f.endLoop(b.compare(ir::Op::INe, seen, old));
  return b.read(expected);
}

ir::Instruction* atomicUpdate16(FunctionLowering& f, const Address& address, ir::MemoryAccess access,
                                const Update& update) {
  ir::Builder& b = f.b;
  ir::Type wide = address.value->type;
  Address word{b.bitAnd(address.value, b.constant(wide, ~uint64_t(3))), address.space, 4};
  ir::Instruction* low = wide == ir::I32 ? address.value : b.convert(ir::Op::Trunc, ir::I32, address.value);
  ir::Instruction* shift = b.shl(b.bitAnd(low, b.i32(2)), b.i32(3));
  ir::Instruction* kept = b.bitNot(b.shl(b.i32(0xFFFF), shift));
  auto half = [&](ir::Instruction* whole) { return b.convert(ir::Op::Trunc, ir::I16, b.lshr(whole, shift)); };
  ir::Instruction* old = atomicUpdate(f, word, ir::I32, access, [&](ir::Instruction* whole) {
    ir::Instruction* updated = b.convert(ir::Op::ZExt, ir::I32, update(half(whole)));
    return b.bitOr(b.bitAnd(whole, kept), b.shl(updated, shift));
  });
  return half(old);
}

namespace {

enum class Operation { Add, Min, Max, And, Or, Xor, Inc, Dec, Exchange, Cas };

Operation operationOf(const ptx::Instruction& instruction) {
  switch (instruction.first(
      {Mod::add, Mod::min, Mod::max, Mod::and_, Mod::or_, Mod::xor_, Mod::inc, Mod::dec, Mod::exch, Mod::cas},
      Mod::add)) {
    case Mod::min: return Operation::Min;
    case Mod::max: return Operation::Max;
    case Mod::and_: return Operation::And;
    case Mod::or_: return Operation::Or;
    case Mod::xor_: return Operation::Xor;
    case Mod::inc: return Operation::Inc;
    case Mod::dec: return Operation::Dec;
    case Mod::exch: return Operation::Exchange;
    case Mod::cas: return Operation::Cas;
    default: return Operation::Add;
  }
}

ir::Op integerOp(Operation operation, bool isSigned) {
  switch (operation) {
    case Operation::Min: return isSigned ? ir::Op::AtomicSMin : ir::Op::AtomicUMin;
    case Operation::Max: return isSigned ? ir::Op::AtomicSMax : ir::Op::AtomicUMax;
    case Operation::And: return ir::Op::AtomicAnd;
    case Operation::Or: return ir::Op::AtomicOr;
    case Operation::Xor: return ir::Op::AtomicXor;
    case Operation::Exchange: return ir::Op::AtomicExchange;
    default: return ir::Op::AtomicAdd;
  }
}

// Half-precision numbers as f32, which holds the sum of two of them closely enough to round once.
ir::Instruction* widen(ir::Builder& b, ir::Instruction* bits, bool isBrain) {
  if (!isBrain) return b.convert(ir::Op::FConvert, ir::F32, b.bitcast(ir::F16, bits));
  return b.bitcast(ir::F32, b.shl(b.convert(ir::Op::ZExt, ir::I32, bits), b.i32(16)));
}

ir::Instruction* narrow(ir::Builder& b, ir::Instruction* number, bool isBrain) {
  if (!isBrain) {
    ir::Instruction* half = b.bitcast(ir::I16, b.convert(ir::Op::FConvert, ir::F16, number));
    return b.select(b.unary(ir::Op::FIsNan, number), b.constant(ir::I16, 0x7FFF), half);
  }
  ir::Instruction* bits = b.bitcast(ir::I32, number);
  ir::Instruction* odd = b.bitAnd(b.lshr(bits, b.i32(16)), b.i32(1));
  ir::Instruction* rounded = b.lshr(b.add(bits, b.add(odd, b.i32(0x7FFF))), b.i32(16));
  rounded = b.select(b.unary(ir::Op::FIsNan, number), b.i32(0x7FFF), rounded);
  return b.convert(ir::Op::Trunc, ir::I16, rounded);
}

class AtomicLowering {
 public:
  AtomicLowering(FunctionLowering& lowering, const ptx::Instruction& which)
      : f(lowering), b(lowering.b), instruction(which), operation(operationOf(which)), type(which.type()) {
    access.order = order(which, ir::Order::Relaxed);
    access.scope = scope(which, ir::Scope::Device);
  }

  void lower() {
    bool hasResult = instruction.opcode == ptx::Opcode::Atom;
    const ptx::Operand* operands = instruction.operands.data() + (hasResult ? 1 : 0);
    Address address = f.address(operands[0], stateSpace(instruction));
    uint8_t count = vectorLength(instruction);
    ir::Type element = irType(type);
    ir::Instruction* value = f.value(operands[1], count == 1 ? element : element.withLanes(count));
    if (count == 1) {
      ir::Instruction* second = operation == Operation::Cas ? f.value(operands[2], element) : nullptr;
      ir::Instruction* old = update(address, value, second);
      if (hasResult) f.write(instruction.operands[0], old, ptx::isSigned(type));
      return;
    }
    std::vector<ir::Instruction*> olds;
    for (unsigned i = 0; i < count; i++)
      olds.push_back(b.bitcast(element, update(f.offset(address, i * element.bits / 8), b.extract(value, i), nullptr)));
    if (hasResult) f.write(instruction.operands[0], b.vector(olds));
  }

  ir::Instruction* update(const Address& address, ir::Instruction* value, ir::Instruction* second) {
    switch (type) {
      case ptx::Type::F16:
      case ptx::Type::BF16: return updateHalf(address, b.bitcast(ir::I16, value));
      case ptx::Type::F16x2:
      case ptx::Type::BF16x2: return updateHalves(address, value);
      default: break;
    }
    if (value->type.bits == 16) return updateHalf(address, value, second);
    bool addsFloats = value->type.isFloat() && operation == Operation::Add;
    ir::Type bits = value->type.asInt();
    return byAbility(f, address, bits, [&](const Address& place) {
      return addsFloats ? addFloat(place, value) : updateInteger(place, b.bitcast(bits, value), second);
    });
  }

 private:
  ir::Instruction* updateInteger(const Address& address, ir::Instruction* value, ir::Instruction* second) {
    bool isNative = hasAtomics(f.profile(), address.space, value->type.totalBits());
    if (isNative && operation == Operation::Cas) return atomic(f, ir::Op::AtomicCas, address, access, {value, second});
    if (isNative && operation != Operation::Inc && operation != Operation::Dec)
      return atomic(f, integerOp(operation, ptx::isSigned(type)), address, access, {value});
    if (operation == Operation::Inc || operation == Operation::Dec) return count(address, value);
    return atomicUpdate(f, address, value->type, access,
                        [&](ir::Instruction* old) { return combine(old, value, second); });
  }

  ir::Instruction* count(const Address& address, ir::Instruction* limit) {
    if (limit->isConstant() && limit->payload == ~0u)  // which no number exceeds
      return atomic(f, ir::Op::AtomicAdd, address, access, {b.i32(operation == Operation::Inc ? 1 : ~0u)});
    if (f.profile().hasWarps() && access.order == ir::Order::Relaxed) return countTogether(address, limit);
    return atomicUpdate(f, address, ir::I32, access,
                        [&](ir::Instruction* old) { return counted(old, limit, b.i32(1)); });
  }

  // The lanes that name the same place and limit as the lowest one count by one exchange: where all threads count in
  // one place, every exchange makes those of all others that are under way fail.
  ir::Instruction* countTogether(const Address& address, ir::Instruction* limit) {
    WarpTools warp(f);
    ir::Instruction *lane = f.laneId(), *first = warp.lowestLane(warp.members(nullptr));
    ir::Instruction* joins = b.bitAnd(isEqual(address.value, warp.shuffle(address.value, first)),
                                      isEqual(limit, warp.shuffle(limit, first)));
    ir::Instruction* group = warp.ballot(joins);
    ir::Instruction* below = b.bitAnd(group, b.sub(b.shl(b.i32(1), lane), b.i32(1)));
    auto size = [&](ir::Instruction* lanes) { return b.convert(ir::Op::PopCount, ir::I32, lanes); };
    ir::Instruction* rank = b.select(joins, size(below), b.i32(0));
    ir::Instruction* steps = b.select(joins, size(group), b.i32(1));
    ir::VariableId before = b.function().addVariable(ir::I32, "before");
    b.write(before, b.i32(0));
    f.beginIf(isEqual(rank, b.i32(0)));
    b.write(before, atomicUpdate(f, address, ir::I32, access,
                                 [&](ir::Instruction* old) { return counted(old, limit, steps); }));
    f.endIf();
    return counted(warp.shuffle(b.read(before), b.select(joins, first, lane)), limit, rank);
  }

  // What up to 32 steps make of the old value: the next is 0, or before 0 the limit, where it would exceed the limit or
  // does so already.
  ir::Instruction* counted(ir::Instruction* old, ir::Instruction* limit, ir::Instruction* steps) {
    const bool up = operation == Operation::Inc;
    ir::Instruction* inRange = b.compare(ir::Op::ULe, old, limit);
    ir::Instruction* plainSteps = b.select(inRange, up ? b.sub(limit, old) : old, b.i32(0));
    ir::Instruction* plain = up ? b.add(old, steps) : b.sub(old, steps);
    ir::Instruction* first = up ? b.i32(0) : limit;  // after the wrap
    if (steps->isConstant() && steps->payload == 1)
      return b.select(b.compare(ir::Op::ULt, b.i32(0), plainSteps), plain, first);
    ir::Instruction* period = b.add(b.binary(ir::Op::UMin, limit, b.i32(31)), b.i32(1));
    ir::Instruction* rest = b.binary(ir::Op::URem, b.sub(b.sub(steps, plainSteps), b.i32(1)), period);
    ir::Instruction* wrapped = up ? rest : b.sub(limit, rest);
    return b.select(b.compare(ir::Op::ULe, steps, plainSteps), plain, wrapped);
  }

  // What the operation makes of the old value.
  ir::Instruction* combine(ir::Instruction* old, ir::Instruction* value, ir::Instruction* second) {
    bool isSigned = ptx::isSigned(type);
    switch (operation) {
      case Operation::Add: return b.add(old, value);
      case Operation::Min: return b.binary(isSigned ? ir::Op::SMin : ir::Op::UMin, old, value);
      case Operation::Max: return b.binary(isSigned ? ir::Op::SMax : ir::Op::UMax, old, value);
      case Operation::And: return b.bitAnd(old, value);
      case Operation::Or: return b.bitOr(old, value);
      case Operation::Xor: return b.bitXor(old, value);
      case Operation::Exchange: return value;
      default: break;
    }
    return b.select(isEqual(old, value), second, old);
  }

  ir::Instruction* isEqual(ir::Instruction* x, ir::Instruction* y) {
    if (!x->type.isVector()) return b.compare(ir::Op::IEq, x, y);
    ir::Instruction* low = b.compare(ir::Op::IEq, b.extract(x, 0), b.extract(y, 0));
    return b.bitAnd(low, b.compare(ir::Op::IEq, b.extract(x, 1), b.extract(y, 1)));
  }

  bool hasFloatAdd(const Address& address, unsigned bits) {
    const TargetProfile& profile = f.profile();
    if (!hasAtomics(profile, address.space, bits)) return false;  // all its atomics must go the same way
    bool inShared = bits == 32 ? profile.atomicSharedFloat32Add : profile.atomicSharedFloat64Add;
    bool inGlobal = bits == 32 ? profile.atomicFloat32Add : profile.atomicFloat64Add;
    if (address.space == ir::Space::Shared) return inShared;
    return address.space == ir::Space::Generic ? inShared && inGlobal : inGlobal;
  }

  // f32 in global memory flushes denormals, as the hardware does. In shared memory they are kept.
  ir::Instruction* addFloat(const Address& address, ir::Instruction* value) {
    ir::FloatControl fp;
    fp.flush = type == ptx::Type::F32 && address.space != ir::Space::Shared;
    ir::Type bits = value->type.asInt();
    const Sum sum = [&](ir::Instruction* x, ir::Instruction* y) {
      ir::Instruction* added = b.floating(ir::Op::FAdd, fp, {x, y});
      if (!fp.flush || address.space != ir::Space::Generic) return added;
      return b.select(isShared(b, address.value), b.floating(ir::Op::FAdd, {}, {x, y}), added);
    };
    const auto alone = [&] {
      if (hasFloatAdd(address, bits.bits)) {
        ir::Instruction* added = atomic(f, ir::Op::AtomicFAdd, address, access, {value});
        added->fp = fp;
        return added;
      }
      ir::Instruction* old = atomicUpdate(f, address, bits, access, [&](ir::Instruction* before) {
        return b.bitcast(bits, sum(b.bitcast(value->type, before), value));
      });
      return b.bitcast(value->type, old);
    };
    const bool isLoop = f.profile().partsLanesAtSharedAtomics || !hasFloatAdd(address, bits.bits);
    const bool isPlain = access.order == ir::Order::Relaxed && hasAtomics(f.profile(), address.space, bits.bits);
    if (address.space != ir::Space::Shared || !isLoop || !isPlain || !f.profile().hasWarps()) return alone();
    return addTogether(f, address, value, access, sum, alone);
  }

  ir::Instruction* combineHalf(ir::Instruction* x, ir::Instruction* y) {
    bool isBrain = type == ptx::Type::BF16 || type == ptx::Type::BF16x2;
    ir::Op op = operation == Operation::Min ? ir::Op::FMin : operation == Operation::Max ? ir::Op::FMax : ir::Op::FAdd;
    return narrow(b, b.binary(op, widen(b, x, isBrain), widen(b, y, isBrain)), isBrain);
  }

  ir::Instruction* updateHalf(const Address& address, ir::Instruction* value, ir::Instruction* second = nullptr) {
    bool isFloat = type == ptx::Type::F16 || type == ptx::Type::BF16;
    return atomicUpdate16(f, address, access, [&](ir::Instruction* old) {
      return isFloat ? combineHalf(old, value) : combine(old, value, second);
    });
  }

  // Two at once have an instruction. One alone has not: what adds -0 to the other 16 bits changes them where they look
  // like a NaN.
  ir::Instruction* updateHalves(const Address& address, ir::Instruction* value) {
    const bool isSumOfHalves = operation == Operation::Add && type == ptx::Type::F16x2;
    if (isSumOfHalves && f.profile().atomicFloat16Vector && address.space != ir::Space::Shared) {
      ir::Instruction* added = b.bitcast(ir::F16.withLanes(2), value);
      return b.bitcast(ir::I32, atomic(f, ir::Op::AtomicFAdd, address, access, {added}));
    }
    ir::Type pair = ir::I16.withLanes(2);
    ir::Instruction* added = b.bitcast(pair, value);
    return atomicUpdate(f, address, ir::I32, access, [&](ir::Instruction* old) {
      ir::Instruction* halves = b.bitcast(pair, old);
      ir::Instruction* low = combineHalf(b.extract(halves, 0), b.extract(added, 0));
      ir::Instruction* high = combineHalf(b.extract(halves, 1), b.extract(added, 1));
      return b.bitcast(ir::I32, b.vector(std::array{low, high}));
    });
  }

  FunctionLowering& f;
  ir::Builder& b;
  const ptx::Instruction& instruction;
  Operation operation;
  ptx::Type type;
  ir::MemoryAccess access;
};

void lowerAtom(FunctionLowering& f, const ptx::Instruction& instruction) {
  bool completes = instruction.has(Mod::mbarrier_complete_tx_bytes);
  if (completes && instruction.operands.size() < 3) return f.refuse(instruction, "it names no mbarrier");
  AtomicLowering(f, instruction).lower();
  if (!completes) return;
  ir::Instruction* bytes = f.b.i64(ptx::bitWidth(instruction.type()) / 8);
  completeTransaction(f, instruction, instruction.operands[2], bytes);  // red.async
}

// membar is fence.sc; proxies share one view of memory here, so that a proxy fence is at most an ordinary one.
void lowerFence(FunctionLowering& f, const ptx::Instruction& instruction) {
  bool isMembar = instruction.opcode == ptx::Opcode::Membar;
  ir::Instruction* fence = f.b.emit(ir::Op::Fence, ir::Void, {});
  fence->memory.order = order(instruction, isMembar ? ir::Order::SequentiallyConsistent : ir::Order::AcquireRelease);
  fence->memory.scope = scope(instruction, instruction.has(Mod::proxy) ? ir::Scope::System : ir::Scope::Device);
}

constexpr Lowering rows[] = {
    {ptx::Opcode::Atom, lowerAtom, Effect::Effects},
    {ptx::Opcode::Red, lowerAtom, Effect::Effects},
    {ptx::Opcode::Fence, lowerFence, Effect::Effects},
    {ptx::Opcode::Membar, lowerFence, Effect::Effects},
};

}  // namespace

void reduceElement(FunctionLowering& f, const ptx::Instruction& instruction, const Address& address,
                   ir::Instruction* value) {
  AtomicLowering(f, instruction).update(address, value, nullptr);
}

std::span<const Lowering> atomicLowerings() { return rows; }

}  // namespace mulciber::lower
