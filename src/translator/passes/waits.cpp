#include "translator/passes/waits.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "translator/passes/loop_forest.h"
#include "translator/passes/spin_loops.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;

bool mayBeOfBlock(const Instruction& load, const ir::Program& program) {
  switch (load.memory.space) {
    case ir::Space::Shared: return true;
    case ir::Space::Generic: return program.hasGenericShared || load.memory.scope <= ir::Scope::Block;
    default: return load.memory.order != ir::Order::Weak && load.memory.scope <= ir::Scope::Block;
  }
}

// A lock of the LaunchState, under which wide atomic operations are done (lower/atomic_locks.h): whoever has it gives
// it back before it stops. With a yield at each try, lanes that keep trying would take it from the others for ever.
bool takesOwnLock(const Instruction& access) {
  if (access.op != Op::AtomicCas || access.operands[0]->op != Op::Add) return false;
  const Instruction* locks = access.operands[0]->operands[0];
  if (locks->op != Op::Load || locks->operands[0]->op != Op::Add) return false;
  const Instruction* state = locks->operands[0]->operands[0];
  return state->op == Op::Input && ir::InputKind(state->payload) == ir::InputKind::LaunchState;
}

// The functions that a loop may call in each of its rounds, directly or through others.
std::unordered_set<const ir::Function*> functionsOfLoops(const ir::Program& program) {
  std::unordered_set<const ir::Function*> found;
  std::vector<const ir::Function*> work;
  std::unordered_map<const ir::Function*, std::vector<const ir::Function*>> callees;
  const auto add = [&](const ir::Function* function) {
    if (found.insert(function).second) work.push_back(function);
  };
  for (const auto& function : program.functions) {
    const LoopForest forest = findLoops(*function);
    for (const Block* block : function->blocks)
      for (const Instruction* instruction : block->instructions) {
        if (instruction->op != Op::Call) continue;
        callees[function.get()].push_back(instruction->callee);
        if (forest.loopOf(block) != LoopForest::none || instruction->callee == function.get()) add(instruction->callee);
      }
  }
  while (!work.empty()) {
    const ir::Function* caller = work.back();
    work.pop_back();
    for (const ir::Function* callee : callees[caller]) add(callee);
  }
  return found;
}

void insertYield(ir::Function& function, Block* block, size_t at) {
  Instruction* yield = function.create(Op::Yield, ir::Void);
  if (at < block->instructions.size()) yield->source = block->instructions[at]->source;
  block->instructions.insert(block->instructions.begin() + static_cast<std::ptrdiff_t>(at), yield);
}

// Before those of the accesses that wait which `isMeant` tells. What `mayWait` tells of a function that is called
// counts too: a loop around its call may wait by it. There one yield in each call is enough.
template <class IsMeant, class MayWait>
void yieldBefore(ir::Program& program, const IsMeant& isMeant, const MayWait& mayWait) {
  std::optional<std::unordered_set<const ir::Function*>> ofLoops;
  for (const auto& function : program.functions) {
    const auto waits = accessesThatWait(*function);
    std::optional<LoopForest> forest;
    const auto isInLoop = [&](const Block* block) {
      if (!forest) forest = findLoops(*function);
      return forest->loopOf(block) != LoopForest::none;
    };
    bool waitsInCaller = false;
    for (Block* block : function->blocks)
      for (size_t i = 0; i < block->instructions.size(); ++i) {
        const Instruction& access = *block->instructions[i];
        if (takesOwnLock(access)) continue;
        if (!waits.contains(&access) || !isMeant(access)) {
          if (function->isKernel || !mayWait(access)) continue;
          if (!isInLoop(block)) {
            waitsInCaller = true;
            continue;
          }
        }
        insertYield(*function, block, i++);
      }
    if (!waitsInCaller) continue;
    if (!ofLoops) ofLoops = functionsOfLoops(program);
    if (ofLoops->contains(function.get())) insertYield(*function, function->blocks.front(), 0);
  }
}

bool hasYields(const ir::Program& program) {
  return std::ranges::any_of(program.functions, [](const auto& function) {
    return std::ranges::any_of(function->blocks, [](const Block* block) {
      return std::ranges::find(block->instructions, Op::Yield, &Instruction::op) != block->instructions.end();
    });
  });
}

}  // namespace

bool yieldInWaits(ir::Program& program, bool lanesWait) {
  yieldBefore(
      program,
      [&](const Instruction& access) { return isOrderedLoad(access) && (lanesWait || mayBeOfBlock(access, program)); },
      [&](const Instruction& access) { return lanesWait && mayBeOrderedLoad(access); });
  return hasYields(program);
}

void yieldInLocks(ir::Program& program) {
  yieldBefore(
      program, [](const Instruction& access) { return !isOrderedLoad(access); },
      [](const Instruction& access) {
        return access.op == Op::AtomicExchange || (access.op == Op::AtomicCas && !isOrderedLoad(access));
      });
}

}  // namespace mulciber::passes
