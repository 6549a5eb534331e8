#include "translator/passes/ssa.h"

#include <algorithm>

#include "translator/ir/dominators.h"
#include "translator/passes/phis.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;
using ir::VariableId;

class SsaBuilder {
 public:
  SsaBuilder(ir::Function& function, bool keepsNames)
      : function_(function),
        keepsNames_(keepsNames),
        tree_(function),
        phis_(function.blockIdBound()),
        variables_(function.variables.size()) {}

  void run() {
    findFrontiers();
    findUses();
    placePhis();
    rename();
    dropVariables();
  }

 private:
  struct Phi {
    VariableId variable;
    Instruction* instruction;
  };
  struct Variable {
    std::vector<Block*> writers;  // blocks that write it
    std::vector<Block*> readers;  // blocks that read it before they write it
    Instruction* current = nullptr;
  };

  // The blocks where the dominance of each block ends.
  void findFrontiers() {
    frontiers_.resize(function_.blockIdBound());
    for (Block* block : tree_.reversePostOrder()) {
      if (block->predecessors.size() < 2) continue;
      const Block* above = tree_.immediateDominator(block);
      for (Block* runner : block->predecessors) {
        if (!tree_.isReachable(runner)) continue;
        for (; runner != above; runner = tree_.immediateDominator(runner)) {
          auto& frontier = frontiers_[runner->id];
          if (!frontier.empty() && frontier.back() == block) break;
          frontier.push_back(block);
        }
      }
    }
  }

  void findUses() {
    std::vector<const Block*> lastWriter(variables_.size()), lastReader(variables_.size());
    for (Block* block : tree_.reversePostOrder()) {
      for (const Instruction* instruction : block->instructions) {
        auto id = static_cast<VariableId>(instruction->payload);
        if (instruction->op == Op::WriteVar && lastWriter[id] != block) {
          lastWriter[id] = block;
          variables_[id].writers.push_back(block);
        }
        if (instruction->op == Op::ReadVar && lastWriter[id] != block && lastReader[id] != block) {
          lastReader[id] = block;
          variables_[id].readers.push_back(block);
        }
      }
    }
  }

  void placePhis() {
    // Marks hold the number of the variable that last set them, plus 1: no clearing between variables.
    std::vector<VariableId> isLive(function_.blockIdBound()), writes(function_.blockIdBound()),
        hasPhi(function_.blockIdBound());
    std::vector<Block*> work;
    for (VariableId id = 0; id < variables_.size(); ++id) {
      const Variable& variable = variables_[id];
      if (variable.readers.empty() || variable.writers.empty()) continue;
      VariableId mark = id + 1;
      for (const Block* block : variable.writers) writes[block->id] = mark;
      auto makeLive = [&](Block* block) {
        if (isLive[block->id] == mark) return;
        isLive[block->id] = mark;
        work.push_back(block);
      };
      for (Block* block : variable.readers) makeLive(block);
      while (!work.empty()) {
        const Block* block = work.back();
        work.pop_back();
        for (Block* from : block->predecessors)
          if (writes[from->id] != mark) makeLive(from);
      }
      work = variable.writers;
      while (!work.empty()) {
        const Block* block = work.back();
        work.pop_back();
        for (Block* join : frontiers_[block->id]) {
          if (hasPhi[join->id] == mark || isLive[join->id] != mark) continue;
          hasPhi[join->id] = mark;
          addPhi(join, id);
          work.push_back(join);
        }
      }
    }
  }

  void addPhi(Block* block, VariableId id) {
    Instruction* phi = function_.create(Op::Phi, function_.variables[id].type);
    phi->operands.resize(block->predecessors.size());
    phis_[block->id].push_back({id, phi});
  }

