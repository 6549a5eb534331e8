// Runs the threads of a block: each until it waits or its turn is over, in the order of their numbers.
#include <algorithm>
#include <bit>

#include "interpreter/machine/thread.h"
#include "interpreter/syntax/lexer.h"

namespace mulciber::interpreter {
namespace {

constexpr unsigned kTurn = 4096;  // instructions of one thread before the next may run

uint32_t maskOf(const Thread& thread, const Op& op) { return static_cast<uint32_t>(thread.registers[op.e]); }

// Lanes may come to a shuffle in different places of the program, if it is the same shuffle.
bool isSame(const Op& a, const Op& b) {
  return a.together == b.together && a.mode == b.mode && a.type == b.type && a.source->modifiers == b.source->modifiers;
}

}  // namespace

Block::Block(Grid& ofGrid, const Code& code, std::array<uint32_t, 3> blockIndex) : grid(ofGrid), index(blockIndex) {
  const Launch& launch = grid.launch;
  const uint32_t count = launch.block[0] * launch.block[1] * launch.block[2];
  shared.resize(grid.program.sharedBytes + launch.dynamicSharedBytes);
  threads.resize(count);
  warps.resize((count + kWarpLanes - 1) / kWarpLanes);
  for (Barrier& barrier : barriers_) barrier.arrived.resize(warps.size());
  for (uint32_t i = 0; i < count; ++i) {
    Thread& thread = threads[i];
    thread.block = this;
    thread.linear = i;
    thread.lane = static_cast<uint8_t>(i % kWarpLanes);
    thread.warp = &warps[i / kWarpLanes];
    thread.warp->lanes[thread.lane] = &thread;
    thread.begin(code);
  }
}

void Block::run(Thread& thread) {
  unsigned done = 0;
  const Op* op = nullptr;
  try {
    for (; done < kTurn && thread.state == Thread::State::Running; ++done) {
      op = thread.next++;
      if ((thread.registers[op->guard] != 0) != op->isGuardNegated) op->execute(thread, *op);
    }
    if (grid.instructions += done; grid.instructions > grid.launch.mostInstructions)
      throw Fault(Status::TooLong,
                  "the kernel executes more than " + std::to_string(grid.launch.mostInstructions) + " instructions");
  } catch (Fault& fault) {
    const std::string name = op->source ? op->source->name() : "";
    throw Fault(fault.status, name + " in thread " + std::to_string(thread.linear) + ": " + fault.what(),
                fault.line   ? fault.line
                : op->source ? op->source->line
                             : 0);
  }
}

bool Block::step() {
  bool isMoving = false, isLive = false;
  for (Warp& warp : warps) {
    for (Thread* thread : warp.lanes)
      if (thread && thread->state == Thread::State::Running) {
        run(*thread);
        isMoving = true;
      }
    isMoving |= releaseLanes(warp);
    isLive |= warp.live() != 0;
  }
  if (!isLive) return false;
  for (unsigned i = 0; i < barriers_.size(); ++i) isMoving |= releaseBarrier(i);
  if (!isMoving) reportDeadlock();
  return true;
}

// Lets those lanes run whose masks are complete. What activemask says is known once no lane of the warp can come.
bool Block::releaseLanes(Warp& warp) {
  bool hasReleased = false;
  const uint32_t live = warp.live();
  uint32_t done = 0;
  bool canMove = false;
  auto groupOf = [&](const Thread& first, const Op& op) {
    uint32_t members = 0;
    for (unsigned i = 0; i < kWarpLanes; ++i) {
      const Thread* other = warp.lanes[i];
      if (!other || other->state != Thread::State::Waiting || !other->waitingAt->together) continue;
      if (isSame(op, *other->waitingAt) && maskOf(*other, *other->waitingAt) == maskOf(first, op)) members |= 1u << i;
    }
    return members;
  };
  auto release = [&](const Op& op, uint32_t members) {
    try {
      op.together(warp, members);
    } catch (Fault& fault) {
      throw Fault(fault.status, op.source->name() + ": " + fault.what(), op.source->line);
    }
    for (unsigned i = 0; i < kWarpLanes; ++i)
      if (members >> i & 1) warp.lanes[i]->state = Thread::State::Running;
    hasReleased = true;
  };
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    const Thread* thread = warp.lanes[i];
    if (!thread || done >> i & 1) continue;
    canMove |= thread->state == Thread::State::Running;
    if (thread->state != Thread::State::Waiting || !thread->waitingAt->together) continue;
    const Op& op = *thread->waitingAt;
    const uint32_t mask = maskOf(*thread, op);
    if (mask == 0) continue;
    const uint32_t members = groupOf(*thread, op);
    done |= members;
    if ((mask & live & ~members) == 0) release(op, members);
  }
  if (hasReleased || canMove) return hasReleased;
  // Those that are furthest behind: the others may wait where these come to.
  const Op* first = nullptr;
  for (const Thread* thread : warp.lanes)
    if (thread && thread->state == Thread::State::Waiting && thread->waitingAt->together &&
        maskOf(*thread, *thread->waitingAt) == 0 && (!first || thread->waitingAt < first))
      first = thread->waitingAt;
  if (!first) return false;
  uint32_t members = 0;
  for (unsigned i = 0; i < kWarpLanes; ++i)
    if (warp.lanes[i] && warp.lanes[i]->state == Thread::State::Waiting && warp.lanes[i]->waitingAt == first)
      members |= 1u << i;
  release(*first, members);
  return true;
}

