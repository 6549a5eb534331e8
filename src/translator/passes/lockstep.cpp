#include "translator/passes/lockstep.h"

#include "translator/ir/builder.h"
#include "translator/passes/spin_loops.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;

bool isVolatileOfBlock(const Instruction& i, const ir::Program& program) {
  if ((i.op != Op::Load && i.op != Op::Store) || !i.memory.isVolatile) return false;
  return i.memory.space == ir::Space::Shared || (i.memory.space == ir::Space::Generic && program.hasGenericShared);
}

}  // namespace

bool keepVolatileInStep(ir::Program& program) {
  bool changed = false;
  for (const auto& function : program.functions) {
    const auto waits = accessesThatWait(*function);
    for (Block* block : function->blocks) {
      Block stepped;
      ir::Builder b(*function, &stepped);
      bool followsLoad = false;
      for (Instruction* i : block->instructions) {
        if (isVolatileOfBlock(*i, program) && !waits.contains(i)) {
          const bool isLoad = i->op == Op::Load;
          if (!isLoad || !followsLoad) {
            b.setSource(i->source);
            b.emit(Op::Expect, ir::Void, {b.i32(0)});
            b.emit(Op::WarpBarrier, ir::Void, {});
            changed = true;
          }
          followsLoad = isLoad;
        } else if (ir::hasSideEffects(i->op) && i->op != Op::WriteVar) {
          followsLoad = false;
        }
        stepped.instructions.push_back(i);
      }
      block->instructions = std::move(stepped.instructions);
    }
  }
  return changed;
}

}  // namespace mulciber::passes
