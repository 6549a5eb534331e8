#include "translator/passes/waits.h"

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

}  // namespace

bool yieldInWaits(ir::Program& program) {
  bool hasYields = false;
  for (const auto& function : program.functions) {
    const auto waits = loadsThatWait(*function);
    for (Block* block : function->blocks)
      for (size_t i = 0; i < block->instructions.size(); ++i) {
        const Instruction* load = block->instructions[i];
        hasYields |= load->op == Op::Yield;
        if (!waits.contains(load) || !mayBeOfBlock(*load, program)) continue;
        Instruction* yield = function->create(Op::Yield, ir::Void);
        yield->source = load->source;
        block->instructions.insert(block->instructions.begin() + static_cast<std::ptrdiff_t>(i++), yield);
        hasYields = true;
      }
  }
  return hasYields;
}

}  // namespace mulciber::passes
