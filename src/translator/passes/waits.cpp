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

// Before those of the accesses that wait which `isMeant` tells. With `inCalls` what a function looks at counts too, as
// a loop around its call may wait by it.
template <class IsMeant>
void yieldBefore(ir::Program& program, bool inCalls, const IsMeant& isMeant) {
  for (const auto& function : program.functions) {
    auto waits = accessesThatWait(*function);
    if (inCalls && !function->isKernel)
      for (const Block* block : function->blocks)
        for (const Instruction* i : block->instructions)
          if (isOrderedLoad(*i)) waits.insert(i);
    for (Block* block : function->blocks)
      for (size_t i = 0; i < block->instructions.size(); ++i) {
        const Instruction* access = block->instructions[i];
        if (!waits.contains(access) || !isMeant(*access)) continue;
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
  yieldBefore(program, lanesWait, [&](const Instruction& access) {
    return isOrderedLoad(access) && (lanesWait || mayBeOfBlock(access, program));
  });
  return hasYields(program);
}

void yieldInLocks(ir::Program& program) {
  yieldBefore(program, false, [](const Instruction& access) { return !isOrderedLoad(access); });
}

}  // namespace mulciber::passes
