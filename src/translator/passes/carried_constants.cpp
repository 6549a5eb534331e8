#include "translator/passes/carried_constants.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "translator/passes/fold.h"
#include "translator/passes/fold_branches.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;
using ir::Terminator;

// Each value is taken for undefined until a path is found on which it is computed, for a constant until two paths
// disagree (Wegman and Zadeck, Constant propagation with conditional branches, 1991).
class Propagation {
 public:
  explicit Propagation(const ir::Function& function)
      : values_(function.instructionIdBound()),
        users_(function.instructionIdBound()),
        deciding_(function.instructionIdBound()),
        isReached_(function.blockIdBound()) {
    for (Block* block : function.blocks) {
      for (Instruction* instruction : block->instructions)
        for (const Instruction* operand : instruction->operands) users_[operand->id].push_back({instruction, block});
      if (block->terminator.value) deciding_[block->terminator.value->id].push_back(block);
    }
    reach(function.blocks.front());
    do follow();
    while (takesUndefinedBranches(function));
  }

  std::optional<uint64_t> constant(const Instruction& value) const {
    const Value& known = values_[value.id];
    return known.state == State::Constant ? std::optional(known.bits) : std::nullopt;
  }

 private:
  enum class State : uint8_t { Undefined, Constant, Varies };
  struct Value {
    State state = State::Undefined;
    uint64_t bits = 0;
  };

  template <class T>
  static T lastOf(std::vector<T>& list) {
    T last = list.back();
    list.pop_back();
    return last;
  }

  void follow() {
    while (!blocks_.empty() || !changed_.empty()) {
      if (!blocks_.empty()) {
        const Block* block = lastOf(blocks_);
        for (const Instruction* instruction : block->instructions) evaluate(*instruction, *block);
        leave(*block);
        continue;
      }
      const Instruction* value = lastOf(changed_);
      for (const auto& [user, block] : users_[value->id])
        if (isReached_[block->id]) evaluate(*user, *block);
      for (const Block* block : deciding_[value->id])
        if (isReached_[block->id]) leave(*block);
    }
  }

  // A condition that nothing defines may send threads either way.
  bool takesUndefinedBranches(const ir::Function& function) {
    bool takes = false;
    for (const Block* block : function.blocks) {
      const Instruction* condition = block->terminator.value;
      if (!isReached_[block->id] || !condition || values_[condition->id].state != State::Undefined) continue;
      values_[condition->id].state = State::Varies;
      changed_.push_back(condition);
      takes = true;
    }
    return takes;
  }

  void reach(Block* block) {
    if (isReached_[block->id]) return;
    isReached_[block->id] = true;
    blocks_.push_back(block);
  }

  void take(const Block& from, Block* to) {
    if (!edges_.insert({from.id, to->id}).second) return;
    if (!isReached_[to->id]) return reach(to);
    for (const Instruction* phi : to->instructions) {
      if (phi->op != Op::Phi) break;
      evaluate(*phi, *to);
    }
  }

  void leave(const Block& block) {
    const Terminator& terminator = block.terminator;
    if (terminator.kind == Terminator::Kind::Conditional) {
      const Value& condition = values_[terminator.value->id];
      if (condition.state == State::Undefined) return;
      if (condition.state == State::Constant) return take(block, terminator.targets[condition.bits ? 0 : 1]);
    }
    for (Block* target : terminator.targets) take(block, target);
  }

  void evaluate(const Instruction& instruction, const Block& block) {
    Value& known = values_[instruction.id];
    if (known.state == State::Varies) return;
    const Value found = instruction.op == Op::Phi ? ofPhi(instruction, block) : ofOperands(instruction);
    if (found.state == known.state) return;
    known = found;
    changed_.push_back(&instruction);
  }

  Value ofPhi(const Instruction& phi, const Block& block) const {
    Value result;
    for (size_t i = 0; i < phi.operands.size(); ++i) {
      const Instruction& operand = *phi.operands[i];
      if (operand.op == Op::Undef || !edges_.contains({block.predecessors[i]->id, block.id})) continue;
      const Value& value = values_[operand.id];
      if (value.state == State::Undefined) continue;
      if (result.state == State::Undefined) result = value;
      else if (value.state == State::Varies || value.bits != result.bits) return {State::Varies, 0};
    }
    return result;
  }

  Value ofOperands(const Instruction& instruction) const {
    if (instruction.isConstant()) return {State::Constant, instruction.payload};
    if (!isFolded(instruction)) return {State::Varies, 0};
    Instruction folded = instruction;
    std::vector<Instruction> constants(instruction.operands.size());
    for (size_t i = 0; i < constants.size(); ++i) {
      const Value& operand = values_[instruction.operands[i]->id];
      if (operand.state == State::Undefined) return {};
      if (operand.state == State::Varies) return {State::Varies, 0};
      constants[i].op = Op::Constant;
      constants[i].type = instruction.operands[i]->type;
      constants[i].payload = operand.bits;
      folded.operands[i] = &constants[i];
    }
    const std::optional<uint64_t> bits = foldConstant(folded);
    return bits ? Value{State::Constant, *bits} : Value{State::Varies, 0};
  }

  // Of integers and conditions: others are no counts.
  static bool isFolded(const Instruction& instruction) {
    auto isNumber = [](ir::Type type) { return !type.isVector() && (type.isInt() || type.isBool()); };
    return ir::isPure(instruction.op) && instruction.op != Op::Undef && isNumber(instruction.type) &&
           !instruction.operands.empty() &&
           std::ranges::all_of(instruction.operands, [&](const Instruction* each) { return isNumber(each->type); });
  }

  std::vector<Value> values_;                                              // by instruction id
  std::vector<std::vector<std::pair<const Instruction*, Block*>>> users_;  // by instruction id
  std::vector<std::vector<const Block*>> deciding_;                        // by instruction id
  std::vector<bool> isReached_;                                            // by block id
  std::set<std::pair<uint32_t, uint32_t>> edges_;                          // by block ids: those that are taken
  std::vector<const Block*> blocks_;
  std::vector<const Instruction*> changed_;
};

}  // namespace

bool foldCarriedConstants(ir::Function& function) {
  function.computePredecessors();
  const Propagation propagation(function);
  bool changed = false;
  for (Block* block : function.blocks) {
    bool havePhisChanged = false;
    for (Instruction* instruction : block->instructions) {
      const std::optional<uint64_t> bits = propagation.constant(*instruction);
      if (!bits || instruction->isConstant()) continue;
      havePhisChanged |= instruction->op == Op::Phi;
      instruction->op = Op::Constant;
      instruction->operands.clear();
      instruction->payload = *bits;
      instruction->fp = {};
      changed = true;
    }
    if (havePhisChanged)
      std::stable_partition(block->instructions.begin(), block->instructions.end(),
                            [](const Instruction* each) { return each->op == Op::Phi; });
  }
  if (changed) foldBranches(function);
  return changed;
}

}  // namespace mulciber::passes
