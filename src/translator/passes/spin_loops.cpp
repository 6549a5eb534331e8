#include "translator/passes/spin_loops.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "translator/ir/dominators.h"
#include "translator/passes/control_flow.h"
#include "translator/passes/lock_accesses.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;

bool isAtOneOf(const std::vector<Place>& locks, const Instruction& access, const Places& places) {
  return contains(locks, places.of(access));
}

bool releases(const Block& block, const std::vector<Place>& locks, const Places& places) {
  return std::ranges::any_of(block.instructions, [&](const Instruction* instruction) {
    return mayReleaseLock(*instruction) && isAtOneOf(locks, *instruction, places);
  });
}

// Whether the same writes may end both waits: see mayEndWait().
bool waitAlike(const Instruction& load, const Instruction& other) {
  return load.type == other.type && load.memory.space == other.memory.space;
}

bool isForWholeWarps(const std::vector<Block*>& body) {
  return std::ranges::any_of(body, [](const Block* block) { return hasMeeting(*block); });
}

// Where in a block that ends with a branch a lock is tried for the first time as in the loop behind. An exchange there
// may be what lets an earlier wait end.
std::optional<size_t> findTaking(Block* block, const std::vector<Block*>& loop, const std::vector<Place>& locks,
                                 const Places& places) {
  const bool waitsByLoads = !waitingLoads(loop).empty();
  for (size_t i = 0; i < block->instructions.size(); ++i) {
    const Instruction& access = *block->instructions[i];
    if ((waitsByLoads ? isOrderedLoad(access) : takesLock(access)) && isAtOneOf(locks, access, places) &&
        isLeftBy({block}, {&access}))
      return i;
  }
  return std::nullopt;
}

// Makes the part of `tries` from `start` on, which the loop follows, the first round of the loop:
//
//   header: a branch to the first try, or to the old header in later rounds
void prependRound(ir::Function& function, Block* tries, size_t start, Block* oldHeader) {
  Block *header = function.addBlock(), *firstTry = function.addBlock();
  Selector round(function, 2);
  for (Block* from : oldHeader->predecessors) {
    round.set(from, 1);
    redirect(*from, oldHeader, header);
  }
  const auto begin = tries->instructions.begin() + static_cast<std::ptrdiff_t>(start);
  firstTry->instructions.assign(begin, tries->instructions.end());
  tries->instructions.erase(begin, tries->instructions.end());
  firstTry->terminator = std::move(tries->terminator);
  tries->terminator = {ir::Terminator::Kind::Branch, nullptr, {header}, {}};
  round.set(tries, 0);
  round.dispatch(header, {firstTry, oldHeader});
}

class SpinLoops {
 public:
  SpinLoops(ir::Function& function, LoopForest& forest, const JoinedWaits& joined)
      : function_(function), forest_(forest), joined_(joined), bodies_(bodiesOf(function, forest)), places_(function) {}

  void run() {
    std::vector<bool> areForWholeWarps;
    for (const std::vector<Block*>& body : bodies_) areForWholeWarps.push_back(isForWholeWarps(body));
    std::vector<std::vector<const Instruction*>> waitsInside(bodies_.size());
    for (uint32_t loop = 0; loop < bodies_.size(); ++loop) {
      // What stands between joined waits is no part of them, such as the exchanges that let lanes go.
      const auto joined = joined_.find(forest_.loops[loop].header);
      const bool isJoined = joined != joined_.end();
      const std::vector<Place> locks = isJoined ? placesOf(joined->second) : locksOf(bodies_[loop], places_);
      if (locks.empty()) continue;
      const bool isOfOneLock = std::ranges::all_of(locks, [&](const Place& lock) { return lock == locks.front(); });
      extend(
          loop, [&](const Block& block) { return releases(block, locks, places_); }, isOfOneLock);
      const std::vector<const Instruction*> waits = isJoined ? joined->second : waitingLoads(bodies_[loop]);
      if (waits.empty()) continue;
      for (uint32_t outer = forest_.loops[loop].parent; outer != LoopForest::none;
           outer = forest_.loops[outer].parent) {
        if (areForWholeWarps[outer]) break;  // whose threads leave it together
        // The outer loop has already taken in what ends the waits of an earlier loop, and so all waits that are alike.
        std::vector<const Instruction*>& known = waitsInside[outer];
        std::vector<const Instruction*> added;
        for (const Instruction* wait : waits)
          if (std::ranges::none_of(known, [&](const Instruction* one) { return waitAlike(*one, *wait); }))
            added.push_back(wait);
        if (added.empty()) continue;
        known.insert(known.end(), added.begin(), added.end());
        extend(outer, [&](const Block& block) { return mayEndWait(block, added); });
      }
    }
  }

