#include "translator/passes/spin_loops.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "translator/analyses/same_values.h"
#include "translator/ir/dominators.h"
#include "translator/passes/control_flow.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;

// What an address is made of, as far as two of them can be seen to be equal. Functions that take locks and let them go
// have the lock's address in registers of their own.
struct Place {
  const Instruction* root;
  uint64_t offset;

  bool operator==(const Place& other) const {
    if (offset != other.offset) return false;
    return root == other.root ||
           (root->op == Op::ReadVar && other.root->op == Op::ReadVar && root->payload == other.root->payload);
  }
};

class Places {
 public:
  explicit Places(const ir::Function& function)
      : values_(function, ir::DominatorTree(function), addressesAndOperands(function)) {}

  bool isConstant(Instruction& value) const { return values_.leader(&value)->isConstant(); }

  Place of(const Instruction& access) const {
    const Instruction* address = values_.leader(access.operands[0]);
    uint64_t offset = 0;
    while (address->op == Op::Add && address->operands[1]->isConstant()) {
      offset += address->operands[1]->payload;
      address = address->operands[0];
    }
    return {address, offset};
  }

 private:
  static std::vector<Instruction*> addressesAndOperands(const ir::Function& function) {
    std::vector<Instruction*> result;
    for (const Block* block : function.blocks)
      for (const Instruction* i : block->instructions)
        if (ir::hasAddress(i->op) || i->op == Op::WriteVar)
          result.insert(result.end(), i->operands.begin(), i->operands.end());
    return result;
  }

  const analyses::SameValues values_;
};

// Compare-and-swap, exchange, or a load that waits for others, such as that of a ticket lock.
bool takesLock(const Instruction& instruction) {
  return isOrderedLoad(instruction) || instruction.op == Op::AtomicCas || instruction.op == Op::AtomicExchange;
}

bool takesLocks(const ir::Function& function) {
  return std::ranges::any_of(function.blocks, [](const Block* block) {
    return std::ranges::any_of(block->instructions, [](const Instruction* i) { return takesLock(*i); });
  });
}

bool mayReleaseLock(const Instruction& instruction) {
  if (instruction.op == Op::Store) return true;
  return ir::isAtomic(instruction.op) && !instruction.type.isFloat() && !isOrderedLoad(instruction);
}

// The blocks of each loop, those of loops inside it too.
std::vector<std::vector<Block*>> bodiesOf(const ir::Function& function, const LoopForest& forest) {
  std::vector<std::vector<Block*>> bodies(forest.loops.size());
  for (Block* block : function.blocks)
    for (uint32_t loop = forest.loopOf(block); loop != LoopForest::none; loop = forest.loops[loop].parent)
      bodies[loop].push_back(block);
  return bodies;
}

// Code that was compiled without optimisation keeps what it has loaded in private memory.
bool isOfPrivate(const Instruction& access) {
  return access.memory.space == ir::Space::Local || access.memory.space == ir::Space::Generic;
}

// Whether the loop is left by what is made of one of the values.
bool isLeftBy(const std::vector<Block*>& body, std::unordered_set<const Instruction*> tainted) {
  std::unordered_set<uint64_t> taintedVariables;
  bool isMemoryTainted = false;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Block* block : body)
      for (const Instruction* instruction : block->instructions) {
        bool isTainted = instruction->op == Op::ReadVar && taintedVariables.contains(instruction->payload);
        isTainted |= instruction->op == Op::Load && isMemoryTainted && isOfPrivate(*instruction);
        if (instruction->op == Op::Store && isOfPrivate(*instruction) && tainted.contains(instruction->operands[1])) {
          changed |= !isMemoryTainted;
          isMemoryTainted = true;
        }
        for (const Instruction* operand : instruction->operands) isTainted |= tainted.contains(operand);
        if (!isTainted) continue;
        changed |= tainted.insert(instruction).second;
        if (instruction->op == Op::WriteVar) changed |= taintedVariables.insert(instruction->payload).second;
        for (const ir::VariableId result : instruction->results) changed |= taintedVariables.insert(result).second;
      }
  }
  std::unordered_set<const Block*> inside(body.begin(), body.end());
  for (const Block* block : body) {
    const auto& targets = block->terminator.targets;
    bool leaves = std::any_of(targets.begin(), targets.end(), [&](Block* target) { return !inside.contains(target); });
    if (leaves && block->terminator.value && tainted.contains(block->terminator.value)) return true;
  }
  return false;
}

// Whether a register that is read was given a constant before in the same block, and nothing since.
bool isSetBefore(const Instruction& read, const std::vector<Block*>& body, const Places& places) {
  for (const Block* block : body) {
    Instruction* held = nullptr;
    for (const Instruction* i : block->instructions) {
      if (i == &read) return held && places.isConstant(*held);
      if (i->op == Op::WriteVar && i->payload == read.payload) held = i->operands[0];
    }
  }
  return false;
}

