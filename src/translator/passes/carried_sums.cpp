#include "translator/passes/carried_sums.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "translator/ir/dominators.h"
#include "translator/passes/insertions.h"
#include "translator/passes/rewrite.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;

constexpr unsigned deepest = 4;  // phis of phis that are looked at

// Values and a constant.
struct Sum {
  std::vector<Instruction*> addends;
  uint64_t constant = 0;
};

constexpr size_t mostAddends = 4;

void addTo(Sum& sum, Instruction* value) {
  if (value->isConstant()) {
    sum.constant += value->payload;
  } else if (value->op == Op::Add && sum.addends.size() < mostAddends) {
    for (Instruction* operand : value->operands) addTo(sum, operand);
  } else {
    sum.addends.push_back(value);
  }
}

Sum sumOf(Instruction* value) {
  Sum sum;
  addTo(sum, value);
  if (value->type.bits == 32) sum.constant = static_cast<uint32_t>(sum.constant);
  return sum;
}

class Sharing {
 public:
  explicit Sharing(ir::Function& function)
      : function_(function),
        tree_(function),
        homes_(function.instructionIdBound()),
        inserted_(function),
        replacements_(function) {
    for (const Block* block : function.blocks)
      for (const Instruction* instruction : block->instructions) homes_[instruction->id] = block;
  }

  bool run() {
    for (const Block* block : function_.blocks)
      if (block->merge.kind == ir::Merge::Kind::Loop && tree_.isReachable(block)) share(*block);
    if (!changed_) return false;
    for (const auto& [bits, zero] : zeros_) function_.blocks.front()->instructions.push_back(zero);
    inserted_.apply();
    replacements_.apply();
    return true;
  }

 private:
  // One that a loop carries, and the number that it is more than what the loop could carry instead.
  struct Carried {
    Instruction *phi, *number;
  };

  void share(const Block& header) {
    std::map<Instruction*, std::vector<Carried>> groups;  // by what could be carried
    std::vector<Instruction*> rests;                      // in order
    for (Instruction* phi : header.instructions) {
      if (phi->op != Op::Phi) break;
      if (phi->type != ir::I32 && phi->type != ir::I64) continue;
      Instruction* number = startOf(*phi, header);
      if (!number || number->isConstant()) continue;
      Instruction* rest = restOfPhi(phi, number, 0);
      if (!rest) continue;
      if (groups[rest].empty()) rests.push_back(rest);
      groups[rest].push_back({phi, number});
    }
    for (Instruction* rest : rests)
      if (groups[rest].size() > 1)
        for (const Carried& each : groups[rest]) replace(each, rest);
  }

  void replace(const Carried& carried, Instruction* rest) {
    ir::Builder b = inserted_.behindPhis(carried.phi);
    // The constant last, so that several have the rest of their sums in common.
    Instruction *base = carried.number, *constant = nullptr;
    if (base->op == Op::Add && base->operands[1]->isConstant()) constant = base->operands[1], base = base->operands[0];
    Instruction* value = b.add(base, rest);
    if (constant) value = b.add(value, constant);
    replacements_.replace(carried.phi, value);
    changed_ = true;
  }

  // What the phi is in the first round, if that is one value.
  Instruction* startOf(const Instruction& phi, const Block& header) const {
    Instruction* start = nullptr;
    for (size_t i = 0; i < phi.operands.size(); ++i) {
      const Block* from = header.predecessors[i];
      if (tree_.isReachable(from) && tree_.dominates(&header, from)) continue;
      if (start) return nullptr;
      start = phi.operands[i];
    }
    return start;
  }

  // What is left of a value without the number: an addend of it, zero, or a phi of such; null where that is not plain
  // to see.
  Instruction* restOf(Instruction* value, Instruction* number, unsigned depth) {
    if (value->op == Op::Undef) return value;
    if (value == number) return zero(*number);
    if (value->op == Op::Phi) return depth < deepest ? restOfPhi(value, number, depth) : nullptr;
    Sum sum = sumOf(value);
    const Sum less = sumOf(number);
    for (const Instruction* addend : less.addends) {
      const auto found = std::ranges::find(sum.addends, addend);
      if (found == sum.addends.end()) return nullptr;
      sum.addends.erase(found);
    }
    return sum.addends.size() == 1 && sum.constant == less.constant ? sum.addends.front() : nullptr;
  }

  Instruction* restOfPhi(Instruction* phi, Instruction* number, unsigned depth) {
    const auto [known, isNew] = rests_.try_emplace({phi, number});  // null where it leads to itself
    if (!isNew) return known->second;
    std::vector<Instruction*> operands;
    for (Instruction* operand : phi->operands) {
      Instruction* rest = restOf(operand, number, depth + 1);
      if (!rest) return nullptr;
      operands.push_back(rest);
    }
    Instruction*& shared = phis_[{homes_[phi->id], operands}];
    if (!shared) {
      shared = inserted_.addPhi(phi->type, phi);
      shared->operands = operands;
    }
    return rests_[{phi, number}] = shared;
  }

  // One for all, so that phis of it are alike.
  Instruction* zero(const Instruction& number) {
    Instruction*& zero = zeros_[number.type.bits];
    if (!zero) zero = function_.create(Op::Constant, number.type);
    return zero;
  }

  ir::Function& function_;
  const ir::DominatorTree tree_;
  std::vector<const Block*> homes_;  // by instruction id
  Insertions inserted_;
  Replacements replacements_;
  std::map<std::pair<Instruction*, Instruction*>, Instruction*> rests_;  // of a phi without a number
  std::map<std::pair<const Block*, std::vector<Instruction*>>, Instruction*> phis_;
  std::map<unsigned, Instruction*> zeros_;  // by bits
  bool changed_ = false;
};

}  // namespace

bool shareCarriedSums(ir::Function& function) {
  function.computePredecessors();
  return Sharing(function).run();
}

}  // namespace mulciber::passes