  // Walks the dominator tree with each variable's value at hand; on the way up it is put back.
  void rename() {
    struct Visit {
      Block* block;
      size_t nextChild;
      size_t saved;
    };
    std::vector<Visit> visits;
    std::vector<std::pair<VariableId, Instruction*>> saved;
    replacements_.resize(function_.instructionIdBound());
    auto set = [&](VariableId id, Instruction* value) {
      if (keepsNames_ && !value->isConstant()) function_.valueNames.try_emplace(value, function_.variables[id].name);
      saved.emplace_back(id, variables_[id].current);
      variables_[id].current = value;
    };
    auto enter = [&](Block* block) {
      visits.push_back({block, 0, saved.size()});
      for (const Phi& phi : phis_[block->id]) set(phi.variable, phi.instruction);
      for (Instruction* instruction : block->instructions) {
        for (Instruction*& operand : instruction->operands) operand = replaced(operand);
        auto id = static_cast<VariableId>(instruction->payload);
        if (instruction->op == Op::ReadVar) replacements_[instruction->id] = valueOf(id);
        if (instruction->op == Op::WriteVar) set(id, instruction->operands[0]);
      }
      if (block->terminator.value) block->terminator.value = replaced(block->terminator.value);
      fillPhisAfter(block);
    };
    enter(function_.blocks.front());
    while (!visits.empty()) {
      Visit& top = visits.back();
      const auto& children = tree_.children(top.block);
      if (top.nextChild < children.size()) {
        enter(children[top.nextChild++]);
        continue;
      }
      for (; saved.size() > top.saved; saved.pop_back()) variables_[saved.back().first].current = saved.back().second;
      visits.pop_back();
    }
  }

  Instruction* replaced(Instruction* value) const {
    Instruction* replacement = value->id < replacements_.size() ? replacements_[value->id] : nullptr;
    return replacement ? replacement : value;
  }

  Instruction* valueOf(VariableId id) {
    if (Instruction* value = variables_[id].current) return value;
    ir::Type type = function_.variables[id].type;
    for (Instruction* undef : undefs_)
      if (undef->type == type) return undef;
    undefs_.push_back(function_.create(Op::Undef, type));
    return undefs_.back();
  }

  void fillPhisAfter(const Block* block) {
    for (const Block* target : block->terminator.targets) {
      const auto& phis = phis_[target->id];
      if (phis.empty()) continue;
      const auto& predecessors = target->predecessors;
      size_t index = size_t(std::find(predecessors.begin(), predecessors.end(), block) - predecessors.begin());
      for (const Phi& phi : phis) phi.instruction->operands[index] = valueOf(phi.variable);
    }
  }

  void dropVariables() {
    for (Block* block : function_.blocks) {
      std::vector<Instruction*> instructions;
      for (const Phi& phi : phis_[block->id]) instructions.push_back(phi.instruction);
      if (block == function_.blocks.front()) instructions.insert(instructions.end(), undefs_.begin(), undefs_.end());
      for (Instruction* instruction : block->instructions)
        if (instruction->op != Op::ReadVar && instruction->op != Op::WriteVar) instructions.push_back(instruction);
      block->instructions = std::move(instructions);
    }
    function_.variables.clear();
    function_.parameters.clear();
    function_.returns.clear();
  }

  ir::Function& function_;
  const bool keepsNames_;
  ir::DominatorTree tree_;
  std::vector<std::vector<Phi>> phis_;          // by block id
  std::vector<std::vector<Block*>> frontiers_;  // by block id
  std::vector<Variable> variables_;
  std::vector<Instruction*> replacements_;  // by instruction id: of ReadVar
  std::vector<Instruction*> undefs_;
};

}  // namespace

void buildSsa(ir::Function& function, bool keepsNames) {
  function.computePredecessors();
  SsaBuilder(function, keepsNames).run();
  function.isSsa = true;
  removeTrivialPhis(function);
  function.renumber();
}

bool Ssa::run(ir::Function& function, PassContext& context) {
  buildSsa(function, context.options.debugInfo);
  return true;
}

}  // namespace mulciber::passes
