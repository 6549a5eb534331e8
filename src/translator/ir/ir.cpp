#include "translator/ir/ir.h"

#include <unordered_set>

namespace mulciber::ir {

std::string_view mnemonic(Op op) {
  static constexpr std::string_view names[] = {
#define OPERATION(id, mnemonic, operands, result) mnemonic,
#include "translator/ir/operations.def"
#undef OPERATION
  };
  return names[static_cast<unsigned>(op)];
}

std::string toString(Type type) {
  std::string scalar;
  switch (type.kind) {
    case Kind::Void: return "void";
    case Kind::Bool: scalar = "bool"; break;
    case Kind::Int: scalar = "i" + std::to_string(type.bits); break;
    case Kind::Float: scalar = "f" + std::to_string(type.bits); break;
  }
  if (!type.isVector()) return scalar;
  return "<" + std::to_string(type.lanes) + " x " + scalar + ">";
}

Block* Function::addBlock(std::string blockName) {
  Block& block = blockStorage_.emplace_back();
  block.id = static_cast<uint32_t>(blocks.size());
  block.name = std::move(blockName);
  blocks.push_back(&block);
  return &block;
}

Instruction* Function::create(Op op, Type type, std::span<Instruction* const> operands) {
  Instruction& instruction = instructionStorage_.emplace_back();
  instruction.op = op;
  instruction.type = type;
  instruction.operands.assign(operands.begin(), operands.end());
  instruction.id = static_cast<uint32_t>(instructionStorage_.size() - 1);
  return &instruction;
}

VariableId Function::addVariable(Type type, std::string variableName) {
  variables.push_back({type, std::move(variableName)});
  return static_cast<VariableId>(variables.size() - 1);
}

void Function::computePredecessors() {
  for (Block* block : blocks) block->predecessors.clear();
  for (Block* block : blocks) {
    for (Block* target : block->terminator.targets) {
      auto& predecessors = target->predecessors;
      // A block that branches to one target twice is one predecessor.
      if (predecessors.empty() || predecessors.back() != block) predecessors.push_back(block);
    }
  }
}

void Function::removeUnreachableBlocks() {
  std::unordered_set<Block*> reached{blocks.front()};
  std::vector<Block*> work{blocks.front()};
  while (!work.empty()) {
    Block* block = work.back();
    work.pop_back();
    for (Block* target : block->terminator.targets)
      if (reached.insert(target).second) work.push_back(target);
  }
  std::erase_if(blocks, [&](Block* block) { return !reached.contains(block); });
}

void Function::renumber() {
  uint32_t blockId = 0, instructionId = 0;
  for (Block* block : blocks) {
    block->id = blockId++;
    for (Instruction* instruction : block->instructions) instruction->id = instructionId++;
  }
}

}  // namespace mulciber::ir
