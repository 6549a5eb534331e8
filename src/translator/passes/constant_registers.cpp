#include "translator/passes/constant_registers.h"

#include <vector>

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;

// Registers are mostly written in front of where they are read, so that one round finds whole chains of copies.
constexpr unsigned mostRounds = 8;

struct Register {
  unsigned writes = 0;
  const Instruction* value = nullptr;
};

}  // namespace

bool useConstantRegisters(ir::Function& function) {
  std::vector<Register> registers(function.variables.size());
  for (const ir::Block* block : function.blocks)
    for (const Instruction* i : block->instructions) {
      if (i->op == Op::WriteVar) {
        ++registers[i->payload].writes;
        registers[i->payload].value = i->operands[0];
      }
      for (const ir::VariableId result : i->results) registers[result].writes = 2;  // of calls
    }
  bool changed = false;
  for (unsigned round = 0; round < mostRounds; ++round) {
    bool hasMore = false;
    for (const ir::Block* block : function.blocks)
      for (Instruction* i : block->instructions) {
        if (i->op != Op::ReadVar) continue;
        // What is read before it is written may be anything.
        const Register& read = registers[i->payload];
        if (read.writes != 1 || !read.value->isConstant()) continue;
        i->op = Op::Constant;
        i->payload = read.value->payload;
        hasMore = true;
      }
    if (!hasMore) break;
    changed = true;
  }
  return changed;
}

bool ConstantRegisters::run(ir::Function& function, PassContext&) { return useConstantRegisters(function); }

}  // namespace mulciber::passes
