// Asynchronous copies and mbarrier objects.
//
// An mbarrier is a 64-bit word of shared memory, changed by compare and swap:
//   bits 0..19   arrivals that the phase still waits for
//   bits 20..39  arrivals of the next phase
//   bits 40..62  bytes of transactions that are expected, signed
//   bit 63       the phase's parity
#include "translator/lower/async_copies.h"
#include "translator/lower/atomic_locks.h"
#include "translator/lower/bulk.h"
#include "translator/lower/families.h"
#include "translator/lower/mbarrier.h"
#include "translator/lower/memory_access.h"
#include "translator/lower/program_lowering.h"

namespace mulciber::lower {

using ptx::Mod;
using Address = FunctionLowering::Address;

namespace {

constexpr uint64_t countMask = 0xFFFFF;
constexpr unsigned expectedShift = 20, transactionShift = 40;
constexpr uint64_t transactionMask = 0x7FFFFF;
constexpr uint64_t phaseBit = uint64_t(1) << 63;

class MbarrierLowering {
 public:
  MbarrierLowering(FunctionLowering& lowering, const ptx::Instruction& which)
      : f(lowering), b(lowering.b), instruction(which) {}

  void lower() {
    std::span<const ptx::Operand> operands = instruction.operands;
    Mod what = instruction.first({Mod::init, Mod::inval, Mod::arrive, Mod::arrive_drop, Mod::test_wait, Mod::try_wait,
                                  Mod::pending_count, Mod::expect_tx, Mod::complete_tx},
                                 Mod::inval);
    bool expects = instruction.has(Mod::expect_tx);
    switch (what) {
      case Mod::init: return initialise(operands[0], operands[1]);
      case Mod::pending_count: return f.write(operands[0], b.bitAnd(f.value(operands[1], ir::I64), b.i64(countMask)));
      case Mod::test_wait:
      case Mod::try_wait: return wait(operands[0], operands[1], operands[2]);
      case Mod::arrive:
      case Mod::arrive_drop: {
        // The state is written first, unless the form has none: then the address comes first.
        bool hasState = operands[0].kind != ptx::Operand::Kind::Address;
        const ptx::Operand& address = operands[hasState ? 1 : 0];
        const ptx::Operand* amount = operands.size() > (hasState ? 2u : 1u) ? &operands[hasState ? 2 : 1] : nullptr;
        ir::Instruction* arrivals = expects || !amount ? b.i64(1) : count(*amount);
        ir::Instruction* bytes = expects && amount ? count(*amount) : nullptr;
        ir::Instruction* state = change(address, arrivals, bytes, what == Mod::arrive_drop);
        if (hasState) f.write(operands[0], state);
        return;
      }
      case Mod::expect_tx: change(operands[0], nullptr, count(operands[1]), false); return;
      case Mod::complete_tx: change(operands[0], nullptr, b.unary(ir::Op::Neg, count(operands[1])), false); return;
      default: return;
    }
  }

  // Arrivals at a barrier; the old word.
  ir::Instruction* change(const ptx::Operand& operand, ir::Instruction* arrivals, ir::Instruction* bytes, bool isDrop) {
    return atomicUpdate(f, place(operand), ir::I64, access(ir::Order::AcquireRelease), [&](ir::Instruction* old) {
      ir::Instruction* next = old;
      if (arrivals) next = b.sub(next, arrivals);
      if (isDrop) next = b.sub(next, b.shl(arrivals, b.i32(expectedShift)));
      if (bytes) {
        ir::Instruction* sum = b.add(b.lshr(next, b.i32(transactionShift)), bytes);
        sum = b.shl(b.bitAnd(sum, b.i64(transactionMask)), b.i32(transactionShift));
        next = b.bitOr(b.bitAnd(next, b.i64(~(transactionMask << transactionShift))), sum);
      }
      constexpr uint64_t open = countMask | transactionMask << transactionShift;
      ir::Instruction* isComplete = b.compare(ir::Op::IEq, b.bitAnd(next, b.i64(open)), b.i64(0));
      ir::Instruction* renewed = b.bitAnd(b.lshr(next, b.i32(expectedShift)), b.i64(countMask));
      return b.select(isComplete, b.bitOr(b.bitXor(next, b.i64(phaseBit)), renewed), next);
    });
  }

  ir::Instruction* count(const ptx::Operand& operand) {
    return b.convert(ir::Op::ZExt, ir::I64, f.value(operand, ir::I32));
  }

