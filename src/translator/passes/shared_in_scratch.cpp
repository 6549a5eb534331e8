#include "translator/passes/shared_in_scratch.h"

#include <cstddef>

#include "mulciber/kernel_abi.h"
#include "translator/ir/builder.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;

bool isSharedAccess(const Instruction& instruction) {
  bool isAccess = instruction.op == Op::Load || instruction.op == Op::Store ||
                  (instruction.op >= Op::AtomicAdd && instruction.op <= Op::AtomicFMax);
  return isAccess && instruction.memory.space == ir::Space::Shared;
}

// Where the block's memory begins, computed at the start of the function.
Instruction* addressOfBlock(ir::Function& function) {
  Block start;
  ir::Builder b(function, &start);
  auto member = [&](size_t offset) {
    ir::MemoryAccess access;
    access.space = ir::Space::Global;
    access.alignment = 8;
    access.isReadOnly = true;
    return b.load(ir::I64, b.add(b.input(ir::InputKind::LaunchState), b.i64(offset)), access);
  };
  Instruction* address = member(offsetof(abi::LaunchState, scratch));
  constexpr ir::InputKind position[] = {ir::InputKind::BlockIdX, ir::InputKind::BlockIdY, ir::InputKind::BlockIdZ};
  for (size_t i = 0; i < 3; ++i) {
    Instruction* stride = member(offsetof(abi::LaunchState, scratchStride) + 8 * i);
    address = b.add(address, b.mul(b.convert(Op::ZExt, ir::I64, b.input(position[i])), stride));
  }
  auto& entry = function.blocks.front()->instructions;
  entry.insert(entry.begin(), start.instructions.begin(), start.instructions.end());
  return address;
}

}  // namespace

bool SharedInScratch::run(ir::Function& function, PassContext& context) {
  if (!context.options.sharedInScratch && context.program.sharedBytes <= context.profile.maxSharedBytes) return false;
  context.program.usesScratch = true;
  Instruction* base = addressOfBlock(function);
  for (Block* block : function.blocks) {
    std::vector<Instruction*> rewritten;
    rewritten.reserve(block->instructions.size());
    for (Instruction* instruction : block->instructions) {
      if (isSharedAccess(*instruction)) {
        Instruction* offset = function.create(Op::ZExt, ir::I64, {{instruction->operands[0]}});
        Instruction* address = function.create(Op::Add, ir::I64, {{base, offset}});
        rewritten.insert(rewritten.end(), {offset, address});
        instruction->operands[0] = address;
        instruction->memory.space = ir::Space::Global;
      }
      rewritten.push_back(instruction);
    }
    block->instructions = std::move(rewritten);
  }
  return true;
}

}  // namespace mulciber::passes
