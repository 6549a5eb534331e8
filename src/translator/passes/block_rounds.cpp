#include "translator/passes/block_rounds.h"

#include <algorithm>
#include <unordered_map>

#include "translator/analyses/program_order.h"
#include "translator/ir/builder.h"
#include "translator/ir/dominators.h"
#include "translator/passes/apart_lanes.h"
#include "translator/passes/control_flow.h"
#include "translator/passes/exited_threads.h"
#include "translator/passes/loop_forest.h"
#include "translator/passes/split_values.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Builder;
using ir::Instruction;
using ir::Op;
using ir::VariableId;

// Shared memory, from Program::blockRoundsOffset on: a word for each kind of stop and parity of the round, which holds
// the number of the last round in which a thread came to such a stop; then a pair of words for each thread, its stop
// and its value; then a word for each thread, the lanes that its operation names. What the memory holds at first does
// no harm: a number that happens to fit costs a round more.
constexpr uint32_t warpWord = 0, barrierWord = 8, slots = 16, slotBytes = 8, namesBytes = 4;
constexpr uint32_t yieldBit = 31;  // of the stop that a thread tells others: it waits in memory
static_assert(slots == ir::blockRoundsBytes && slotBytes + namesBytes == ir::blockRoundsBytesPerThread);

// Yields are among the stops of warps: their numbers are in program order.
bool isOfWarp(const Instruction& i) { return i.op == Op::Yield || ir::isWarpOperation(i.op); }

bool usesWarps(const ir::Function& function) {
  return std::ranges::any_of(function.blocks, [](const Block* block) {
    return std::ranges::any_of(block->instructions, [](const Instruction* i) { return isOfWarp(*i); });
  });
}

class RoundMaker {
 public:
  RoundMaker(ir::Function& function, bool hasWarps, uint32_t sharedOffset)
      : function_(function), hasWarps_(hasWarps), shared_(sharedOffset), b_(function) {}

  void run() {
    function_.removeUnreachableBlocks();
    addEntry();
    addLatches();
    std::vector<Block*> blocks = analyses::programOrder(function_);
    countStops(blocks);
    addVariables();
    for (Block* block : blocks) cut(block);
    // As long as what follows a stop is reached from before it, values may cross: they become variables now.
    splitCrossBlockValues(function_);
    meeting_ = function_.addBlock("meeting");
    top_ = function_.addBlock("round");
    // All code stands in the loop, the begin too: a second way into it would part the block at the barrier.
    Block* entry = function_.blocks.front();
    Block* body = entry->terminator.targets[0];
    entry->terminator = {};
    b_.setBlock(entry);
    b_.write(next_, b_.i32(end_ + 1));
    b_.branch(top_);
    std::vector<uint32_t> cases;
    for (uint32_t number = 0; number < end_; ++number) cases.push_back(number);
    cases.push_back(end_ + 1);
    std::vector<Block*> targets = resume_;
    targets.push_back(body);
    b_.setBlock(top_);
    b_.switchOn(b_.read(next_), meeting_, cases, targets);
    for (Block* block : stopped_) block->terminator = {ir::Terminator::Kind::Branch, nullptr, {meeting_}, {}};
    meet();
  }

 private:
  bool isStop(const Instruction& i) const { return i.op == Op::Barrier || isWarpStop(i); }
  bool isWarpStop(const Instruction& i) const { return !hasWarps_ && isOfWarp(i); }

  // They are written first in the entry: what is undefined there costs drivers registers.
  void addVariables() {
    stop_ = function_.addVariable(ir::I32, "stop");
    next_ = function_.addVariable(ir::I32, "next");
    round_ = function_.addVariable(ir::I32, "round");
    std::vector<VariableId> zero{round_};
    if (hasYields_) {
      zero.push_back(yields_ = function_.addVariable(ir::I32, "yields"));
      zero.push_back(expected_ = function_.addVariable(ir::I32, "expected"));
      zero.push_back(missing_ = function_.addVariable(ir::I32, "missing"));
    }
    if (warpStops_ > 0)
      for (auto [variable, name] : {std::pair{&value_, "value"},
                                    {&source_, "source"},
                                    {&members_, "members"},
                                    {&votes_, "votes"},
                                    {&first_, "first"},
                                    {&answer_, "answer"}})
        zero.push_back(*variable = function_.addVariable(ir::I32, name));
    Block* entry = function_.blocks.front();
    ir::Terminator start = std::move(entry->terminator);
    entry->terminator = {};
    b_.setBlock(entry);
    for (VariableId variable : zero) b_.write(variable, b_.i32(0));
    entry->terminator = std::move(start);
  }

