#include "translator/ir/builder.h"

#include <cassert>

namespace mulciber::ir {
namespace {

enum class ResultRule : uint8_t { Same, Bool, None, Given };

constexpr ResultRule resultRules[] = {
#define OPERATION(id, mnemonic, operands, result, ...) ResultRule::result,
#include "translator/ir/operations.def"
#undef OPERATION
};

}  // namespace

Type Builder::resultType(Op op, const Instruction* operand0) {
  switch (resultRules[static_cast<unsigned>(op)]) {
    case ResultRule::Same: return operand0->type;
    case ResultRule::Bool: return Bool.withLanes(operand0 ? operand0->type.lanes : 1);
    case ResultRule::None: return Void;
    case ResultRule::Given: break;
  }
  assert(false && "the type of this operation must be given");
  return Void;
}

Instruction* Builder::emit(Op op, Type type, std::initializer_list<Instruction*> operands, uint64_t payload) {
  Instruction* instruction = function_.create(op, type, {operands.begin(), operands.size()});
  instruction->payload = payload;
  instruction->source = source_;
  block_->instructions.push_back(instruction);
  return instruction;
}

Instruction* Builder::floating(Op op, FloatControl fp, std::initializer_list<Instruction*> operands) {
  Instruction* instruction = emit(op, resultType(op, *operands.begin()), operands);
  instruction->fp = fp;
  return instruction;
}

Instruction* Builder::convert(Op op, Type to, Instruction* value, FloatControl fp) {
  Instruction* instruction = emit(op, to, {value});
  instruction->fp = fp;
  return instruction;
}

Instruction* Builder::constant(Type type, uint64_t bits) {
  if (type.bits < 64) bits &= (uint64_t(1) << type.bits) - 1;
  return emit(Op::Constant, type, {}, bits);
}

Instruction* Builder::input(InputKind kind) {
  bool isAddress = kind == InputKind::LaunchState || kind == InputKind::ModuleData;
  return emit(Op::Input, isAddress ? I64 : I32, {}, static_cast<uint64_t>(kind));
}

Instruction* Builder::bitcast(Type to, Instruction* value) {
  if (value->type == to) return value;
  assert(value->type.totalBits() == to.totalBits());
  return emit(Op::Bitcast, to, {value});
}

Instruction* Builder::vector(std::span<Instruction* const> components) {
  Type type = components.front()->type.withLanes(static_cast<uint8_t>(components.size()));
  Instruction* instruction = emit(Op::VecBuild, type, {});
  instruction->operands.assign(components.begin(), components.end());
  return instruction;
}

Instruction* Builder::extract(Instruction* vector, unsigned lane) {
  return emit(Op::VecExtract, vector->type.scalar(), {vector}, lane);
}

Instruction* Builder::load(Type type, Instruction* address, MemoryAccess access) {
  Instruction* instruction = emit(Op::Load, type, {address});
  instruction->memory = access;
  return instruction;
}

Instruction* Builder::store(Instruction* address, Instruction* value, MemoryAccess access) {
  Instruction* instruction = emit(Op::Store, Void, {address, value});
  instruction->memory = access;
  return instruction;
}

Instruction* Builder::read(VariableId variable) {
  return emit(Op::ReadVar, function_.variables[variable].type, {}, variable);
}

Instruction* Builder::write(VariableId variable, Instruction* value) {
  assert(function_.variables[variable].type == value->type);
  return emit(Op::WriteVar, Void, {value}, variable);
}

void Builder::branch(Block* target) { block_->terminator = {Terminator::Kind::Branch, nullptr, {target}, {}}; }

void Builder::branch(Instruction* condition, Block* ifTrue, Block* ifFalse) {
  if (ifTrue == ifFalse) return branch(ifTrue);
  block_->terminator = {Terminator::Kind::Conditional, condition, {ifTrue, ifFalse}, {}};
}

void Builder::switchOn(Instruction* value, Block* otherwise, std::span<const uint32_t> cases,
                       std::span<Block* const> targets) {
  block_->terminator = {Terminator::Kind::Switch, value, {otherwise}, {cases.begin(), cases.end()}};
  block_->terminator.targets.insert(block_->terminator.targets.end(), targets.begin(), targets.end());
}

void Builder::ret() { block_->terminator = {Terminator::Kind::Return, nullptr, {}, {}}; }

void Builder::unreachable() { block_->terminator = {Terminator::Kind::Unreachable, nullptr, {}, {}}; }

}  // namespace mulciber::ir
