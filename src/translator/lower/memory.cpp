// ld, st and their relatives, and address conversions.
#include "translator/lower/memory_access.h"

#include "mulciber/kernel_abi.h"
#include "translator/lower/atomic_locks.h"
#include "translator/lower/bulk.h"
#include "translator/lower/families.h"
#include "translator/lower/mbarrier.h"
#include "translator/lower/program_lowering.h"

namespace mulciber::lower {

using ptx::Mod;

ptx::StateSpace stateSpace(const ptx::Instruction& instruction) {
  for (Mod modifier : instruction.modifiers) {
    switch (modifier) {
      case Mod::global: return ptx::StateSpace::Global;
      case Mod::const_: return ptx::StateSpace::Const;
      case Mod::local: return ptx::StateSpace::Local;
      case Mod::shared:
      case Mod::shared_cta:
      case Mod::shared_cluster: return ptx::StateSpace::Shared;
      case Mod::param:
      case Mod::param_entry:
      case Mod::param_func: return ptx::StateSpace::Param;
      default: break;
    }
  }
  return ptx::StateSpace::None;
}

ir::Scope scope(const ptx::Instruction& instruction, ir::Scope otherwise) {
  switch (instruction.first({Mod::cta, Mod::cluster, Mod::gpu, Mod::sys, Mod::gl}, Mod::weak)) {
    case Mod::cta:
    case Mod::cluster: return ir::Scope::Block;  // a cluster is one block
    case Mod::gpu:
    case Mod::gl: return ir::Scope::Device;
    case Mod::sys: return ir::Scope::System;
    default: return otherwise;
  }
}

ir::Order order(const ptx::Instruction& instruction, ir::Order otherwise) {
  switch (instruction.first({Mod::relaxed, Mod::acquire, Mod::release, Mod::acq_rel, Mod::sc, Mod::weak}, Mod::pred)) {
    case Mod::weak: return ir::Order::Weak;
    case Mod::relaxed: return ir::Order::Relaxed;
    case Mod::acquire: return ir::Order::Acquire;
    case Mod::release: return ir::Order::Release;
    case Mod::acq_rel: return ir::Order::AcquireRelease;
    case Mod::sc: return ir::Order::SequentiallyConsistent;
    default: return otherwise;
  }
}

uint8_t vectorLength(const ptx::Instruction& instruction) {
  if (instruction.has(Mod::v2)) return 2;
  if (instruction.has(Mod::v4)) return 4;
  return instruction.has(Mod::v8) ? 8 : 1;
}

ir::MemoryAccess plainAccess(const FunctionLowering::Address& address, unsigned bytes) {
  ir::MemoryAccess access;
  access.space = address.space;
  access.alignment = static_cast<uint8_t>(bytes);
  return access;
}

ir::MemoryAccess memoryAccess(const ptx::Instruction& instruction) {
  ir::MemoryAccess access;
  access.order = order(instruction, ir::Order::Weak);
  // Nobody else sees a thread's own memory.
  const bool isVolatile = instruction.has(Mod::volatile_) && !instruction.has(Mod::local);
  access.isVolatile = isVolatile || instruction.has(Mod::mmio);
  if (isVolatile) access.order = ir::Order::Relaxed;
  access.isReadOnly = instruction.has(Mod::nc);
  if (access.order != ir::Order::Weak) access.scope = scope(instruction, ir::Scope::System);
  return access;
}

namespace {

// Where an address in the .param space lies: among the kernel's parameters, or in a function's frame.
ir::Space parameterSpace(const FunctionLowering& f, const ptx::Instruction& instruction) {
  const bool isKernels = f.function().isEntry ? !instruction.has(Mod::param_func) : instruction.has(Mod::param_entry);
  return isKernels ? ir::Space::Param : ir::Space::Local;
}

// The type in which memory holds the access; <n x b128> is <2n x i64>.
ir::Type accessType(const ptx::Instruction& instruction) {
  ir::Type element = irType(instruction.type());
  return element.withLanes(static_cast<uint8_t>(element.lanes * vectorLength(instruction)));
}

// Whether others must see the access as one step and the device cannot do that by itself.
bool needsLock(FunctionLowering& f, ir::Type element, const ir::MemoryAccess& access) {
  bool isShareable = access.space != ir::Space::Local && access.space != ir::Space::Param;
  return isShareable && access.order != ir::Order::Weak && !hasAtomics(f.profile(), access.space, element.totalBits());
}

// A vector is several accesses, in any order.
ir::Instruction* loadLocked(FunctionLowering& f, const FunctionLowering::Address& address, ir::Type type,
                            ir::Type element, const ir::MemoryAccess& access) {
  std::vector<ir::Instruction*> lanes;
  for (uint32_t at = 0; at < type.totalBits() / 8; at += element.totalBits() / 8) {
    ir::Instruction* part = f.b.bitcast(element, strongLoad(f, f.offset(address, at), element.asInt(), access));
    for (unsigned i = 0; i < element.lanes; i++) lanes.push_back(element.isVector() ? f.b.extract(part, i) : part);
  }
  return lanes.size() == 1 ? lanes[0] : f.b.vector(lanes);
}

void storeLocked(FunctionLowering& f, const FunctionLowering::Address& address, ir::Instruction* value,
                 ir::Type element, const ir::MemoryAccess& access) {
  for (unsigned lane = 0; lane < value->type.lanes; lane += element.lanes) {
    std::vector<ir::Instruction*> parts;
    for (unsigned i = 0; i < element.lanes; i++)
      parts.push_back(value->type.isVector() ? f.b.extract(value, lane + i) : value);
    ir::Instruction* part = parts.size() == 1 ? parts[0] : f.b.vector(parts);
    strongStore(f, f.offset(address, lane * element.bits / 8), f.b.bitcast(element.asInt(), part), access);
  }
}

void lowerLd(FunctionLowering& f, const ptx::Instruction& instruction) {
  ptx::StateSpace space = stateSpace(instruction);
  ir::Type type = accessType(instruction);
  bool isSigned = ptx::isSigned(instruction.type());
  if (space == ptx::StateSpace::Param && f.loadCallParameter(instruction, type)) return;
  FunctionLowering::Address address = f.address(instruction.operands[1], space);
  if (space == ptx::StateSpace::Param && instruction.operands[1].hasRegister)
    address.space = parameterSpace(f, instruction);
  ir::MemoryAccess access = memoryAccess(instruction);
  access.space = address.space;
  access.alignment = static_cast<uint8_t>(type.totalBits() / 8);
  access.isConstant = space == ptx::StateSpace::Const;
  if (access.isConstant || instruction.opcode == ptx::Opcode::Ldu) access.isReadOnly = true;
  ir::Type element = irType(instruction.type());
  ir::Instruction* loaded = needsLock(f, element, access) ? loadLocked(f, address, type, element, access)
                                                          : f.b.load(type, address.value, access);
  f.write(instruction.operands[0], loaded, isSigned);
}

// st.async: the bytes stored count as a transaction of the mbarrier.
void storeAndComplete(FunctionLowering& f, const ptx::Instruction& instruction) {
  if (instruction.operands.size() < 3) return f.refuse(instruction, "it names no mbarrier");
  ir::Type type = accessType(instruction);
  FunctionLowering::Address address = f.address(instruction.operands[0], ptx::StateSpace::Shared);
  f.b.store(address.value, f.value(instruction.operands[1], type), plainAccess(address, type.totalBits() / 8));
  completeTransaction(f, instruction, instruction.operands[2], f.b.i64(type.totalBits() / 8));
}

void lowerSt(FunctionLowering& f, const ptx::Instruction& instruction) {
  if (instruction.has(Mod::mbarrier_complete_tx_bytes)) return storeAndComplete(f, instruction);
  if (instruction.has(Mod::bulk)) return lowerBulk(f, instruction);
  ptx::StateSpace space = stateSpace(instruction);
  ir::Type type = accessType(instruction);
  if (space == ptx::StateSpace::Param && f.storeCallParameter(instruction, type)) return;
  FunctionLowering::Address address = f.address(instruction.operands[0], space);
  ir::MemoryAccess access = memoryAccess(instruction);
  access.space = address.space;
  access.alignment = static_cast<uint8_t>(type.totalBits() / 8);
  ir::Instruction* value = f.value(instruction.operands[1], type);
  ir::Type element = irType(instruction.type());
  if (needsLock(f, element, access)) return storeLocked(f, address, value, element, access);
  f.b.store(address.value, value, access);
}

ir::Space convertedSpace(const ptx::Instruction& instruction) {
  switch (stateSpace(instruction)) {
    case ptx::StateSpace::Shared: return ir::Space::Shared;
    case ptx::StateSpace::Local: return ir::Space::Local;
    case ptx::StateSpace::Param: return ir::Space::Param;
    default: return ir::Space::Global;  // constants have global addresses
  }
}

void lowerCvta(FunctionLowering& f, const ptx::Instruction& instruction) {
  const ptx::Operand& source = instruction.operands[1];
  ir::Space space = convertedSpace(instruction);
  if (space == ir::Space::Param) space = parameterSpace(f, instruction);
  ir::Instruction* address = f.value(source, ir::I64);
  if (space == ir::Space::Global) return f.write(instruction.operands[0], address);
  ir::Instruction* low = f.b.convert(ir::Op::Trunc, ir::I32, address);
  if (instruction.has(Mod::to)) return f.write(instruction.operands[0], f.b.convert(ir::Op::ZExt, ir::I64, low));
  f.write(instruction.operands[0], f.generic({low, space, 1}));
}

// Global is what lies in no window; constants lie in their part of the module's data.
void lowerIsspacep(FunctionLowering& f, const ptx::Instruction& instruction) {
  ir::Builder& b = f.b;
  ir::Instruction* address = f.value(instruction.operands[1], ir::I64);
  ir::Instruction* window = b.bitAnd(address, b.i64(abi::windowMask));
  auto isIn = [&](uint64_t which) { return b.compare(ir::Op::IEq, window, b.i64(which)); };
  auto isConstant = [&]() -> ir::Instruction* {
    const ModuleLayout& layout = f.program().layout();
    if (layout.constantEnd() == layout.constantBegin()) return b.boolean(false);
    ir::Instruction* begin = b.add(b.input(ir::InputKind::ModuleData), b.i64(layout.constantBegin()));
    return b.compare(ir::Op::ULt, b.sub(address, begin), b.i64(layout.constantEnd() - layout.constantBegin()));
  };
  ir::Instruction* result = nullptr;
  switch (stateSpace(instruction)) {
    case ptx::StateSpace::Shared: result = isIn(abi::sharedWindow); break;
    case ptx::StateSpace::Local: result = isIn(abi::localWindow); break;
    case ptx::StateSpace::Param: result = isIn(abi::paramWindow); break;
    case ptx::StateSpace::Const: result = isConstant(); break;
    default:  // the window of kernel parameters lies within global memory
      result = b.bitAnd(b.bitOr(isIn(0), isIn(abi::paramWindow)), b.bitNot(isConstant()));
      break;
  }
  f.write(instruction.operands[0], result);
}

void dropHint(FunctionLowering&, const ptx::Instruction&) {}

// A policy is an opaque number that ld and st may carry; nothing looks at it.
void lowerCreatepolicy(FunctionLowering& f, const ptx::Instruction& instruction) {
  f.write(instruction.operands[0], f.b.i64(0));
}

// The only block of a cluster has rank 0, and its shared memory is where it is.
void lowerMapa(FunctionLowering& f, const ptx::Instruction& instruction) {
  f.write(instruction.operands[0], f.value(instruction.operands[1], irType(instruction.type())));
}

void lowerGetctarank(FunctionLowering& f, const ptx::Instruction& instruction) {
  f.write(instruction.operands[0], f.b.i32(0));
}

void lowerAlloca(FunctionLowering& f, const ptx::Instruction& instruction) {
  std::span<const ptx::Operand> operands = instruction.operands;
  uint64_t alignment = operands.size() > 2 ? operands[2].bits : 8;
  f.write(operands[0], f.allocate(f.value(operands[1], ir::I32), static_cast<uint32_t>(alignment)));
}

void lowerStacksave(FunctionLowering& f, const ptx::Instruction& instruction) {
  f.write(instruction.operands[0], f.stack());
}

void lowerStackrestore(FunctionLowering& f, const ptx::Instruction& instruction) {
  f.restoreStack(f.value(instruction.operands[0], ir::I32));
}

constexpr Lowering rows[] = {
    {ptx::Opcode::Ld, lowerLd, Effect::Effects},
    {ptx::Opcode::Ldu, lowerLd, Effect::Effects},
    {ptx::Opcode::St, lowerSt, Effect::Effects},
    {ptx::Opcode::Cvta, lowerCvta},
    {ptx::Opcode::Isspacep, lowerIsspacep},
    {ptx::Opcode::Prefetch, dropHint, Effect::Effects},
    {ptx::Opcode::Prefetchu, dropHint, Effect::Effects},
    {ptx::Opcode::Applypriority, dropHint, Effect::Effects},
    {ptx::Opcode::Discard, dropHint, Effect::Effects},
    {ptx::Opcode::Mapa, lowerMapa},
    {ptx::Opcode::Getctarank, lowerGetctarank},
    {ptx::Opcode::Alloca, lowerAlloca, Effect::Effects},
    {ptx::Opcode::Stacksave, lowerStacksave, Effect::Effects},
    {ptx::Opcode::Stackrestore, lowerStackrestore, Effect::Effects},
    {ptx::Opcode::Createpolicy, lowerCreatepolicy},
};

}  // namespace

std::span<const Lowering> memoryLowerings() { return rows; }

}  // namespace mulciber::lower