  void addEntry() {
    Block* entry = function_.blocks.front();
    Block* fresh = function_.addBlock();
    fresh->terminator = {ir::Terminator::Kind::Branch, nullptr, {entry}, {}};
    std::rotate(function_.blocks.begin(), function_.blocks.end() - 1, function_.blocks.end());
  }

  // Where a thread may pass by a loop's warp operation it would be back at the begin of the loop before the others, and
  // go first from there. It waits for them at the loop's end.
  void addLatches() {
    if (hasWarps_ || !usesWarps(function_)) return;
    LoopForest forest = findLoops(function_);
    function_.computePredecessors();
    ir::DominatorTree tree(function_);
    std::vector<Block*> stops;
    for (Block* block : function_.blocks)
      if (std::ranges::any_of(block->instructions, [&](const Instruction* i) { return isWarpStop(*i); }))
        stops.push_back(block);
    for (uint32_t loop = 0; loop < forest.loops.size(); ++loop) {
      Block* header = forest.loops[loop].header;
      std::vector<Block*> ends;
      for (Block* from : header->predecessors)
        if (forest.contains(loop, from)) ends.push_back(from);
      bool mayPass = std::ranges::any_of(stops, [&](const Block* stop) {
        return forest.contains(loop, stop) &&
               std::ranges::any_of(ends, [&](const Block* end) { return !tree.dominates(stop, end); });
      });
      if (!mayPass) continue;
      Block* latch = function_.addBlock();
      for (Block* end : ends) redirect(*end, header, latch);
      b_.setBlock(latch);
      b_.emit(Op::Expect, ir::Void, {b_.i32(0)});
      b_.emit(Op::WarpBarrier, ir::Void, {});
      b_.branch(header);
    }
  }

  // Warp operations have the lowest numbers, barriers follow, then the end.
  void countStops(const std::vector<Block*>& blocks) {
    uint32_t barriers = 0;
    for (const Block* block : blocks)
      for (const Instruction* i : block->instructions) {
        warpStops_ += isWarpStop(*i);
        hasYields_ |= i->op == Op::Yield;
        barriers += i->op == Op::Barrier;
      }
    nextBarrier_ = warpStops_;
    end_ = warpStops_ + barriers;
    resume_.resize(end_);
  }

  // Ends the block at its first stop; what follows becomes a block, which is cut in turn.
  void cut(Block* block) {
    noteExpected(*block);
    while (true) {
      auto stop = std::ranges::find_if(block->instructions, [&](const Instruction* i) { return isStop(*i); });
      if (stop == block->instructions.end()) break;
      Instruction* operation = *stop;
      Block* rest = function_.addBlock();
      rest->instructions.assign(stop + 1, block->instructions.end());
      rest->terminator = std::move(block->terminator);
      rest->merge = block->merge;
      block->terminator = {};
      block->instructions.erase(stop, block->instructions.end());
      uint32_t number = isWarpStop(*operation) ? nextWarpStop_++ : nextBarrier_++;
      resume_[number] = rest;
      b_.setBlock(block);
      b_.setSource(operation->source);
      prepare(*operation);
      stopAt(number, block, operation->op == Op::Yield);
      b_.branch(rest);
      finish(*operation, *rest);
      block = rest;
    }
    if (block->terminator.kind != ir::Terminator::Kind::Return) return;
    b_.setBlock(block);
    stopAt(end_, block);
  }