void Block::arrive(Thread& thread, unsigned number, uint32_t expected, bool isTrue, bool waits) {
  if (number >= barriers_.size()) throw Fault(Status::Undefined, "there is no such barrier");
  Barrier& barrier = barriers_[number];
  uint32_t& arrived = barrier.arrived[thread.linear / kWarpLanes];
  if (arrived >> thread.lane & 1) throw Fault(Status::Undefined, "the thread arrives at the barrier a second time");
  const bool isFirst =
      std::all_of(barrier.arrived.begin(), barrier.arrived.end(), [](uint32_t lanes) { return !lanes; });
  if (!isFirst && barrier.expected != expected)
    throw Fault(Status::Undefined, "the barrier is awaited by different numbers of threads");
  barrier.expected = expected;
  arrived |= uint32_t(1) << thread.lane;
  barrier.sum += isTrue;
  barrier.all &= isTrue;
  barrier.any |= isTrue;
  if (waits) thread.state = Thread::State::Waiting;
}

// A warp counts as a whole once all its lanes that have not exited are there.
bool Block::releaseBarrier(unsigned number) {
  Barrier& barrier = barriers_[number];
  uint32_t count = 0;
  bool isComplete = true, isUsed = false;
  for (size_t i = 0; i < warps.size(); ++i) {
    const uint32_t arrived = barrier.arrived[i], missing = warps[i].live() & ~arrived;
    isUsed |= arrived != 0;
    isComplete &= missing == 0;
    if (arrived) count += missing == 0 ? kWarpLanes : static_cast<unsigned>(std::popcount(arrived));
  }
  if (!isUsed || (barrier.expected ? count < barrier.expected : !isComplete)) return false;
  for (Thread& thread : threads) {
    if (thread.state != Thread::State::Waiting || thread.waitingAt->together) continue;
    const Op& op = *thread.waitingAt;
    if (!(barrier.arrived[thread.linear / kWarpLanes] >> thread.lane & 1)) continue;
    if (static_cast<unsigned>(thread.registers[op.a]) != number) continue;
    thread.registers[op.d] = op.combine == Combine::And  ? barrier.all
                             : op.combine == Combine::Or ? barrier.any
                                                         : barrier.sum;
    thread.state = Thread::State::Running;
  }
  std::fill(barrier.arrived.begin(), barrier.arrived.end(), 0);
  barrier.sum = barrier.any = 0;
  barrier.all = 1;
  return true;
}

void Block::reportDeadlock() const {
  const auto first = std::find_if(threads.begin(), threads.end(),
                                  [](const Thread& thread) { return thread.state == Thread::State::Waiting; });
  throw Fault(Status::Deadlock,
              "thread " + std::to_string(first->linear) + " and others wait at " + first->waitingAt->source->name() +
                  " for threads that never come",
              first->waitingAt->source->line);
}

}  // namespace mulciber::interpreter