 private:
  std::vector<Place> placesOf(const std::vector<const Instruction*>& accesses) const {
    std::vector<Place> places;
    for (const Instruction* access : accesses) addOnce(places, places_.of(*access));
    return places;
  }

  void prepare() {
    tree_.emplace(function_);
    function_.computePredecessors();
    for (Block* block : function_.blocks)
      if (std::ranges::any_of(block->instructions, [](const Instruction* i) { return mayReleaseLock(*i); }))
        releasing_.push_back(block);
    takings_.resize(bodies_.size());
    for (uint32_t loop = 0; loop < bodies_.size(); ++loop)
      for (const Block* block : bodies_[loop])
        for (const Instruction* i : block->instructions)
          if (takesLock(*i) && !isOrderedLoad(*i) && !isRetried(*i, bodies_[loop], places_))
            takings_[loop].push_back(i);
  }

  // The blocks that only threads from the loop reach, and from which control can still come to a release.
  template <class Releases>
  void extend(uint32_t loop, Releases isRelease, bool isOfOneLock = false) {
    if (!tree_) prepare();
    const uint32_t parent = forest_.loops[loop].parent;
    const Region region{forest_.loops[loop].header, {bodies_[loop].begin(), bodies_[loop].end()}, parent};
    std::vector<Block*> found;
    for (Block* block : releasing_)
      if (mayJoin(region, *block) && isRelease(*block)) found.push_back(block);
    if (isOfOneLock) leaveLaterHolds(loop, found);
    std::vector<Block*> blocks = leadingTo(region, found);
    if (std::ranges::any_of(blocks, [](const Block* block) { return isConvergent(*block); })) {
      leaveWhatFollowsMeetings(blocks, found);
      blocks = leadingTo(region, found);
    }
    for (Block* block : blocks) take(loop, block);
    for (Block* block : blocks) moveReturnOut(parent, block);
    forest_.loops[loop].releasesLock |= !blocks.empty();
  }

  // What may become part of a loop: the rest of what its header dominates in the loop around it.
  struct Region {
    const Block* header;
    std::unordered_set<const Block*> inside;
    uint32_t parent;
  };

  bool mayJoin(const Region& region, const Block& block) const {
    return tree_->dominates(region.header, &block) && !region.inside.contains(&block) &&
           forest_.contains(region.parent, &block) &&
           (region.parent == LoopForest::none || forest_.loops[region.parent].header != &block);
  }

  // The targets, and what stands in the region before them.
  std::vector<Block*> leadingTo(const Region& region, const std::vector<Block*>& targets) const {
    std::vector<Block*> blocks = targets;
    std::unordered_set<const Block*> seen(blocks.begin(), blocks.end());
    for (size_t i = 0; i < blocks.size(); ++i)
      for (Block* from : blocks[i]->predecessors)
        if (mayJoin(region, *from) && seen.insert(from).second) blocks.push_back(from);
    return blocks;
  }

  // A thread that takes a lock again, and in the same way, has let it go before. What ends the later hold is the later
  // loop's: a thread may have to wait for others in between. Takes such releases out.
  void leaveLaterHolds(uint32_t loop, std::vector<Block*>& releases) const {
    const auto isBehind = [&](const std::vector<const Block*>& headers, const Block* block) {
      return std::ranges::any_of(headers, [&](const Block* header) { return tree_->dominates(header, block); });
    };
    std::vector<const Block*> again;
    for (uint32_t other = 0; other < takings_.size(); ++other) {
      const Block* header = forest_.loops[other].header;
      if (!tree_->dominates(forest_.loops[loop].header, header) || forest_.contains(loop, other)) continue;
      if (!takeAlike(loop, other) || isBehind(again, header)) continue;
      if (std::ranges::any_of(releases, [&](const Block* block) { return tree_->dominates(block, header); }))
        again.push_back(header);
    }
    std::erase_if(releases, [&](const Block* block) { return isBehind(again, block); });
  }

  bool takeAlike(uint32_t loop, uint32_t other) const {
    return std::ranges::any_of(takings_[loop], [&](const Instruction* one) {
      return std::ranges::any_of(takings_[other], [&](const Instruction* two) { return places_.isSame(*one, *two); });
    });
  }

