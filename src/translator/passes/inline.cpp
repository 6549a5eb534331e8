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
void inlineCall(Function& caller, Block* block, size_t index) {
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
}

// All calls but those that are to share a body.
class Inliner {
 public:
  explicit Inliner(const std::vector<Function*>& shared) : shared_(shared.begin(), shared.end()) {}

  // Into `root`, and into what is put there. Empty, or why it cannot be.
  std::string run(Function& root) {
    if (std::string refusal = measure(&root); !refusal.empty()) return refusal;
    // Each body is copied from the function as it was, and its own calls are found when its blocks come up.
    for (size_t i = 0; i < root.blocks.size(); ++i) inlineInto(root, root.blocks[i]);
    return {};
  }

 private:
  struct Visit {
    const Function* function;
    std::vector<const Function*> callees;
    size_t next = 0;
    size_t size = 0;
  };

  // Finds out how large a function and all that it calls become.
  std::string measure(const Function* root) {
    std::vector<Visit> path;
    const auto enter = [&](const Function* function) {
      sizes_[function] = 0;  // while it is on the path
      path.push_back({function, calleesOf(*function), 0, countInstructions(*function)});
    };
    enter(root);
    while (!path.empty()) {
      Visit& visit = path.back();
      if (visit.next < visit.callees.size()) {
        const Function* callee = visit.callees[visit.next];
        const auto known = sizes_.find(callee);
        if (known == sizes_.end()) {
          enter(callee);
          continue;
        }
        if (known->second == 0) return "function '" + callee->name + "' calls itself";
        visit.size += known->second;
        ++visit.next;
        continue;
      }
      if (std::string refusal = checkSize(visit.function->name, visit.size); !refusal.empty()) return refusal;
      sizes_[visit.function] = visit.size;
      path.pop_back();
    }
    return {};
  }

  bool isInlined(const Instruction& instruction) const {
    return instruction.op == Op::Call && !shared_.contains(instruction.callee);
  }

  // The last call first: what follows a call moves to another block.
  void inlineInto(Function& caller, Block* block) {
    for (size_t at = block->instructions.size(); at-- > 0;)
      if (isInlined(*block->instructions[at])) inlineCall(caller, block, at);
  }

  std::vector<const Function*> calleesOf(const Function& function) const {
    std::vector<const Function*> callees;
    for (const Block* block : function.blocks)
      for (const Instruction* instruction : block->instructions)
        if (isInlined(*instruction)) callees.push_back(instruction->callee);
    return callees;
  }

  std::unordered_set<const Function*> shared_;
  std::unordered_map<const Function*, size_t> sizes_;
};

}  // namespace

std::string inlineCalls(ir::Program& program, uint32_t limit) {
  Function& kernel = *program.functions.front();
  const std::vector<Function*> shared = functionsToShare(program, limit);
  Inliner inliner(shared);
  for (Function* function : shared)
    if (std::string refusal = inliner.run(*function); !refusal.empty()) return refusal;
  if (std::string refusal = inliner.run(kernel); !refusal.empty()) return refusal;
  for (const Function* function : shared) {
    shareCalls(kernel, *function);
    if (std::string refusal = checkSize(kernel.name, countInstructions(kernel)); !refusal.empty()) return refusal;
  }
  program.functions.resize(1);
  return {};
}

}  // namespace mulciber::passes
