// Barriers of a block and of a warp.
//
// A barrier of all threads is the device's. Vulkan has none for some threads only, and none to arrive at without
// waiting: these count arrivals in a word of shared memory, one for each of the 16 barriers, and wait by looking at it.
// Word: arrivals so far in bits 0..15, completed phases above.
#include <optional>

#include "translator/lower/atomics.h"
#include "translator/lower/call_graph.h"
#include "translator/lower/families.h"
#include "translator/lower/program_lowering.h"
#include "translator/lower/warp_tools.h"

namespace mulciber::lower {

using ptx::Mod;

namespace {

enum class Role { Sync, Arrive, Reduce };

class BarrierLowering {
 public:
  BarrierLowering(FunctionLowering& lowering, const ptx::Instruction& which)
      : f(lowering), b(lowering.b), instruction(which) {
    role = which.has(Mod::arrive) ? Role::Arrive : which.has(Mod::red) ? Role::Reduce : Role::Sync;
    std::span<const ptx::Operand> operands = which.operands;
    if (role == Role::Reduce) {
      destination = &operands.front();
      predicate = &operands.back();
      operands = operands.subspan(1, operands.size() - 2);
    }
    if (!operands.empty()) id = &operands[0];
    if (operands.size() > 1) count = &operands[1];
  }

  void lower() {
    if (role == Role::Reduce) return reduce();
    synchronise();
  }

  void synchronise() {
    const ProgramLowering& program = f.program();
    if (program.countsAllBarriers()) {
      ir::Instruction* whole = b.bitAnd(b.add(f.blockThreads(), b.i32(31)), b.i32(~31u));
      return counted(count ? f.value(*count, ir::I32) : whole);
    }
    if (!count) return whole();
    ir::Instruction* threads = f.value(*count, ir::I32);
    if (program.usesArrive()) return counted(threads);
    // Whether these are all threads shows at run time, alike for all of them.
    f.beginIf(b.compare(ir::Op::ULe, f.blockThreads(), threads));
    whole();
    f.beginElse();
    counted(threads);
    f.endIf();
  }

 private:
  FunctionLowering::Address word(uint32_t base) {
    if (!id) return {b.i32(base), ir::Space::Shared, 4};
    ir::Instruction* index = b.bitAnd(f.value(*id, ir::I32), b.i32(15));
    return {b.add(b.i32(base), b.shl(index, b.i32(2))), ir::Space::Shared, 4};
  }

  // All lanes of a warp come to an aligned barrier together; to another some may come while others wait elsewhere.
  WarpTools tools() { return isAligned(instruction) ? WarpTools::ofWholeWarp(f) : WarpTools(f); }

  static ir::MemoryAccess access(ir::Order order) {
    ir::MemoryAccess result;
    result.space = ir::Space::Shared;
    result.order = order;
    result.scope = ir::Scope::Block;
    result.alignment = 4;
    return result;
  }

  void whole() { b.emit(ir::Op::Barrier, ir::Void, {}, !isAligned(instruction)); }

  void counted(ir::Instruction* threads) {
    // Without warps each thread counts for itself, but at an aligned barrier: that counts whole warps, as the hardware
    // does, also where lanes have exited.
    const bool asWarp = f.profile().hasWarps() || isAligned(instruction);
    std::optional<WarpTools> warp = asWarp ? std::optional(tools()) : std::nullopt;
    FunctionLowering::Address barrier = word(f.program().barrierWords());
    ir::Instruction* active = warp ? warp->members(nullptr) : nullptr;
    ir::Instruction* leader = warp ? warp->lowestLane(active) : nullptr;
    ir::Instruction* arrivals = isAligned(instruction) ? b.i32(32)
                                : warp                 ? b.emit(ir::Op::PopCount, ir::I32, {active})
                                                       : b.i32(1);
    ir::VariableId phase = b.function().addVariable(ir::I32, "phase");
    b.write(phase, b.i32(0));
    fence(ir::Order::Release);
    if (warp) f.beginIf(b.compare(ir::Op::IEq, f.laneId(), leader));
    ir::Instruction* old =
        atomicUpdate(f, barrier, ir::I32, access(ir::Order::AcquireRelease), [&](ir::Instruction* state) {
          ir::Instruction* sum = b.add(state, arrivals);
          ir::Instruction* isLast = b.compare(ir::Op::ULe, threads, b.bitAnd(sum, b.i32(0xFFFF)));
          ir::Instruction* next = b.bitAnd(b.add(state, b.i32(0x10000)), b.i32(0xFFFF0000));
          return b.select(isLast, next, sum);
        });
    b.write(phase, b.lshr(old, b.i32(16)));
    if (warp) f.endIf();
    if (role == Role::Arrive) return;
    ir::Instruction* mine = b.read(phase);
    if (warp) mine = warp->shuffle(mine, leader);
    f.beginLoop();
    f.yieldToWarps();
    ir::Instruction* now = b.load(ir::I32, barrier.value, access(ir::Order::Acquire));
    f.endLoop(b.compare(ir::Op::IEq, b.lshr(now, b.i32(16)), mine));
    fence(ir::Order::Acquire);
  }