  // Where no thread waits in memory, all threads that come to a warp operation do so before any of them leaves it.
  void noteExpected(Block& block) {
    if (!hasYields_) std::erase_if(block.instructions, [](const Instruction* i) { return i->op == Op::Expect; });
    for (Instruction* i : block.instructions) {
      if (i->op != Op::Expect) continue;
      i->op = Op::WriteVar;
      i->payload = expected_;
    }
  }

  void stopAt(uint32_t number, Block* block, bool isYield = false) {
    b_.write(stop_, b_.i32(number));
    if (hasYields_) b_.write(yields_, b_.i32(isYield));
    stopped_.push_back(block);
  }

  // What the other lanes need to know of this one.
  void prepare(const Instruction& operation) {
    switch (operation.op) {
      case Op::Shuffle:
        b_.write(value_, toWord(operation.operands[0]));
        b_.write(source_, operation.operands[1]);
        return;
      case Op::Ballot:
      case Op::VoteAll:
      case Op::VoteAny: b_.write(value_, b_.convert(Op::ZExt, ir::I32, operation.operands[0])); return;
      default: return;
    }
  }

  Instruction* toWord(Instruction* value) {
    if (value->type == ir::Bool) return b_.convert(Op::ZExt, ir::I32, value);
    value = b_.bitcast(ir::Type{ir::Kind::Int, static_cast<uint8_t>(value->type.totalBits())}, value);
    return value->type == ir::I32 ? value : b_.convert(Op::ZExt, ir::I32, value);
  }

  // The operation itself becomes the last step of making its result, at the begin of `rest`.
  void finish(Instruction& operation, Block& rest) {
    if (operation.type.isVoid()) return;
    std::vector<Instruction*> following = std::move(rest.instructions);
    rest.instructions.clear();
    ir::Terminator terminator = std::move(rest.terminator);
    rest.terminator = {};
    b_.setBlock(&rest);
    auto become = [&](Op op, std::initializer_list<Instruction*> operands, uint64_t payload = 0) {
      operation.op = op;
      operation.operands.assign(operands.begin(), operands.end());
      operation.payload = payload;
    };
    switch (operation.op) {
      case Op::Ballot: become(Op::ReadVar, {}, votes_); break;
      case Op::VoteAll: become(Op::IEq, {b_.read(votes_), b_.read(members_)}); break;
      case Op::VoteAny: become(Op::INe, {b_.read(votes_), b_.i32(0)}); break;
      case Op::Elect: become(Op::IEq, {b_.emit(Op::FindLsb, ir::I32, {b_.read(members_)}), lane()}); break;
      default: fromWord(operation, become); break;
    }
    rest.instructions.push_back(&operation);
    rest.instructions.insert(rest.instructions.end(), following.begin(), following.end());
    rest.terminator = std::move(terminator);
  }

  template <typename Become>
  void fromWord(const Instruction& operation, const Become& become) {
    const ir::Type type = operation.type;
    if (type == ir::I32) return become(Op::ReadVar, {}, answer_);
    Instruction* word = b_.read(answer_);
    if (type == ir::Bool) return become(Op::INe, {word, b_.i32(0)});
    if (type.isInt() && !type.isVector()) return become(Op::Trunc, {word});
    if (type.totalBits() < 32)
      word = b_.convert(Op::Trunc, ir::Type{ir::Kind::Int, static_cast<uint8_t>(type.totalBits())}, word);
    become(Op::Bitcast, {word});
  }

  ir::MemoryAccess access(ir::Order order, uint8_t alignment) const {
    ir::MemoryAccess result;
    result.space = ir::Space::Shared;
    result.order = order;
    result.scope = ir::Scope::Block;
    result.alignment = alignment;
    return result;
  }

  Instruction* lane() { return b_.bitAnd(b_.input(ir::InputKind::LocalIndex), b_.i32(31)); }
  Instruction* slotOf(Instruction* thread) { return b_.add(b_.i32(shared_ + slots), b_.shl(thread, b_.i32(3))); }

  Instruction* namesOf(Instruction* thread) {
    Instruction* begin = b_.add(b_.i32(shared_ + slots), b_.shl(blockThreads(), b_.i32(3)));
    return b_.add(begin, b_.shl(thread, b_.i32(2)));
  }

