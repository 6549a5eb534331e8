#include "translator/passes/inline.h"

#include <unordered_map>

#include "translator/ir/builder.h"
#include "translator/passes/body_copy.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Function;
using ir::Instruction;
using ir::Op;

constexpr size_t maxInstructions = 1'000'000;

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
