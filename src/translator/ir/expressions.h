// Instructions told apart by what they compute, for finding two that compute the same.
#pragma once

#include "translator/ir/ir.h"

namespace mulciber::ir {

// Gives the same for the same operands at any place of the kernel: pure operations, and loads of what does not change.
inline bool isExpression(const Instruction& instruction) {
  if (instruction.op != Op::Load) return isPure(instruction.op) && instruction.op != Op::Undef;
  const MemoryAccess& memory = instruction.memory;
  if (memory.isVolatile || memory.order != Order::Weak) return false;
  return memory.space == Space::Param || memory.isReadOnly;
}

struct ExpressionHash {
  size_t operator()(const Instruction* instruction) const {
    size_t hash = static_cast<size_t>(instruction->op) * 31 + instruction->type.bits;
    auto mix = [&](uint64_t value) { hash = (hash ^ value) * 0x9E37'79B9'7F4A'7C15ull; };
    mix(instruction->payload);
    for (const Instruction* operand : instruction->operands) mix(operand->id);
    return hash ^ hash >> 29;
  }
};

struct SameExpression {
  bool operator()(const Instruction* a, const Instruction* b) const {
    return a->op == b->op && a->type == b->type && a->payload == b->payload && a->fp == b->fp &&
           a->operands == b->operands && (a->op != Op::Load || isSameAccess(a->memory, b->memory));
  }

 private:
  static bool isSameAccess(const MemoryAccess& a, const MemoryAccess& b) {
    return a.space == b.space && a.alignment == b.alignment;
  }
};

}  // namespace mulciber::ir