 private:
  // Generic addresses of mbarriers are addresses of shared memory.
  Address place(const ptx::Operand& operand) {
    Address address = f.address(operand, stateSpace(instruction));
    if (address.value->type == ir::I64) address.value = b.convert(ir::Op::Trunc, ir::I32, address.value);
    return {address.value, ir::Space::Shared, 8};
  }

  static ir::MemoryAccess access(ir::Order order) {
    ir::MemoryAccess result;
    result.space = ir::Space::Shared;
    result.order = order;
    result.scope = ir::Scope::Block;
    result.alignment = 8;
    return result;
  }

  void initialise(const ptx::Operand& address, const ptx::Operand& operand) {
    ir::Instruction* arrivals = b.bitAnd(count(operand), b.i64(countMask));
    ir::Instruction* word = b.bitOr(arrivals, b.shl(arrivals, b.i32(expectedShift)));
    strongStore(f, place(address), word, access(ir::Order::Relaxed));
  }

  void wait(const ptx::Operand& destination, const ptx::Operand& address, const ptx::Operand& phase) {
    f.yieldToThreads();
    ir::Order howOrdered = order(instruction, ir::Order::Acquire);
    ir::Instruction* word = strongLoad(f, place(address), ir::I64, access(howOrdered));
    ir::Instruction* now = b.convert(ir::Op::Trunc, ir::I32, b.lshr(word, b.i32(63)));
    ir::Instruction* asked = nullptr;
    if (instruction.has(Mod::parity)) {
      asked = b.bitAnd(f.value(phase, ir::I32), b.i32(1));
    } else {
      asked = b.convert(ir::Op::Trunc, ir::I32, b.lshr(f.value(phase, ir::I64), b.i32(63)));
    }
    f.write(destination, b.compare(ir::Op::INe, now, asked));
  }

