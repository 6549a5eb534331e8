// Instructions told apart by what they compute, for passes that look for two that compute the same.
#pragma once

#include "translator/ir/ir.h"

namespace mulciber::passes {

// Gives the same for the same operands at any place of the kernel: pure operations, and loads of what does not change.
inline bool isExpression(const ir::Instruction& instruction) {
  if (instruction.op != ir::Op::Load) return ir::isPure(instruction.op) && instruction.op != ir::Op::Undef;
  const ir::MemoryAccess& memory = instruction.memory;
  if (memory.isVolatile || memory.order != ir::Order::Weak) return false;
  return memory.space == ir::Space::Param || memory.isReadOnly;
}

struct ExpressionHash {
  size_t operator()(const ir::Instruction* instruction) const {
    size_t hash = static_cast<size_t>(instruction->op) * 31 + instruction->type.bits;
    auto mix = [&](uint64_t value) { hash = (hash ^ value) * 0x9E37'79B9'7F4A'7C15ull; };
    mix(instruction->payload);
    for (const ir::Instruction* operand : instruction->operands) mix(operand->id);
    return hash ^ hash >> 29;
  }
};

struct SameExpression {
  bool operator()(const ir::Instruction* a, const ir::Instruction* b) const {
    return a->op == b->op && a->type == b->type && a->payload == b->payload && a->fp == b->fp &&
           a->operands == b->operands && (a->op != ir::Op::Load || isSameAccess(a->memory, b->memory));
  }

 private:
  static bool isSameAccess(const ir::MemoryAccess& a, const ir::MemoryAccess& b) {
    return a.space == b.space && a.alignment == b.alignment;
  }
};

}  // namespace mulciber::passes
