#include "translator/passes/lock_accesses.h"

#include <algorithm>

#include "translator/ir/dominators.h"
#include "translator/passes/spin_loops.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;

std::vector<Instruction*> addressesAndOperands(const ir::Function& function) {
  std::vector<Instruction*> result;
  for (const Block* block : function.blocks)
    for (const Instruction* i : block->instructions)
      if (ir::hasAddress(i->op) || i->op == Op::WriteVar)
        result.insert(result.end(), i->operands.begin(), i->operands.end());
  return result;
}

// Code that was compiled without optimisation keeps what it has loaded in private memory.
bool isOfPrivate(const Instruction& access) {
  return access.memory.space == ir::Space::Local || access.memory.space == ir::Space::Generic;
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

}  // namespace

bool Place::operator==(const Place& other) const {
  if (offset != other.offset) return false;
  return root == other.root ||
         (root->op == Op::ReadVar && other.root->op == Op::ReadVar && root->payload == other.root->payload);
}

Places::Places(const ir::Function& function)
    : values_(function, ir::DominatorTree(function), addressesAndOperands(function)) {}

Place Places::of(const Instruction& access) const {
  const Instruction* address = values_.leader(access.operands[0]);
  uint64_t offset = 0;
  while (address->op == Op::Add && address->operands[1]->isConstant()) {
    offset += address->operands[1]->payload;
    address = address->operands[0];
  }
  return {address, offset};
}

bool Places::isSame(const Instruction& one, const Instruction& other) const {
  if (one.op != other.op || of(one) != of(other)) return false;
  const auto areSame = [this](Instruction* a, Instruction* b) { return values_.leader(a) == values_.leader(b); };
  return std::equal(one.operands.begin() + 1, one.operands.end(), other.operands.begin() + 1, other.operands.end(),
                    areSame);
}

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

std::vector<std::vector<Block*>> bodiesOf(const ir::Function& function, const LoopForest& forest) {
  std::vector<std::vector<Block*>> bodies(forest.loops.size());
  for (Block* block : function.blocks)
    for (uint32_t loop = forest.loopOf(block); loop != LoopForest::none; loop = forest.loops[loop].parent)
      bodies[loop].push_back(block);
  return bodies;
}

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

bool contains(const std::vector<Place>& places, const Place& place) {
  return std::ranges::find(places, place) != places.end();
}

void addOnce(std::vector<Place>& places, const Place& place) {
  if (!contains(places, place)) places.push_back(place);
}

std::vector<const Instruction*> waitingLoads(const std::vector<Block*>& body) {
  std::vector<const Instruction*> loads;
  for (const Block* block : body)
    for (const Instruction* instruction : block->instructions) {
      if (isOrderedLoad(*instruction)) loads.push_back(instruction);
      else if (takesLock(*instruction)) return {};
    }
  return loads;
}

bool isConvergent(const Block& block) {
  return std::any_of(block.instructions.begin(), block.instructions.end(),
                     [](const Instruction* instruction) { return ir::isConvergent(instruction->op); });
}

bool hasMeeting(const Block& block) {
  return std::ranges::any_of(block.instructions, [](const Instruction* instruction) {
    return ir::isConvergent(instruction->op) && instruction->op != Op::Yield;
  });
}

}  // namespace mulciber::passes