// A compare-and-swap that is tried again with what it found, as atomic operations are made of it: nobody has to release
// anything for it to succeed.
bool isRetried(const Instruction& swap, const std::vector<Block*>& body, const Places& places) {
  if (swap.op != Op::AtomicCas) return false;
  Instruction* expected = swap.operands[1];
  if (expected->op != Op::ReadVar || places.isConstant(*expected) || isSetBefore(*expected, body, places)) return false;
  return std::ranges::any_of(body, [&](const Block* block) {
    return std::ranges::any_of(block->instructions, [&](const Instruction* write) {
      return write->op == Op::WriteVar && write->payload == expected->payload &&
             !places.isConstant(*write->operands[0]);
    });
  });
}

// The addresses of accesses on whose results the loop is left.
std::vector<Place> locksOf(const std::vector<Block*>& body, const Places& places) {
  std::unordered_set<const Instruction*> accesses;
  std::vector<Place> locks;
  for (const Block* block : body)
    for (const Instruction* instruction : block->instructions)
      if (takesLock(*instruction) && !isRetried(*instruction, body, places)) {
        accesses.insert(instruction);
        locks.push_back(places.of(*instruction));
      }
  if (locks.empty() || !isLeftBy(body, std::move(accesses))) return {};
  return locks;
}

bool isAtOneOf(const std::vector<Place>& locks, const Instruction& access, const Places& places) {
  return std::ranges::find(locks, places.of(access)) != locks.end();
}

// Where in a block one of the locks is taken for the first time.
std::optional<size_t> findTaking(const Block& block, const std::vector<Place>& locks, const Places& places) {
  for (size_t i = 0; i < block.instructions.size(); ++i)
    if (takesLock(*block.instructions[i]) && isAtOneOf(locks, *block.instructions[i], places)) return i;
  return std::nullopt;
}

bool releases(const Block& block, const std::vector<Place>& locks, const Places& places) {
  return std::ranges::any_of(block.instructions, [&](const Instruction* instruction) {
    return mayReleaseLock(*instruction) && isAtOneOf(locks, *instruction, places);
  });
}

// Loads that wait for others, of a loop without a compare-and-swap or an exchange.
std::vector<const Instruction*> waitingLoads(const std::vector<Block*>& body) {
  std::vector<const Instruction*> loads;
  for (const Block* block : body)
    for (const Instruction* instruction : block->instructions) {
      if (isOrderedLoad(*instruction)) loads.push_back(instruction);
      else if (takesLock(*instruction)) return {};
    }
  return loads;
}

// Whether the same writes may end both waits: see mayEndWait().
bool waitAlike(const Instruction& load, const Instruction& other) {
  return load.type == other.type && load.memory.space == other.memory.space;
}

bool isConvergent(const Block& block) {
  return std::any_of(block.instructions.begin(), block.instructions.end(),
                     [](const Instruction* instruction) { return ir::isConvergent(instruction->op); });
}

bool isForWholeWarps(const std::vector<Block*>& body) {
  return std::any_of(body.begin(), body.end(), [](const Block* block) {
    return std::any_of(block->instructions.begin(), block->instructions.end(), [](const Instruction* instruction) {
      return ir::isConvergent(instruction->op) && instruction->op != Op::Yield;
    });
  });
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
  SpinLoops(ir::Function& function, LoopForest& forest) : function_(function), forest_(forest), places_(function) {}

  void run() {
    const std::vector<std::vector<Block*>> bodies = bodiesOf(function_, forest_);
    std::vector<bool> areForWholeWarps;
    for (const std::vector<Block*>& body : bodies) areForWholeWarps.push_back(isForWholeWarps(body));
    std::vector<std::vector<const Instruction*>> waitsInside(bodies.size());
    for (uint32_t loop = 0; loop < bodies.size(); ++loop) {
      const std::vector<Place> locks = locksOf(bodies[loop], places_);
      if (locks.empty()) continue;
      extend(loop, bodies[loop], [&](const Block& block) { return releases(block, locks, places_); });
      const std::vector<const Instruction*> waits = waitingLoads(bodies[loop]);
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
        extend(outer, bodies[outer], [&](const Block& block) { return mayEndWait(block, added); });
      }
    }
  }

 private:
  // The blocks that only threads from the loop reach, and from which control can still come to a release.
  template <class Releases>
  void extend(uint32_t loop, const std::vector<Block*>& body, Releases isRelease) {
    if (!tree_) {
      tree_.emplace(function_);
      function_.computePredecessors();
      for (Block* block : function_.blocks)
        if (std::ranges::any_of(block->instructions, [](const Instruction* i) { return mayReleaseLock(*i); }))
          releasing_.push_back(block);
    }
    const std::unordered_set<const Block*> inside(body.begin(), body.end());
    const Block* header = forest_.loops[loop].header;
    uint32_t parent = forest_.loops[loop].parent;
    auto mayJoin = [&](const Block* block) {
      return tree_->dominates(header, block) && !inside.contains(block) && forest_.contains(parent, block) &&
             (parent == LoopForest::none || forest_.loops[parent].header != block);
    };
    std::vector<Block*> work;
    std::unordered_set<const Block*> added;
    auto add = [&](Block* block) {
      if (mayJoin(block) && added.insert(block).second) work.push_back(block);
    };
    for (Block* block : releasing_)
      if (isRelease(*block)) add(block);
    std::vector<Block*> blocks;
    while (!work.empty()) {
      Block* block = work.back();
      work.pop_back();
      blocks.push_back(block);
      if (isConvergent(*block)) return;  // all threads are meant to be there
      for (Block* from : block->predecessors) add(from);
    }
    for (Block* block : blocks) take(loop, block);
    for (Block* block : blocks) moveReturnOut(parent, block);
    forest_.loops[loop].releasesLock |= !blocks.empty();
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
  const Places places_;
  std::optional<ir::DominatorTree> tree_;
  std::vector<Block*> releasing_;  // as the tree, made when a loop is to be extended
};