  // Leaves the releases that threads come to, from these blocks, past something that all are meant to be at.
  static void leaveWhatFollowsMeetings(const std::vector<Block*>& blocks, std::vector<Block*>& releases) {
    const std::unordered_set<const Block*> known(blocks.begin(), blocks.end());
    std::vector<const Block*> work;
    std::unordered_set<const Block*> behind;
    const auto add = [&](const Block* block) {
      if (behind.insert(block).second) work.push_back(block);
    };
    for (const Block* block : blocks)
      if (isConvergent(*block)) add(block);
    while (!work.empty()) {
      const Block* block = work.back();
      work.pop_back();
      for (const Block* target : block->terminator.targets)
        if (known.contains(target)) add(target);
    }
    std::erase_if(releases, [&](const Block* block) { return behind.contains(block); });
  }

  // Moves the block, or the loop around it that stood beside this one, inside.
  void take(uint32_t loop, const Block* block) {
    uint32_t inner = forest_.loopOf(block), parent = forest_.loops[loop].parent;
    if (inner == parent) return forest_.place(block, loop);
    while (inner != loop && forest_.loops[inner].parent != parent) {
      inner = forest_.loops[inner].parent;
      if (inner == LoopForest::none) return;
    }
    if (inner == loop) return;
    forest_.loops[inner].parent = loop;
    forest_.updateDepths();
  }

  // A loop with a return inside would have a second way out.
  void moveReturnOut(uint32_t parent, Block* block) {
    if (block->terminator.kind != ir::Terminator::Kind::Return) return;
    Block* end = function_.addBlock();
    forest_.place(end, parent);
    end->terminator = std::move(block->terminator);
    block->terminator = {ir::Terminator::Kind::Branch, nullptr, {end}, {}};
  }

  ir::Function& function_;
  LoopForest& forest_;
  const JoinedWaits& joined_;
  const std::vector<std::vector<Block*>> bodies_;
  const Places places_;
  std::optional<ir::DominatorTree> tree_;
  // Made with the tree, when a loop is to be extended:
  std::vector<Block*> releasing_;
  std::vector<std::vector<const Instruction*>> takings_;  // by loop: the compare-and-swaps and exchanges
};

}  // namespace

void endBlocksAfterReleases(ir::Function& function) {
  if (!takesLocks(function)) return;
  for (size_t at = 0; at < function.blocks.size(); ++at) {
    Block* block = function.blocks[at];
    const auto meeting =
        std::ranges::find_if(block->instructions, [](const Instruction* i) { return ir::isConvergent(i->op); });
    const auto isRelease = [](const Instruction* i) { return mayReleaseLock(*i); };
    if (meeting == block->instructions.end() || std::none_of(block->instructions.begin(), meeting, isRelease)) continue;
    Block* rest = function.addBlock();
    rest->instructions.assign(meeting, block->instructions.end());
    rest->terminator = std::move(block->terminator);
    block->instructions.erase(meeting, block->instructions.end());
    block->terminator = {ir::Terminator::Kind::Branch, nullptr, {rest}, {}};
  }
}

bool gatherFirstTries(ir::Function& function, const LoopForest& forest) {
  if (!takesLocks(function)) return false;
  const std::vector<std::vector<Block*>> bodies = bodiesOf(function, forest);
  const Places places(function);
  bool changed = false;
  function.computePredecessors();
  for (uint32_t loop = 0; loop < bodies.size(); ++loop) {
    const std::vector<Place> locks = locksOf(bodies[loop], places);
    if (locks.empty()) continue;
    const LoopForest::Loop& spin = forest.loops[loop];
    // The block before the loop, and before what only prepares it.
    Block* before = nullptr;
    for (Block* from : spin.header->predecessors)
      if (!forest.contains(loop, from)) before = before ? nullptr : from;
    while (before && before->terminator.kind == ir::Terminator::Kind::Branch && !isConvergent(*before) &&
           before->predecessors.size() == 1)
      before = before->predecessors.front();
    if (!before || before->terminator.kind != ir::Terminator::Kind::Conditional || isConvergent(*before) ||
        forest.loopOf(before) != spin.parent)
      continue;
    const std::optional<size_t> start = findTaking(before, bodies[loop], locks, places);
    if (!start) continue;
    prependRound(function, before, *start, spin.header);
    function.computePredecessors();
    changed = true;
  }
  return changed;
}

