#include "translator/lower/atomic_sums.h"

#include "translator/lower/atomics.h"
#include "translator/lower/warp_tools.h"

namespace mulciber::lower {

namespace {

constexpr uint32_t few = 4;     // lanes, which are quicker alone
constexpr uint32_t atOnce = 8;  // numbers: a loop of all in one round would be long

class Together {
 public:
  Together(FunctionLowering& lowering, ir::Instruction* given, const Sum& how)
      : f(lowering), b(lowering.b), warp(lowering), value(given), sum(how) {
    lanes = warp.members(nullptr);
    first = warp.lowestLane(lanes);
  }

  ir::Instruction* isWorthIt(const FunctionLowering::Address& address) {
    ir::Instruction* isElsewhere = b.compare(ir::Op::INe, address.value, warp.shuffle(address.value, first));
    ir::Instruction* isOnePlace = b.compare(ir::Op::IEq, warp.ballot(isElsewhere), b.i32(0));
    return b.bitAnd(isOnePlace, b.compare(ir::Op::ULe, b.i32(few), b.convert(ir::Op::PopCount, ir::I32, lanes)));
  }

  // What each lane's number was added to is written there.
  void add(const FunctionLowering::Address& address, ir::MemoryAccess access, ir::VariableId before) {
    const ir::Type bits = value->type.asInt();
    access.space = address.space;
    access.alignment = static_cast<uint8_t>(bits.bits / 8);
    ir::VariableId expected = b.function().addVariable(bits, "expected"), seen = b.function().addVariable(bits, "seen");
    b.write(expected, warp.shuffle(b.load(bits, address.value, access), first));
    f.beginLoop();
    ir::Instruction* old = b.read(expected);
    ir::Instruction* all = sumOfAll(b.bitcast(value->type, old), before);
    b.write(seen, old);
    f.beginIf(b.compare(ir::Op::IEq, f.laneId(), first));
    b.write(seen, atomic(f, ir::Op::AtomicCas, address, access, {old, b.bitcast(bits, all)}));
    f.endIf();
    b.write(expected, warp.shuffle(b.read(seen), first));
    f.endLoop(b.compare(ir::Op::INe, b.read(expected), old));
  }

 private:
  ir::Instruction* sumOfAll(ir::Instruction* start, ir::VariableId before) {
    ir::VariableId total = b.function().addVariable(value->type, "total");
    ir::VariableId next = b.function().addVariable(ir::I32, "next");
    b.write(total, start);
    b.write(next, b.i32(0));
    f.beginLoop();
    for (uint32_t i = 0; i < atOnce; ++i) {
      ir::Instruction *lane = b.add(b.read(next), b.i32(i)), *soFar = b.read(total);
      ir::Instruction* isThere = b.compare(ir::Op::INe, b.bitAnd(b.lshr(lanes, lane), b.i32(1)), b.i32(0));
      b.write(before, b.select(b.compare(ir::Op::IEq, lane, f.laneId()), soFar, b.read(before)));
      b.write(total, b.select(isThere, sum(soFar, warp.shuffle(value, lane)), soFar));
    }
    b.write(next, b.add(b.read(next), b.i32(atOnce)));
    f.endLoop(b.compare(ir::Op::ULt, b.read(next), b.i32(32)));
    return b.read(total);
  }

  FunctionLowering& f;
  ir::Builder& b;
  WarpTools warp;
  ir::Instruction *value, *lanes, *first;
  const Sum& sum;
};

}  // namespace

ir::Instruction* addTogether(FunctionLowering& f, const FunctionLowering::Address& address, ir::Instruction* value,
                             ir::MemoryAccess access, const Sum& sum, const std::function<ir::Instruction*()>& alone) {
  Together together(f, value, sum);
  ir::VariableId before = f.b.function().addVariable(value->type, "before");
  f.beginIf(together.isWorthIt(address));
  together.add(address, access, before);
  f.beginElse();
  f.b.write(before, alone());
  f.endIf();
  return f.b.read(before);
}

}  // namespace mulciber::lower