// Whether threads come to the later loop only from the earlier one, past a release of what both wait for and past
// nothing for which all threads are meant to be there.
bool followsRelease(const ir::DominatorTree& tree, const LoopForest& forest, uint32_t earlier, uint32_t later,
                    const std::vector<Place>& locks, const Places& places) {
  const Block* first = forest.loops[earlier].header;
  bool hasRelease = false;
  std::vector<const Block*> work{forest.loops[later].header};
  std::unordered_set<const Block*> seen(work.begin(), work.end());
  while (!work.empty()) {
    const Block* block = work.back();
    work.pop_back();
    if (!tree.dominates(first, block) || isConvergent(*block)) return false;
    hasRelease |= !forest.contains(later, block) && releases(*block, locks, places);
    for (const Block* from : block->predecessors) {
      if (forest.contains(earlier, from)) {
        const auto& targets = from->terminator.targets;
        if (std::find(targets.begin(), targets.end(), forest.loops[later].header) != targets.end()) return false;
      } else if (seen.insert(from).second) {
        work.push_back(from);
      }
    }
  }
  return hasRelease;
}

// Makes two loops one, with a header that goes to either.
void joinLoops(ir::Function& function, Block* earlier, Block* later) {
  Block* header = function.addBlock();
  Selector stage(function, 2);
  for (size_t choice : {0, 1}) {
    Block* old = choice == 0 ? earlier : later;
    for (Block* from : old->predecessors) {
      stage.set(from, choice);
      redirect(*from, old, header);
    }
  }
  stage.dispatch(header, {earlier, later});
}

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

bool joinWaits(ir::Function& function, const LoopForest& forest) {
  const std::vector<std::vector<Block*>> bodies = bodiesOf(function, forest);
  struct Wait {
    uint32_t loop;
    std::vector<Place> locks;
    bool isJoined = false;
  };
  std::vector<Wait> waits;
  for (uint32_t loop = 0; loop < bodies.size(); ++loop)
    if (!waitingLoads(bodies[loop]).empty()) waits.push_back({loop, {}});
  if (waits.size() < 2) return false;
  const Places places(function);
  for (Wait& wait : waits) wait.locks = locksOf(bodies[wait.loop], places);
  std::erase_if(waits, [](const Wait& wait) { return wait.locks.empty(); });
  if (waits.size() < 2) return false;
  function.computePredecessors();
  const ir::DominatorTree tree(function);
  // Joining two loops changes nothing between two others beside them, so as many pairs as there are go together.
  std::optional<uint32_t> parent;
  for (Wait& earlier : waits)
    for (Wait& later : waits) {
      const uint32_t around = forest.loops[earlier.loop].parent;
      if (earlier.isJoined || later.isJoined || &earlier == &later || around != forest.loops[later.loop].parent ||
          around != parent.value_or(around))
        continue;
      std::vector<Place> shared;
      for (const Place& place : later.locks)
        if (std::ranges::find(earlier.locks, place) != earlier.locks.end()) shared.push_back(place);
      if (shared.empty() || !followsRelease(tree, forest, earlier.loop, later.loop, shared, places)) continue;
      joinLoops(function, forest.loops[earlier.loop].header, forest.loops[later.loop].header);
      earlier.isJoined = later.isJoined = true;
      parent = around;
    }
  return parent.has_value();
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
    const std::optional<size_t> start = findTaking(*before, locks, places);
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

void extendSpinLoops(ir::Function& function, LoopForest& forest) {
  if (takesLocks(function)) SpinLoops(function, forest).run();
}

}  // namespace mulciber::passes
