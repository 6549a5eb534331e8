#include "translator/ir/ir.h"

#include <algorithm>
#include <iterator>

namespace mulciber::ir {

std::string_view mnemonic(Op op) {
  static constexpr std::string_view names[] = {
#define OPERATION(id, mnemonic, operands, result, ...) mnemonic,
#include "translator/ir/operations.def"
#undef OPERATION
  };
  return names[static_cast<unsigned>(op)];
}

int operandCount(Op op) {
  static constexpr int8_t counts[] = {
#define OPERATION(id, mnemonic, operands, result, ...) operands,
#include "translator/ir/operations.def"
#undef OPERATION
  };
  return counts[static_cast<unsigned>(op)];
}

bool differsByThread(InputKind kind) {
  switch (kind) {
    case InputKind::LocalIndex:
    case InputKind::SubgroupId:
    case InputKind::ThreadIdX:
    case InputKind::ThreadIdY:
    case InputKind::ThreadIdZ: return true;
    default: return false;
  }
}

unsigned coordinateCount(abi::ImageShape shape) {
  switch (shape) {
    case abi::ImageShape::Line: return 1;
    case abi::ImageShape::Plane:
    case abi::ImageShape::Lines: return 2;
    case abi::ImageShape::Cubes: return 4;
    default: return 3;
  }
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
  block.id = static_cast<uint32_t>(blockStorage_.size() - 1);
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

Instruction* Function::clone(const Instruction& instruction) {
  Instruction& copy = instructionStorage_.emplace_back(instruction);
  copy.id = static_cast<uint32_t>(instructionStorage_.size() - 1);
  return &copy;
}

const SourceLine* SourceMap::find(uint32_t source) const {
  auto next = std::ranges::upper_bound(lines, source, {}, &SourceLine::source);
  return next == lines.begin() || std::prev(next)->line == 0 ? nullptr : &*std::prev(next);
}

std::string SourceMap::describe(uint32_t source) const {
  const SourceLine* found = find(source);
  return found ? files[found->file] + ":" + std::to_string(found->line) : std::string();
}

uint32_t Function::blockIdBound() const { return static_cast<uint32_t>(blockStorage_.size()); }

VariableId Function::addVariable(Type type, std::string variableName) {
  variables.push_back({type, std::move(variableName)});
  return static_cast<VariableId>(variables.size() - 1);
}

void Function::computePredecessors() {
  for (Block* block : blocks) block->predecessors.clear();
  for (Block* block : blocks) {
    for (Block* target : block->terminator.targets) {
      auto& predecessors = target->predecessors;
      // A block that branches to one target twice is one predecessor; its edges are visited in one go.
      if (predecessors.empty() || predecessors.back() != block) predecessors.push_back(block);
    }
  }
}

void Function::removeUnreachableBlocks() {
  std::vector<bool> reached(blockIdBound());
  std::vector<Block*> work{blocks.front()};
  reached[blocks.front()->id] = true;
  while (!work.empty()) {
    Block* block = work.back();
    work.pop_back();
    for (Block* target : block->terminator.targets) {
      if (reached[target->id]) continue;
      reached[target->id] = true;
      work.push_back(target);
    }
  }
  std::erase_if(blocks, [&](Block* block) { return !reached[block->id]; });
}

void Function::renumber() {
  uint32_t blockId = 0, instructionId = 0;
  for (Block* block : blocks) {
    block->id = blockId++;
    for (Instruction* instruction : block->instructions) instruction->id = instructionId++;
  }
}

}  // namespace mulciber::ir
