#include "translator/passes/split_values.h"

#include <unordered_map>

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;

bool isRepeatable(Op op) { return op == Op::Constant || op == Op::Undef || op == Op::Input; }

class ValueSplitter {
 public:
  explicit ValueSplitter(ir::Function& function) : function_(function), home_(function.instructionIdBound()) {}

  void run() {
    for (Block* block : function_.blocks)
      for (const Instruction* instruction : block->instructions) home_[instruction->id] = block;
    for (Block* block : function_.blocks) makeUsesLocal(*block);
    if (variables_.empty()) return;
    for (Block* block : function_.blocks) writeAfterDefinitions(*block);
  }

 private:
  void makeUsesLocal(Block& block) {
    std::vector<Instruction*> added;
    std::unordered_map<const Instruction*, Instruction*> local;
    auto localise = [&](Instruction*& value) {
      if (home_[value->id] == &block) return;
      auto [entry, isNew] = local.try_emplace(value, nullptr);
      if (isNew) {
        entry->second = isRepeatable(value->op) ? function_.clone(*value) : read(value);
        added.push_back(entry->second);
      }
      value = entry->second;
    };
    for (Instruction* instruction : block.instructions)
      for (Instruction*& operand : instruction->operands) localise(operand);
    if (block.terminator.value) localise(block.terminator.value);
    block.instructions.insert(block.instructions.begin(), added.begin(), added.end());
  }

  Instruction* read(const Instruction* value) {
    auto [entry, isNew] = variables_.try_emplace(value, 0);
    if (isNew) entry->second = function_.addVariable(value->type);
    Instruction* read = function_.create(Op::ReadVar, value->type);
    read->payload = entry->second;
    read->source = value->source;
    return read;
  }

  void writeAfterDefinitions(Block& block) {
    std::vector<Instruction*> instructions;
    for (Instruction* instruction : block.instructions) {
      instructions.push_back(instruction);
      auto found = variables_.find(instruction);
      if (found == variables_.end()) continue;
      Instruction* operands[] = {instruction};
      Instruction* write = function_.create(Op::WriteVar, ir::Void, operands);
      write->payload = found->second;
      instructions.push_back(write);
    }
    block.instructions = std::move(instructions);
  }

  ir::Function& function_;
  std::vector<const Block*> home_;
  std::unordered_map<const Instruction*, ir::VariableId> variables_;
};

}  // namespace

void splitCrossBlockValues(ir::Function& function) { ValueSplitter(function).run(); }

}  // namespace mulciber::passes
