#include "translator/passes/inline.h"

#include <unordered_map>
#include <unordered_set>

#include "translator/ir/builder.h"
#include "translator/passes/body_copy.h"
#include "translator/passes/share_calls.h"

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

std::string checkSize(const std::string& name, size_t instructions) {
  if (instructions <= maxInstructions) return {};
  return "function '" + name + "' has more than " + std::to_string(maxInstructions) +
         " instructions with all calls inlined";
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

// All calls but those that are to share a body.
class Inliner {
 public:
  explicit Inliner(const std::vector<Function*>& shared) : shared_(shared.begin(), shared.end()) {}

  // Into `root` and, before that, into all that it calls. Empty, or why it cannot be.
  std::string run(Function* root) {
    if (states_[root] == State::New) enter(root);
    while (!path_.empty()) {
      Visit& visit = path_.back();
      if (visit.next < visit.callees.size()) {
        Function* callee = visit.callees[visit.next++];
        State state = states_[callee];
        if (state == State::Open) return "function '" + callee->name + "' calls itself";
        if (state == State::New) enter(callee);
        continue;
      }
      size_t size = countInstructions(*visit.function);
      for (const Function* callee : visit.callees) size += countInstructions(*callee);
      if (std::string refusal = checkSize(visit.function->name, size); !refusal.empty()) return refusal;
      inlineInto(*visit.function);
      states_[visit.function] = State::Done;
      path_.pop_back();
    }
    return {};
  }

 private:
  enum class State : uint8_t { New, Open, Done };
  struct Visit {
    Function* function;
    std::vector<Function*> callees;
    size_t next = 0;
  };

  void enter(Function* function) {
    states_[function] = State::Open;
    path_.push_back({function, calleesOf(*function)});
  }

  bool isInlined(const Instruction& instruction) const {
    return instruction.op == Op::Call && !shared_.contains(instruction.callee);
  }

  void inlineInto(Function& caller) {
    for (size_t i = 0, count = caller.blocks.size(); i < count; ++i) {
      Block* block = caller.blocks[i];
      for (size_t at = 0; at < block->instructions.size(); ++at) {
        if (!isInlined(*block->instructions[at])) continue;
        block = inlineCall(caller, block, at);
        at = SIZE_MAX;  // from the start of what followed; the copied body holds no such calls
      }
    }
  }

  std::vector<Function*> calleesOf(const Function& function) const {
    std::vector<Function*> callees;
    for (const Block* block : function.blocks)
      for (const Instruction* instruction : block->instructions)
        if (isInlined(*instruction)) callees.push_back(instruction->callee);
    return callees;
  }

  std::unordered_set<const Function*> shared_;
  std::unordered_map<const Function*, State> states_;
  std::vector<Visit> path_;
};

}  // namespace

std::string inlineCalls(ir::Program& program, uint32_t limit) {
  Function& kernel = *program.functions.front();
  const std::vector<Function*> shared = functionsToShare(program, limit);
  Inliner inliner(shared);
  for (Function* function : shared)
    if (std::string refusal = inliner.run(function); !refusal.empty()) return refusal;
  if (std::string refusal = inliner.run(&kernel); !refusal.empty()) return refusal;
  for (const Function* function : shared) {
    shareCalls(kernel, *function);
    if (std::string refusal = checkSize(kernel.name, countInstructions(kernel)); !refusal.empty()) return refusal;
  }
  program.functions.resize(1);
  return {};
}

}  // namespace mulciber::passes
