#include "translator/passes/scratch.h"

#include <cstddef>

#include "mulciber/kernel_abi.h"
#include "translator/ir/builder.h"

namespace mulciber::passes {
namespace {

// With 32 lanes lavapipe compiles 32 in half a second, and 100 in three.
constexpr uint32_t mostComputedWords = 48;

using ir::Block;
using ir::InputKind;
using ir::Instruction;
using ir::Op;

// Where each memory begins; null for what stays where it is.
struct Bases {
  Instruction* shared = nullptr;
  Instruction* local = nullptr;

  Instruction* of(const Instruction& access) const {
    if (!ir::hasAddress(access.op)) return nullptr;
    if (access.memory.space == ir::Space::Shared) return shared;
    return access.memory.space == ir::Space::Local ? local : nullptr;
  }
};

// Computes them at the start of the function.
class BaseBuilder {
 public:
  explicit BaseBuilder(ir::Function& function) : function_(function), b_(function, &start_) {}

  Bases build(bool movesShared, bool movesLocal) {
    Instruction* block = member(offsetof(abi::LaunchState, scratch));
    constexpr InputKind position[] = {InputKind::BlockIdX, InputKind::BlockIdY, InputKind::BlockIdZ};
    for (size_t i = 0; i < 3; ++i)
      block = b_.add(block, b_.mul(wide(position[i]), member(offsetof(abi::LaunchState, scratchStride) + 8 * i)));
    Bases bases;
    Instruction* shared = block;
    if (movesLocal) {
      Instruction* bytes = threadBytes();
      bases.local = b_.add(block, b_.mul(wide(InputKind::LocalIndex), bytes));
      for (InputKind dimension : {InputKind::BlockDimX, InputKind::BlockDimY, InputKind::BlockDimZ})
        bytes = b_.mul(bytes, wide(dimension));
      shared = b_.add(block, bytes);
    }
    if (movesShared) bases.shared = shared;
    auto& entry = function_.blocks.front()->instructions;
    entry.insert(entry.begin(), start_.instructions.begin(), start_.instructions.end());
    return bases;
  }

 private:
  Instruction* wide(InputKind kind) { return b_.convert(Op::ZExt, ir::I64, b_.input(kind)); }

  Instruction* member(size_t offset) {
    ir::MemoryAccess access;
    access.space = ir::Space::Global;
    access.alignment = 8;
    access.isReadOnly = true;
    return b_.load(ir::I64, b_.add(b_.input(InputKind::LaunchState), b_.i64(offset)), access);
  }

  Instruction* threadBytes() {
    Instruction* fixed = b_.i64(abi::scratchThreadBytes(function_.localBytes, 0, 0));
    if (function_.stackCount == 0) return fixed;
    return b_.add(fixed, b_.mul(wide(InputKind::StackBytes), b_.i64(function_.stackCount)));
  }

  ir::Function& function_;
  Block start_;
  ir::Builder b_;
};

// Words that accesses of private memory at computed places touch.
uint32_t computedWords(const ir::Function& function) {
  uint32_t words = 0;
  for (const Block* block : function.blocks)
    for (const Instruction* access : block->instructions) {
      if (!ir::hasAddress(access->op) || access->memory.space != ir::Space::Local) continue;
      if (access->operands[0]->isConstant()) continue;
      const ir::Type type = access->op == Op::Store ? access->operands[1]->type : access->type;
      words += (type.totalBits() + 31) / 32;
    }
  return words;
}

}  // namespace

bool Scratch::run(ir::Function& function, PassContext& context) {
  ir::Program& program = context.program;
  const TargetProfile& profile = context.profile;
  program.sharedInScratch = context.options.sharedInScratch || program.sharedBytes > profile.maxSharedBytes;
  program.localInScratch = context.options.localInScratch || function.localBytes > profile.maxLocalBytes ||
                           (profile.slowPrivateArrays && computedWords(function) > mostComputedWords);
  if (!program.sharedInScratch && !program.localInScratch) return false;
  const Bases bases = BaseBuilder(function).build(program.sharedInScratch, program.localInScratch);
  for (Block* block : function.blocks) {
    std::vector<Instruction*> rewritten;
    rewritten.reserve(block->instructions.size());
    for (Instruction* instruction : block->instructions) {
      if (Instruction* base = bases.of(*instruction)) {
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