  Instruction* blockThreads() {
    Instruction* area = b_.mul(b_.input(ir::InputKind::BlockDimX), b_.input(ir::InputKind::BlockDimY));
    return b_.mul(area, b_.input(ir::InputKind::BlockDimZ));
  }

  // The loop: writes down where this thread stands, waits for the block, and sees which threads may run on.
  void meet() {
    b_.setSource(0);
    b_.setBlock(meeting_);
    top_->merge.dontUnroll = true;
    // Emitted one by one, in one order whatever compiler builds this.
    Instruction* one = b_.i32(1);
    Instruction* round = b_.add(b_.read(round_), one);
    b_.write(round_, round);
    Instruction* wordShift = b_.i32(2);
    Instruction* ofRound = b_.shl(b_.bitAnd(round, b_.i32(1)), wordShift);
    Instruction* words = b_.add(b_.i32(shared_), ofRound);
    Instruction* stop = b_.read(stop_);
    if (warpStops_ > 0) {
      Instruction* slot = slotOf(b_.input(ir::InputKind::LocalIndex));
      Instruction* told = hasYields_ ? b_.bitOr(stop, b_.shl(b_.read(yields_), b_.i32(yieldBit))) : stop;
      b_.store(slot, b_.vector(std::array{told, b_.read(value_)}), access(ir::Order::Weak, slotBytes));
      if (hasYields_)
        b_.store(namesOf(b_.input(ir::InputKind::LocalIndex)), b_.read(expected_), access(ir::Order::Weak, namesBytes));
      note(b_.compare(Op::ULt, stop, b_.i32(warpStops_)), words, warpWord, round);
    }
    Instruction* barriers = b_.i32(end_ - warpStops_);
    Instruction* isWaiting = b_.compare(Op::ULt, b_.sub(stop, b_.i32(warpStops_)), barriers);
    if (end_ > warpStops_) note(isWaiting, words, barrierWord, round);
    b_.emit(Op::Barrier, ir::Void, {});

    Instruction* atWarp = warpStops_ > 0 ? hasCome(words, warpWord, round) : b_.boolean(false);
    Instruction* atBarrier = end_ > warpStops_ ? hasCome(words, barrierWord, round) : b_.boolean(false);
    if (warpStops_ > 0) goOnAsWarps(atWarp);
    Block* dispatch = function_.addBlock();
    Block* finished = function_.addBlock();
    // Also when threads stand at neither: all have ended.
    b_.branch(b_.bitOr(atWarp, atBarrier), dispatch, finished);
    b_.setBlock(finished);
    b_.ret();
    b_.setBlock(dispatch);
    // Threads at barriers stay while others are at warp operations.
    resume(b_.bitAnd(isWaiting, atWarp));
  }

  // Notes that a thread stands at a stop of this kind: all that do write the same.
  void note(Instruction* condition, Instruction* words, uint32_t word, Instruction* round) {
    Block* then = function_.addBlock();
    Block* after = function_.addBlock();
    b_.branch(condition, then, after);
    b_.setBlock(then);
    b_.store(b_.add(words, b_.i32(word)), round, access(ir::Order::Relaxed, 4));
    b_.branch(after);
    b_.setBlock(after);
  }

  Instruction* hasCome(Instruction* words, uint32_t word, Instruction* round) {
    Instruction* last = b_.load(ir::I32, b_.add(words, b_.i32(word)), access(ir::Order::Weak, 4));
    return b_.compare(Op::IEq, last, round);
  }

