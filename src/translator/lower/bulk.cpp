#include "translator/lower/bulk.h"

#include "translator/lower/atomics.h"
#include "translator/lower/mbarrier.h"
#include "translator/lower/memory_access.h"

namespace mulciber::lower {
namespace {

using ptx::Mod;
using Address = FunctionLowering::Address;

class BulkLowering {
 public:
  BulkLowering(FunctionLowering& lowering, const ptx::Instruction& which)
      : f(lowering), b(lowering.b), instruction(which), operands(which.operands) {}

  void lower() {
    if (instruction.opcode == ptx::Opcode::St) return clear();
    findSpaces();
    destination_ = f.address(operands[0], destinationSpace_);
    source_ = f.address(operands[1], sourceSpace_);
    ir::Instruction* size = f.value(operands[2], ir::I32);
    // In a cluster of one block a multicast reaches that block, when its bit is set.
    bool isMulticast = instruction.has(Mod::multicast_cluster);
    if (isMulticast) {
      ir::Instruction* mask = b.convert(ir::Op::ZExt, ir::I32, f.value(operands[4], ir::I16));
      f.beginIf(b.compare(ir::Op::INe, b.bitAnd(mask, b.i32(1)), b.i32(0)));
    }
    if (instruction.has(Mod::reduce)) reduce(size);
    else if (instruction.has(Mod::cp_mask)) copyMasked(size);
    else copy(size);
    if (instruction.has(Mod::mbarrier_complete_tx_bytes))
      completeTransaction(f, instruction, operands[3], b.convert(ir::Op::ZExt, ir::I64, size));
    if (isMulticast) f.endIf();
  }

 private:
  // Of the two spaces among the modifiers, the first is the destination's.
  void findSpaces() {
    bool isFirst = true;
    for (Mod modifier : instruction.modifiers) {
      bool isShared = modifier == Mod::shared_cta || modifier == Mod::shared_cluster || modifier == Mod::shared;
      if (!isShared && modifier != Mod::global) continue;
      (isFirst ? destinationSpace_ : sourceSpace_) = isShared ? ptx::StateSpace::Shared : ptx::StateSpace::Global;
      isFirst = false;
    }
  }

  Address at(const Address& base, ir::Instruction* offset) {
    bool isWide = base.value->type == ir::I64;
    return {b.add(base.value, isWide ? b.convert(ir::Op::ZExt, ir::I64, offset) : offset), base.space, 1};
  }

  // step(offset) for every offset below `size` in steps of `bytes`.
  template <class Step>
  void forEach(ir::Instruction* size, uint32_t bytes, const Step& step) {
    ir::VariableId done = b.function().addVariable(ir::I32, "done");
    b.write(done, b.i32(0));
    f.beginIf(b.compare(ir::Op::INe, size, b.i32(0)));
    f.beginLoop();
    ir::Instruction* offset = b.read(done);
    step(offset);
    ir::Instruction* next = b.add(offset, b.i32(bytes));
    b.write(done, next);
    f.endLoop(b.compare(ir::Op::ULt, next, size));
    f.endIf();
  }

  ir::Instruction* load(ir::Type type, ir::Instruction* offset) {
    Address place = at(source_, offset);
    return b.load(type, place.value, plainAccess(place, type.totalBits() / 8));
  }

  void store(const Address& base, ir::Instruction* offset, ir::Instruction* value) {
    Address place = at(base, offset);
    b.store(place.value, value, plainAccess(place, value->type.totalBits() / 8));
  }

  void copy(ir::Instruction* size) {
    forEach(size, 16,
            [&](ir::Instruction* offset) { store(destination_, offset, load(ir::I32.withLanes(4), offset)); });
  }

  // Of every 16 bytes those whose bit is set in the mask.
  void copyMasked(ir::Instruction* size) {
    ir::Instruction* mask = b.convert(ir::Op::ZExt, ir::I32, f.value(operands.back(), ir::I16));
    forEach(size, 1, [&](ir::Instruction* offset) {
      ir::Instruction* bit = b.bitAnd(b.lshr(mask, b.bitAnd(offset, b.i32(15))), b.i32(1));
      f.beginIf(b.compare(ir::Op::INe, bit, b.i32(0)));
      store(destination_, offset, load(ir::I8, offset));
      f.endIf();
    });
  }

  void reduce(ir::Instruction* size) {
    ir::Type element = irType(instruction.type());
    forEach(size, element.totalBits() / 8, [&](ir::Instruction* offset) {
      reduceElement(f, instruction, at(destination_, offset), load(element, offset));
    });
  }

  // st.bulk, which knows no value but zero.
  void clear() {
    Address base = f.address(operands[0], stateSpace(instruction));
    ir::Instruction* size = b.convert(ir::Op::Trunc, ir::I32, f.value(operands[1], ir::I64));
    forEach(size, 8, [&](ir::Instruction* offset) { store(base, offset, b.i64(0)); });
  }

  FunctionLowering& f;
  ir::Builder& b;
  const ptx::Instruction& instruction;
  std::span<const ptx::Operand> operands;
  ptx::StateSpace destinationSpace_ = ptx::StateSpace::Global, sourceSpace_ = ptx::StateSpace::Global;
  Address destination_{}, source_{};
};

}  // namespace

void lowerBulk(FunctionLowering& f, const ptx::Instruction& instruction) { BulkLowering(f, instruction).lower(); }

}  // namespace mulciber::lower
