#include "translator/passes/waits.h"

#include <algorithm>

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

// Before those of the accesses that wait which `isMeant` tells. What `mayWait` tells of a function that is called
// counts too: a loop around its call may wait by it.
template <class IsMeant, class MayWait>
void yieldBefore(ir::Program& program, const IsMeant& isMeant, const MayWait& mayWait) {
  for (const auto& function : program.functions) {
    const auto waits = accessesThatWait(*function);
    const auto needsYield = [&](const Instruction& i) {
      return ((waits.contains(&i) && isMeant(i)) || (!function->isKernel && mayWait(i))) && !takesOwnLock(i);
    };
    for (Block* block : function->blocks)
      for (size_t i = 0; i < block->instructions.size(); ++i) {
        const Instruction* access = block->instructions[i];
        if (!needsYield(*access)) continue;
        Instruction* yield = function->create(Op::Yield, ir::Void);
        yield->source = access->source;
        block->instructions.insert(block->instructions.begin() + static_cast<std::ptrdiff_t>(i++), yield);
      }
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