  void fence(ir::Order order) {
    ir::Instruction* instructionOfFence = b.emit(ir::Op::Fence, ir::Void, {});
    instructionOfFence->memory.order = order;
    instructionOfFence->memory.scope = ir::Scope::Block;
  }

  // Adds the predicate to a word of shared memory, reads the sum between two barriers, and takes it away again:
  // arrivals at the next reduction may already be in it.
  void reduce() {
    FunctionLowering::Address sum = word(f.program().reductionWords());
    bool isAll = instruction.has(Mod::and_);
    ir::Instruction* condition = f.predicate(*predicate);
    if (isAll) condition = b.bitNot(condition);
    // One thread of a warp adds for all of it; each for itself where the device has no warps.
    ir::Instruction* adds = condition;
    ir::Instruction* own = b.i32(1);
    if (f.profile().hasWarps()) {
      WarpTools warp = tools();
      own = b.emit(ir::Op::PopCount, ir::I32, {warp.ballot(condition)});
      adds = b.compare(ir::Op::IEq, f.laneId(), warp.lowestLane(warp.members(nullptr)));
    }
    f.beginIf(adds);
    atomic(f, ir::Op::AtomicAdd, sum, access(ir::Order::Relaxed), {own});
    f.endIf();
    synchronise();
    // Nobody writes it between the two barriers: an ordinary load, which is known to be the same for the whole block.
    ir::Instruction* total = b.load(ir::I32, sum.value, access(ir::Order::Weak));
    synchronise();
    f.beginIf(adds);
    atomic(f, ir::Op::AtomicSub, sum, access(ir::Order::Relaxed), {own});
    f.endIf();
    if (instruction.has(Mod::popc)) return f.write(*destination, total);
    f.write(*destination, b.compare(isAll ? ir::Op::IEq : ir::Op::INe, total, b.i32(0)));
  }

  FunctionLowering& f;
  ir::Builder& b;
  const ptx::Instruction& instruction;
  Role role;
  const ptx::Operand* destination = nullptr;
  const ptx::Operand* predicate = nullptr;
  const ptx::Operand* id = nullptr;
  const ptx::Operand* count = nullptr;
};

void lowerBarrier(FunctionLowering& f, const ptx::Instruction& instruction) {
  if (instruction.has(Mod::warp)) {
    WarpTools(f, instruction.operands[0]).synchronise();
    return;
  }
  if (instruction.has(Mod::cluster)) {
    // A cluster is one block, whose threads all arrive before they wait: waiting is the barrier.
    if (instruction.has(Mod::wait)) BarrierLowering(f, instruction).synchronise();
    return;
  }
  BarrierLowering(f, instruction).lower();
}

constexpr Lowering rows[] = {
    {ptx::Opcode::Bar, lowerBarrier, Effect::Effects},
    {ptx::Opcode::Barrier, lowerBarrier, Effect::Effects},
};

}  // namespace

void FunctionLowering::yieldToWarps() {
  if (!profile().warpsProgress) b.emit(profile().hasWarps() ? ir::Op::Barrier : ir::Op::Yield, ir::Void, {});
}

void FunctionLowering::yieldToThreads() {
  if (!profile().warpsProgress) b.emit(ir::Op::Yield, ir::Void, {});
}

void FunctionLowering::clearBarrierWords() {
  ir::Instruction* thread = b.input(ir::InputKind::LocalIndex);
  ir::MemoryAccess access;
  access.space = ir::Space::Shared;
  access.alignment = 4;
  beginIf(b.compare(ir::Op::ULt, thread, b.i32(1)));
  for (uint32_t word = 0; word < 32; word++) b.store(b.i32(program_.barrierWords() + 4 * word), b.i32(0), access);
  endIf();
  b.emit(ir::Op::Barrier, ir::Void, {});
}

std::span<const Lowering> barrierLowerings() { return rows; }

}  // namespace mulciber::lower
