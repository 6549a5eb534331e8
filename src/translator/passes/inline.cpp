#include "translator/passes/inline.h"

#include <unordered_map>

#include "translator/ir/builder.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Function;
using ir::Instruction;
using ir::Op;

constexpr size_t maxInstructions = 1'000'000;

// Copies one function's body into another; the function itself stays as it is.
class BodyCopy {
 public:
  BodyCopy(Function& into, const Function& body) : into_(into), body_(body), blocks_(body.blockIdBound()) {
    firstVariable_ = static_cast<ir::VariableId>(into.variables.size());
    into.variables.insert(into.variables.end(), body.variables.begin(), body.variables.end());
    values_.resize(body.instructionIdBound());
  }

  ir::VariableId variable(ir::VariableId original) const { return firstVariable_ + original; }
  Block* entry() const { return blocks_[body_.blocks.front()->id]; }

  // Returns become branches to `after`.
  void copyTo(Block* after) {
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

 private:
  void copy(const Instruction& instruction, Block* to) {
    Instruction* copied = into_.clone(instruction);
    values_[instruction.id] = copied;
    to->instructions.push_back(copied);
    if (instruction.op == Op::ReadVar || instruction.op == Op::WriteVar) copied->payload += firstVariable_;
    for (ir::VariableId& result : copied->results) result += firstVariable_;
  }

  Function& into_;
  const Function& body_;
  ir::VariableId firstVariable_;
  std::vector<Block*> blocks_;        // by the original's id
  std::vector<Instruction*> values_;  // by the original's id
};

size_t countInstructions(const Function& function) {
  size_t count = 0;
  for (const Block* block : function.blocks) count += block->instructions.size() + 1;
  return count;
}

// Ends `block` before its instruction `index`, a call, and goes through the callee's body to what followed.
Block* inlineCall(Function& caller, Block* block, size_t index) {
  const Instruction& call = *block->instructions[index];
  Block* after = caller.addBlock();
  BodyCopy body(caller, *call.callee);
  body.copyTo(after);

  ir::Builder b(caller, after);
  for (size_t i = 0; i < call.results.size(); ++i)
    b.write(call.results[i], b.read(body.variable(call.callee->returns[i])));
  after->instructions.insert(after->instructions.end(), block->instructions.begin() + std::ptrdiff_t(index) + 1,
                             block->instructions.end());
  after->terminator = std::move(block->terminator);

  block->instructions.resize(index);
  b.setBlock(block);
  for (size_t i = 0; i < call.operands.size(); ++i)
    b.write(body.variable(call.callee->parameters[i]), call.operands[i]);
  b.branch(body.entry());
  return after;
}

void inlineInto(Function& caller) {
  for (size_t i = 0, count = caller.blocks.size(); i < count; ++i) {
    Block* block = caller.blocks[i];
    for (size_t at = 0; at < block->instructions.size(); ++at) {
      if (block->instructions[at]->op != Op::Call) continue;
      block = inlineCall(caller, block, at);
      at = SIZE_MAX;  // from the start of what followed; the copied body holds no calls
    }
  }
}

std::vector<Function*> calleesOf(const Function& function) {
  std::vector<Function*> callees;
  for (const Block* block : function.blocks)
    for (const Instruction* instruction : block->instructions)
      if (instruction->op == Op::Call) callees.push_back(instruction->callee);
  return callees;
}

}  // namespace

std::string inlineCalls(ir::Program& program) {
  enum class State : uint8_t { New, Open, Done };
  struct Visit {
    Function* function;
    std::vector<Function*> callees;
    size_t next = 0;
  };
  std::unordered_map<const Function*, State> states;
  std::vector<Visit> path;
  auto enter = [&](Function* function) {
    states[function] = State::Open;
    path.push_back({function, calleesOf(*function)});
  };
  enter(program.functions.front().get());
  while (!path.empty()) {
    Visit& visit = path.back();
    if (visit.next < visit.callees.size()) {
      Function* callee = visit.callees[visit.next++];
      State state = states[callee];
      if (state == State::Open) return "function '" + callee->name + "' calls itself";
      if (state == State::New) enter(callee);
      continue;
    }
    size_t size = countInstructions(*visit.function);
    for (const Function* callee : visit.callees) size += countInstructions(*callee);
    if (size > maxInstructions)
      return "function '" + visit.function->name + "' has more than " + std::to_string(maxInstructions) +
             " instructions with all calls inlined";
    inlineInto(*visit.function);
    states[visit.function] = State::Done;
    path.pop_back();
  }
  program.functions.resize(1);
  return {};
}

}  // namespace mulciber::passes