  // Threads at warp operations look through the stops of their warp; then all wait, so that no slot changes before.
  void goOnAsWarps(Instruction* atWarp) {
    Block* look = function_.addBlock();
    Block* each = function_.addBlock();
    Block* seen = function_.addBlock();
    Block* stay = function_.addBlock();
    Block* after = function_.addBlock();
    Instruction* number = b_.read(stop_);
    VariableId other = function_.addVariable(ir::I32, "other");
    b_.write(first_, b_.i32(end_));
    if (hasYields_) b_.write(missing_, b_.i32(0));
    b_.branch(b_.bitAnd(atWarp, b_.compare(Op::ULt, number, b_.i32(warpStops_))), look, stay);

    b_.setBlock(look);
    Instruction* begin = b_.bitAnd(b_.input(ir::InputKind::LocalIndex), b_.i32(~31u));
    Instruction* threads = b_.binary(Op::UMin, b_.sub(blockThreads(), begin), b_.i32(32));
    b_.write(other, b_.i32(0));
    b_.branch(each);

    b_.setBlock(each);
    each->merge.dontUnroll = true;
    Instruction* index = b_.read(other);
    Instruction* slot = b_.load(ir::I32.withLanes(2), slotOf(b_.add(begin, index)), access(ir::Order::Weak, slotBytes));
    Instruction* bit = b_.shl(b_.i32(1), index);
    Instruction* stop = b_.extract(slot, 0);
    if (hasYields_) stop = expectedStop(stop, b_.add(begin, index), bit);
    Instruction* vote = b_.select(b_.compare(Op::INe, b_.extract(slot, 1), b_.i32(0)), bit, b_.i32(0));
    Instruction* first = b_.read(first_);
    Instruction* isEarlier = b_.compare(Op::ULt, stop, first);
    Instruction* isSame = b_.compare(Op::IEq, stop, first);
    auto gather = [&](VariableId set, Instruction* mine) {
      Instruction* old = b_.read(set);
      b_.write(set, b_.select(isEarlier, mine, b_.select(isSame, b_.bitOr(old, mine), old)));
    };
    gather(members_, bit);
    gather(votes_, vote);
    b_.write(first_, b_.binary(Op::UMin, stop, first));
    Instruction* next = b_.add(index, b_.i32(1));
    b_.write(other, next);
    b_.branch(b_.compare(Op::ULt, next, threads), each, seen);

    b_.setBlock(seen);
    Instruction* asked = b_.binary(Op::UMin, b_.read(source_), b_.sub(threads, b_.i32(1)));
    Instruction* place = b_.add(slotOf(b_.add(begin, asked)), b_.i32(4));
    b_.write(answer_, b_.load(ir::I32, place, access(ir::Order::Weak, 4)));
    b_.branch(after);
    b_.setBlock(stay);
    b_.branch(after);
    b_.setBlock(after);
    b_.emit(Op::Barrier, ir::Void, {});
  }

  // The stop of another lane, or the end when the operation does not wait for it. One for named lanes waits for those
  // alone; one for whoever comes waits for all but those that wait in memory, perhaps for this one, and those that wait
  // for this one by name. A named lane that is still to come is missing, also where it stands later in the code, since
  // this one may be a round of a loop ahead of it: one that waits in memory, or at an operation for whoever comes.
  Instruction* expectedStop(Instruction* told, Instruction* thread, Instruction* bit) {
    auto isIn = [&](Instruction* set, Instruction* lane) {
      return b_.compare(Op::INe, b_.bitAnd(set, lane), b_.i32(0));
    };
    auto isNone = [&](Instruction* set) { return b_.compare(Op::IEq, set, b_.i32(0)); };
    Instruction* expected = b_.read(expected_);
    Instruction* theirs = b_.load(ir::I32, namesOf(thread), access(ir::Order::Weak, namesBytes));
    Instruction* stop = b_.bitAnd(told, b_.i32((1u << yieldBit) - 1));
    Instruction* isYield = b_.compare(Op::INe, stop, told);
    Instruction* isForAnyone = b_.bitAnd(isNone(theirs), b_.compare(Op::ULt, stop, b_.i32(warpStops_)));
    Instruction* isHere = b_.compare(Op::IEq, told, b_.read(stop_));

    Instruction* isNamed = isIn(expected, bit);
    Instruction* isLater = b_.bitAnd(isForAnyone, b_.compare(Op::ULt, b_.read(stop_), stop));
    Instruction* isMissing = b_.bitAnd(isNamed, b_.bitOr(isYield, isLater));
    b_.write(missing_, b_.bitOr(b_.read(missing_), b_.convert(Op::ZExt, ir::I32, isMissing)));

    Instruction* waitsForThis = isIn(theirs, b_.shl(b_.i32(1), lane()));
    Instruction* isComing = b_.bitNot(b_.bitOr(isYield, waitsForThis));
    Instruction* waits = b_.bitOr(isNamed, b_.bitAnd(isNone(expected), isComing));
    // Those at the same operation take part in any case.
    return b_.select(b_.bitOr(waits, isHere), stop, b_.i32(end_));
  }

