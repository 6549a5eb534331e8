// Barriers of a block and of a warp.
//
// A barrier of all threads is the device's. Vulkan has none for some threads only, and none to arrive at without
// waiting: these count arrivals in a word of shared memory, one for each of the 16 barriers, and wait by looking at it.
// Word: arrivals so far in bits 0..15, completed phases above. Where the device's own barrier cannot stand beside such
// waiting, one of all threads counts too: it waits for those that have not ended, whose number is in one more word.
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
    const uint32_t mine = ids(), arrived = mine & arrivedAt();
    if (arrived == 0) return ofThreadsThatWait();
    if (arrived == mine) return ofArrivals();
    ir::Instruction* bit = b.shl(b.i32(1), b.bitAnd(f.value(*id, ir::I32), b.i32(15)));
    f.beginIf(b.compare(ir::Op::INe, b.bitAnd(bit, b.i32(arrived)), b.i32(0)));
    ofArrivals();
    f.beginElse();
    ofThreadsThatWait();
    f.endIf();
  }

 private:
  // Which of the 16 barriers it may be, a bit for each.
  uint32_t ids() const { return id && f.program().arrived() != 0 ? barrierIds(f.function(), instruction) : 0; }

  // Those that threads may arrive at without waiting. One whose number is computed may be any; but barrier 0 without a
  // number of threads is __syncthreads, which such code leaves alone.
  uint32_t arrivedAt() const {
    const uint32_t arrived = f.program().arrived();
    return !count && arrived == allBarriers ? arrived & ~1u : arrived;
  }

  // The threads of the block are fewer than a number of whole warps may say.
  ir::Instruction* number() {
    return count ? b.binary(ir::Op::UMin, f.value(*count, ir::I32), f.blockThreads()) : f.blockThreads();
  }

  void ofArrivals() { counted(f.program().barrierWords(), number()); }

  void ofThreadsThatWait() {
    const uint32_t words = f.program().barrierWords();
    if (f.program().countsAllBarriers()) return counted(words, number(), /*leavesOutEnded=*/true);
    if (!count) return whole();
    ir::Instruction* threads = f.value(*count, ir::I32);
    // Whether these are all threads shows at run time, alike for all of them.
    f.beginIf(b.compare(ir::Op::ULe, f.blockThreads(), threads));
    whole();
    f.beginElse();
    counted(words, threads);
    f.endIf();
  }

  FunctionLowering::Address word(uint32_t base) {
    if (!id) return {b.i32(base), ir::Space::Shared, 4};
    ir::Instruction* index = b.bitAnd(f.value(*id, ir::I32), b.i32(15));
    return {b.add(b.i32(base), b.shl(index, b.i32(2))), ir::Space::Shared, 4};
  }

  // Without warps each thread counts for itself, but at an aligned barrier: that counts whole warps, as the hardware
  // does, also where lanes have exited.
  bool countsWarps() const { return f.profile().hasWarps() || isAligned(instruction); }

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

  // Where `active` are the lanes that come to it together; null: one thread.
  ir::Instruction* arrivals(ir::Instruction* active) {
    if (isAligned(instruction)) return b.i32(32);
    return active ? b.emit(ir::Op::PopCount, ir::I32, {active}) : b.i32(1);
  }

  // `leavesOutEnded`: where `threads` are all of the block, it waits for those that have not ended.
  void counted(uint32_t words, ir::Instruction* threads, bool leavesOutEnded = false) {
    std::optional<WarpTools> warp = countsWarps() ? std::optional(tools()) : std::nullopt;
    FunctionLowering::Address barrier = word(words);
    ir::Instruction* active = warp ? warp->members(nullptr) : nullptr;
    ir::Instruction* leader = warp ? warp->lowestLane(active) : nullptr;
    ir::Instruction* here = arrivals(active);
    ir::Instruction* isOfAll = nullptr;
    if (leavesOutEnded) {
      isOfAll = b.compare(ir::Op::IEq, threads, f.blockThreads());
      here = b.select(isOfAll, b.emit(ir::Op::PopCount, ir::I32, {active}), here);
    }
    auto awaited = [&] {
      if (!leavesOutEnded) return threads;
      return b.select(isOfAll, b.load(ir::I32, b.i32(f.program().runningThreads()), access(ir::Order::Acquire)),
                      threads);
    };
    auto isComplete = [&](ir::Instruction* state, ir::Instruction* number) {
      return b.compare(ir::Op::ULe, number, b.bitAnd(state, b.i32(0xFFFF)));
    };
    auto nextPhase = [&](ir::Instruction* state) { return b.bitAnd(b.add(state, b.i32(0x10000)), b.i32(0xFFFF0000)); };
    ir::VariableId phase = b.function().addVariable(ir::I32, "phase");
    b.write(phase, b.i32(0));
    fence(ir::Order::Release);
    ir::Instruction* atFirst = awaited();
    if (warp) f.beginIf(b.compare(ir::Op::IEq, f.laneId(), leader));
    ir::Instruction* old =
        atomicUpdate(f, barrier, ir::I32, access(ir::Order::AcquireRelease), [&](ir::Instruction* state) {
          ir::Instruction* sum = b.add(state, here);
          ir::Instruction* isLast = isComplete(sum, atFirst);
          ir::Instruction* next = nextPhase(state);
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
    ir::Instruction* waits = b.compare(ir::Op::IEq, b.lshr(now, b.i32(16)), mine);
    if (leavesOutEnded) {
      // The last that it waited for may have ended since.
      f.beginIf(b.bitAnd(waits, isComplete(now, awaited())));
      atomic(f, ir::Op::AtomicCas, barrier, access(ir::Order::AcquireRelease), {now, nextPhase(now)});
      f.endIf();
    }
    f.endLoop(waits);
    fence(ir::Order::Acquire);
  }

  void fence(ir::Order order) {
    ir::Instruction* instructionOfFence = b.emit(ir::Op::Fence, ir::Void, {});
    instructionOfFence->memory.order = order;
    instructionOfFence->memory.scope = ir::Scope::Block;
  }

  // Adds the predicate to a word of shared memory, reads the sum between two barriers, and takes it away again:
  // arrivals at the next reduction may already be in it. Threads that arrive without waiting do so once: the second
  // barrier is then another, of those that reduce, whose number the upper half of the word counts.
  void reduce() {
    const bool countsWaiting = (ids() & arrivedAt()) != 0;
    FunctionLowering::Address sum = word(f.program().reductionWords());
    bool isAll = instruction.has(Mod::and_);
    ir::Instruction* condition = f.predicate(*predicate);
    if (isAll) condition = b.bitNot(condition);
    // One thread of a warp adds for all of it; each for itself where the device has no warps.
    ir::Instruction* adds = condition;
    ir::Instruction* own = b.i32(1);
    ir::Instruction* active = nullptr;
    if (f.profile().hasWarps() || (countsWaiting && countsWarps())) {
      WarpTools warp = tools();
      own = b.emit(ir::Op::PopCount, ir::I32, {warp.ballot(condition)});
      active = warp.members(nullptr);
      adds = b.compare(ir::Op::IEq, f.laneId(), warp.lowestLane(active));
    } else if (countsWaiting) {
      own = b.convert(ir::Op::ZExt, ir::I32, condition);
      adds = b.boolean(true);
    }
    if (countsWaiting) own = b.add(own, b.shl(arrivals(active), b.i32(16)));
    f.beginIf(adds);
    atomic(f, ir::Op::AtomicAdd, sum, access(ir::Order::Relaxed), {own});
    f.endIf();
    synchronise();
    // Nobody writes it between the two barriers: an ordinary load, which is known to be the same for the whole block.
    ir::Instruction* total = b.load(ir::I32, sum.value, access(ir::Order::Weak));
    if (countsWaiting) {
      counted(f.program().reductionBarriers(), b.lshr(total, b.i32(16)));
      total = b.bitAnd(total, b.i32(0xFFFF));
    } else {
      synchronise();
    }
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
  const uint32_t words = program_.barrierWordCount();
  for (uint32_t word = 0; word < words; word++) b.store(b.i32(program_.barrierWords() + 4 * word), b.i32(0), access);
  if (program_.countsAllBarriers()) b.store(b.i32(program_.runningThreads()), blockThreads(), access);
  endIf();
  b.emit(ir::Op::Barrier, ir::Void, {});
}

void FunctionLowering::countEnds() {
  ir::MemoryAccess access;
  access.space = ir::Space::Shared;
  access.order = ir::Order::Release;
  access.scope = ir::Scope::Block;
  access.alignment = 4;
  const std::vector<ir::Block*> blocks(b.function().blocks);
  for (ir::Block* block : blocks) {
    if (block->terminator.kind != ir::Terminator::Kind::Return) continue;
    block->terminator = {};
    b.setBlock(block);
    atomic(*this, ir::Op::AtomicSub, {b.i32(program_.runningThreads()), ir::Space::Shared, 4}, access, {b.i32(1)});
    b.ret();
  }
}

std::span<const Lowering> barrierLowerings() { return rows; }

}  // namespace mulciber::lower