  FunctionLowering& f;
  ir::Builder& b;
  const ptx::Instruction& instruction;
};

void lowerMbarrier(FunctionLowering& f, const ptx::Instruction& instruction) {
  MbarrierLowering(f, instruction).lower();
}

// The first `size` bytes at `source`, which may be all that can be read there; the rest of `value` stays as it is.
void loadPart(FunctionLowering& f, ir::VariableId value, ir::Type type, const Address& source, ir::Instruction* size) {
  ir::Builder& b = f.b;
  f.beginIf(b.compare(ir::Op::ULe, b.i32(type.totalBits() / 8), size));
  b.write(value, b.load(type, source.value, plainAccess(source, type.totalBits() / 8)));
  f.beginElse();
  ir::VariableId done = b.function().addVariable(ir::I32, "done");
  b.write(done, b.i32(0));
  f.beginIf(b.compare(ir::Op::INe, size, b.i32(0)));
  f.beginLoop();
  ir::Instruction* offset = b.read(done);
  Address place = source;
  place.value = b.add(source.value, b.convert(ir::Op::ZExt, ir::I64, offset));
  ir::Instruction* byte = b.convert(ir::Op::ZExt, ir::I32, b.load(ir::I8, place.value, plainAccess(place, 1)));
  ir::Instruction* part = b.shl(byte, b.shl(b.bitAnd(offset, b.i32(3)), b.i32(3)));
  ir::Instruction* old = b.read(value);
  std::vector<ir::Instruction*> words;
  for (unsigned i = 0; i < type.lanes; i++) {
    ir::Instruction* word = type.isVector() ? b.extract(old, i) : old;
    ir::Instruction* isHere = b.compare(ir::Op::IEq, b.lshr(offset, b.i32(2)), b.i32(i));
    words.push_back(b.bitOr(word, b.select(isHere, part, b.i32(0))));
  }
  b.write(value, words.size() == 1 ? words[0] : b.vector(words));
  ir::Instruction* next = b.add(offset, b.i32(1));
  b.write(done, next);
  f.endLoop(b.compare(ir::Op::ULt, next, size));
  f.endIf();
  f.endIf();
}

// cp.async: cp-size is 4, 8 or 16; bytes from src-size on are zero; ignore-src makes all of them zero.
void copy(FunctionLowering& f, const ptx::Instruction& instruction) {
  ir::Builder& b = f.b;
  std::span<const ptx::Operand> operands = instruction.operands;
  auto bytes = static_cast<uint32_t>(operands[2].bits);
  if (operands[2].kind != ptx::Operand::Kind::Integer || (bytes != 4 && bytes != 8 && bytes != 16))
    return f.refuse(instruction, "the copied size must be 4, 8 or 16");
  Address destination = f.address(operands[0], ptx::StateSpace::Shared);
  Address source = f.address(operands[1], ptx::StateSpace::Global);
  ir::Type type = bytes == 4 ? ir::I32 : ir::I32.withLanes(static_cast<uint8_t>(bytes / 4));
  AsyncCopies* copies = f.program().asyncCopies();
  if (copies) copies->makeRoom();
  auto bring = [&](ir::Instruction* value) {
    if (copies) copies->add(destination.value, value);
    else b.store(destination.value, value, plainAccess(destination, bytes));
  };
  size_t policies = instruction.has(Mod::L2_cache_hint) ? 1 : 0;
  if (operands.size() <= 3 + policies) {
    return bring(b.load(type, source.value, plainAccess(source, bytes)));
  }
  const ptx::Operand& size = operands[3];
  bool isPredicate = f.registerType(size) == ptx::Type::Pred;
  ir::Instruction* kept = isPredicate ? b.select(f.predicate(size), b.i32(0), b.i32(bytes)) : f.value(size, ir::I32);
  ir::VariableId value = b.function().addVariable(type, "copied");
  std::vector<ir::Instruction*> zeros(type.lanes, b.i32(0));
  b.write(value, type.isVector() ? b.vector(zeros) : zeros[0]);
  loadPart(f, value, type, source, kept);
  bring(b.read(value));
}

void lowerCp(FunctionLowering& f, const ptx::Instruction& instruction) {
  auto has = [&](Mod modifier) { return instruction.has(modifier); };
  if (has(Mod::prefetch)) return;
  const bool isOfGroups = has(Mod::commit_group) || has(Mod::wait_group);
  if (isOfGroups && has(Mod::bulk)) return;  // bulk copies are done when they are issued
  if (has(Mod::tensor)) return f.refuse(instruction, "copies through tensor maps are not supported");
  if (has(Mod::bulk)) return lowerBulk(f, instruction);
  AsyncCopies* copies = f.program().asyncCopies();
  if (isOfGroups) {
    if (!copies) return;
    return has(Mod::commit_group) ? copies->commitGroup()
                                  : copies->waitForGroups(static_cast<uint32_t>(instruction.operands[0].bits));
  }
  if (copies && (has(Mod::wait_all) || has(Mod::mbarrier))) copies->waitForAll();
  if (has(Mod::wait_all)) return;
  if (has(Mod::mbarrier)) {
    // Without .noinc the arrival is added to what the phase waits for: together they change nothing.
    if (!has(Mod::noinc)) return;
    MbarrierLowering(f, instruction).change(instruction.operands[0], f.b.i64(1), nullptr, false);
    return;
  }
  copy(f, instruction);
}

// Blocks cannot be taken from the grid before they start: a request is always declined, as it is when none is left. The
// answer, 16 bytes that PTX leaves opaque, is zero.
void lowerClusterlaunchcontrol(FunctionLowering& f, const ptx::Instruction& instruction) {
  ir::Builder& b = f.b;
  std::span<const ptx::Operand> operands = instruction.operands;
  if (!instruction.has(Mod::try_cancel)) {
    if (instruction.has(Mod::is_canceled)) return f.write(operands[0], b.boolean(false));
    ir::Instruction* zero = b.i32(0);
    return f.write(operands[0], instruction.has(Mod::v4) ? b.vector(std::array{zero, zero, zero, zero}) : zero);
  }
  Address answer = f.address(operands[0], stateSpace(instruction));
  b.store(answer.value, b.vector(std::array{b.i64(0), b.i64(0)}), plainAccess(answer, 16));
  completeTransaction(f, instruction, operands[1], b.i64(16));
}

constexpr Lowering rows[] = {
    {ptx::Opcode::Clusterlaunchcontrol, lowerClusterlaunchcontrol, Effect::Effects},
    {ptx::Opcode::Mbarrier, lowerMbarrier, Effect::Effects},
    {ptx::Opcode::Cp, lowerCp, Effect::Effects},
};

}  // namespace

void completeTransaction(FunctionLowering& f, const ptx::Instruction& instruction, const ptx::Operand& address,
                         ir::Instruction* bytes) {
  MbarrierLowering(f, instruction).change(address, nullptr, f.b.unary(ir::Op::Neg, bytes), false);
}

std::span<const Lowering> asyncLowerings() { return rows; }

}  // namespace mulciber::lower