  // A thread that stays comes back to the meeting and runs no code between.
  void resume(Instruction* stays) {
    Instruction* stop = b_.read(stop_);
    if (warpStops_ > 0) {
      // Those behind the first operation of their warp that a thread stands at wait for it.
      Instruction* isBehind =
          b_.bitAnd(b_.compare(Op::ULt, stop, b_.i32(warpStops_)), b_.compare(Op::ULt, b_.read(first_), stop));
      if (hasYields_) {
        isBehind = b_.bitOr(isBehind, b_.compare(Op::INe, b_.read(missing_), b_.i32(0)));
        // A thread that waits in memory looks again, because other threads may wait for it in turn.
        isBehind = b_.bitAnd(isBehind, b_.compare(Op::IEq, b_.read(yields_), b_.i32(0)));
      }
      stays = b_.bitOr(stays, isBehind);
    }
    b_.write(next_, b_.select(stays, b_.i32(end_), stop));
    b_.branch(top_);
  }

  ir::Function& function_;
  const bool hasWarps_;
  const uint32_t shared_;
  Builder b_;
  uint32_t warpStops_ = 0, nextWarpStop_ = 0, nextBarrier_ = 0, end_ = 0;
  bool hasYields_ = false;
  VariableId stop_ = 0, next_ = 0, round_ = 0, yields_ = 0, expected_ = 0, missing_ = 0, value_ = 0, source_ = 0,
             members_ = 0, votes_ = 0, first_ = 0, answer_ = 0;
  Block* top_ = nullptr;
  Block* meeting_ = nullptr;
  std::vector<Block*> stopped_;
  std::vector<Block*> resume_;  // by number of the stop
};

}  // namespace

void runBlockInRounds(ir::Function& function, bool hasWarps, uint32_t sharedOffset) {
  RoundMaker(function, hasWarps, sharedOffset).run();
  function.removeUnreachableBlocks();
}

bool usesWarps(const ir::Program& program) {
  return std::ranges::any_of(program.functions, [](const auto& function) { return usesWarps(*function); });
}

namespace {

bool isStopOfThread(const Instruction* i) { return i->op == Op::Barrier || isOfWarp(*i); }

}  // namespace

size_t countStops(const ir::Program& program) {
  size_t stops = 0;
  for (const auto& function : program.functions)
    for (const Block* block : function->blocks)
      stops += static_cast<size_t>(std::ranges::count_if(block->instructions, isStopOfThread));
  return stops;
}

size_t countInlinedStops(const ir::Program& program) {
  std::unordered_map<const ir::Function*, size_t> known;  // 0 as long as a function is being counted
  const auto count = [&](const auto& self, const ir::Function* function) -> size_t {
    const auto [entry, isNew] = known.try_emplace(function, 0);
    if (!isNew) return entry->second;
    size_t stops = 0;
    for (const Block* block : function->blocks)
      for (const Instruction* i : block->instructions)
        stops += i->op == Op::Call ? self(self, i->callee) : size_t{isStopOfThread(i)};
    return known[function] = std::min<size_t>(stops, 1'000'000);
  };
  return count(count, program.functions.front().get());
}

bool BlockRounds::run(ir::Function& function, PassContext& context) {
  const TargetProfile& profile = context.profile;
  const bool hasWarps = profile.hasWarps() || !usesWarps(function);
  const bool waits = context.program.waits && !profile.warpsProgress && !profile.barrierYields;
  const bool missesEnded = !profile.exitedThreadsArrive && findBarrierWithoutExited(function) != nullptr;
  if (hasWarps && !waits && !missesEnded && !haveBarriersApart(function)) return false;
  runBlockInRounds(function, hasWarps, context.program.blockRoundsOffset);
  return true;
}

}  // namespace mulciber::passes
