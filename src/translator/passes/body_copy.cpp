#include "translator/passes/body_copy.h"

namespace mulciber::passes {

using ir::Block;
using ir::Instruction;
using ir::Op;

BodyCopy::BodyCopy(ir::Function& into, const ir::Function& body)
    : into_(into),
      body_(body),
      firstVariable_(static_cast<ir::VariableId>(into.variables.size())),
      blocks_(body.blockIdBound()),
      values_(body.instructionIdBound()) {
  into.variables.insert(into.variables.end(), body.variables.begin(), body.variables.end());
}

void BodyCopy::copyTo(Block* after) {
  for (const Block* block : body_.blocks) blocks_[block->id] = into_.addBlock(block->name);
  for (const Block* block : body_.blocks)
    for (const Instruction* instruction : block->instructions) copy(*instruction, blocks_[block->id]);
  // A value may stand in a block that comes later in the list.
  for (const Block* block : body_.blocks) {
    Block* copied = blocks_[block->id];
    for (Instruction* instruction : copied->instructions)
      for (Instruction*& operand : instruction->operands) operand = values_[operand->id];
    copied->merge = block->merge;
    copied->terminator = block->terminator;
    ir::Terminator& terminator = copied->terminator;
    if (terminator.value) terminator.value = values_[terminator.value->id];
    for (Block*& target : terminator.targets) target = blocks_[target->id];
    if (terminator.kind == ir::Terminator::Kind::Return)
      terminator = {ir::Terminator::Kind::Branch, nullptr, {after}, {}};
  }
}

void BodyCopy::copy(const Instruction& instruction, Block* to) {
  Instruction* copied = into_.clone(instruction);
  values_[instruction.id] = copied;
  to->instructions.push_back(copied);
  if (instruction.op == Op::ReadVar || instruction.op == Op::WriteVar) copied->payload += firstVariable_;
  for (ir::VariableId& result : copied->results) result += firstVariable_;
}

}  // namespace mulciber::passes
