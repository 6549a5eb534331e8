// Appends instructions to a block. Constants are made where they are used; simplify merges them.
#pragma once

#include <bit>
#include <initializer_list>

#include "translator/ir/ir.h"

namespace mulciber::ir {

class Builder {
 public:
  explicit Builder(Function& function, Block* block = nullptr) : function_(function), block_(block) {}

  Function& function() { return function_; }
  Block* block() { return block_; }
  void setBlock(Block* block) { block_ = block; }
  void setSource(uint32_t source) { source_ = source; }
  uint32_t source() const { return source_; }

  // Result type from the operation's rule; emit() for operations whose type is Given.
  Instruction* emit(Op op, Type type, std::initializer_list<Instruction*> operands, uint64_t payload = 0);
  Instruction* unary(Op op, Instruction* a) { return emit(op, resultType(op, a), {a}); }
  Instruction* binary(Op op, Instruction* a, Instruction* b) { return emit(op, resultType(op, a), {a, b}); }
  Instruction* floating(Op op, FloatControl fp, std::initializer_list<Instruction*> operands);
  Instruction* convert(Op op, Type to, Instruction* value, FloatControl fp = {});

  Instruction* constant(Type type, uint64_t bits);
  Instruction* i32(uint32_t value) { return constant(I32, value); }
  Instruction* i64(uint64_t value) { return constant(I64, value); }
  Instruction* f32(float value) { return constant(F32, std::bit_cast<uint32_t>(value)); }
  Instruction* f64(double value) { return constant(F64, std::bit_cast<uint64_t>(value)); }
  Instruction* boolean(bool value) { return constant(Bool, value); }
  Instruction* undef(Type type) { return emit(Op::Undef, type, {}); }
  Instruction* input(InputKind kind);

  Instruction* add(Instruction* a, Instruction* b) { return binary(Op::Add, a, b); }
  Instruction* sub(Instruction* a, Instruction* b) { return binary(Op::Sub, a, b); }
  Instruction* mul(Instruction* a, Instruction* b) { return binary(Op::Mul, a, b); }
  Instruction* bitAnd(Instruction* a, Instruction* b) { return binary(Op::And, a, b); }
  Instruction* bitOr(Instruction* a, Instruction* b) { return binary(Op::Or, a, b); }
  Instruction* bitXor(Instruction* a, Instruction* b) { return binary(Op::Xor, a, b); }
  Instruction* bitNot(Instruction* a) { return unary(Op::Not, a); }
  Instruction* shl(Instruction* a, Instruction* amount) { return binary(Op::Shl, a, amount); }
  Instruction* lshr(Instruction* a, Instruction* amount) { return binary(Op::LShr, a, amount); }
  Instruction* ashr(Instruction* a, Instruction* amount) { return binary(Op::AShr, a, amount); }
  Instruction* compare(Op op, Instruction* a, Instruction* b) { return emit(op, Bool, {a, b}); }
  Instruction* select(Instruction* condition, Instruction* a, Instruction* b) {
    return emit(Op::Select, a->type, {condition, a, b});
  }
  Instruction* bitcast(Type to, Instruction* value);  // nothing when the type already fits
  Instruction* vector(std::span<Instruction* const> components);
  Instruction* extract(Instruction* vector, unsigned lane);

  Instruction* load(Type type, Instruction* address, MemoryAccess access);
  Instruction* store(Instruction* address, Instruction* value, MemoryAccess access);
  Instruction* read(VariableId variable);
  Instruction* write(VariableId variable, Instruction* value);

  void branch(Block* target);
  void branch(Instruction* condition, Block* ifTrue, Block* ifFalse);
  void switchOn(Instruction* value, Block* otherwise, std::span<const uint32_t> cases, std::span<Block* const> targets);
  void ret();
  void unreachable();

  static Type resultType(Op op, const Instruction* operand0);  // Same and Bool rules

 private:
  Function& function_;
  Block* block_;
  uint32_t source_ = 0;
};

}  // namespace mulciber::ir