bool isOrderedLoad(const Instruction& instruction) {
  if (instruction.op == Op::Load) return instruction.memory.isVolatile || instruction.memory.order != ir::Order::Weak;
  const auto isAlways = [&](uint64_t value) {
    const Instruction& operand = *instruction.operands[1];
    return operand.isConstant() && operand.payload == value;
  };
  switch (instruction.op) {
    case Op::AtomicAdd:
    case Op::AtomicSub:
    case Op::AtomicOr:
    case Op::AtomicXor:
    case Op::AtomicUMax: return !instruction.type.isFloat() && isAlways(0);
    case Op::AtomicAnd:
    case Op::AtomicUMin: return isAlways(instruction.type.bits == 64 ? UINT64_MAX : UINT32_MAX);
    case Op::AtomicCas:
      return instruction.operands[1] == instruction.operands[2] ||
             (instruction.operands[2]->isConstant() && isAlways(instruction.operands[2]->payload));
    default: return false;
  }
}

bool isPartBarrier(const Instruction* instruction) {
  return instruction->op == Op::WarpBarrier && instruction->payload != 0;
}

bool mayBeOrderedLoad(const Instruction& instruction) {
  if (isOrderedLoad(instruction)) return true;
  return ir::isAtomic(instruction.op) && !instruction.type.isFloat() && !instruction.operands[1]->isConstant();
}

bool mayEndWait(const Block& block, const std::vector<const Instruction*>& loads) {
  return std::any_of(block.instructions.begin(), block.instructions.end(), [&](const Instruction* write) {
    if (!mayReleaseLock(*write)) return false;
    const bool isStore = write->op == Op::Store;
    if (isStore && !write->memory.isVolatile && write->memory.order == ir::Order::Weak) return false;
    const ir::Type type = isStore ? write->operands[1]->type : write->type;
    return std::any_of(loads.begin(), loads.end(), [&](const Instruction* load) {
      return load->type == type && load->memory.space == write->memory.space;
    });
  });
}

// Those of which `isMeant` says so, given the blocks of the innermost loop around them.
template <class IsMeant>
std::unordered_set<const Instruction*> accessesInLoops(ir::Function& function, const IsMeant& isMeant) {
  separateEntry(function);
  if (!takesLocks(function)) return {};
  const Places places(function);
  const LoopForest forest = findLoops(function);
  const std::vector<std::vector<Block*>> bodies = bodiesOf(function, forest);
  std::unordered_set<const Instruction*> accesses;
  for (uint32_t loop = 0; loop < bodies.size(); ++loop)
    for (const Block* block : bodies[loop])
      for (const Instruction* instruction : block->instructions)
        if (takesLock(*instruction) && forest.loopOf(block) == loop && isMeant(*instruction, bodies[loop], places))
          accesses.insert(instruction);
  return accesses;
}

std::unordered_set<const Instruction*> accessesThatWait(ir::Function& function) {
  return accessesInLoops(function,
                         [](const Instruction& access, const std::vector<Block*>& body, const Places& places) {
                           return !isRetried(access, body, places) && isLeftBy(body, {&access});
                         });
}

std::unordered_set<const Instruction*> retriedSwaps(ir::Function& function) {
  return accessesInLoops(function, isRetried);
}

bool holdLocksAtPartBarriers(ir::Function& function) {
  separateEntry(function);
  const LoopForest forest = findLoops(function);
  const std::vector<std::vector<Block*>> bodies = bodiesOf(function, forest);
  const Places places(function);
  for (uint32_t loop = 0; loop < bodies.size(); ++loop) {
    const std::vector<Place> locks = locksOf(bodies[loop], places);
    if (locks.empty() || !waitingLoads(bodies[loop]).empty()) continue;
    const auto endsHolding = [&](const Instruction* i) {
      return i->op == Op::Barrier || (mayReleaseLock(*i) && isAtOneOf(locks, *i, places));
    };
    std::vector<const Block*> work;
    std::unordered_set<const Block*> seen(bodies[loop].begin(), bodies[loop].end());
    const auto follow = [&](const Block* block) {
      for (const Block* target : block->terminator.targets)
        if (seen.insert(target).second) work.push_back(target);
    };
    for (const Block* block : bodies[loop]) follow(block);
    while (!work.empty()) {
      const Block* block = work.back();
      work.pop_back();
      const auto end = std::ranges::find_if(block->instructions, endsHolding);
      if (std::any_of(block->instructions.begin(), end, isPartBarrier)) return true;
      if (end == block->instructions.end()) follow(block);
    }
  }
  return false;
}

void extendSpinLoops(ir::Function& function, LoopForest& forest, const JoinedWaits& joined) {
  if (takesLocks(function)) SpinLoops(function, forest, joined).run();
}

}  // namespace mulciber::passes
