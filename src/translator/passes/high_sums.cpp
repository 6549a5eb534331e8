#include "translator/passes/high_sums.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "translator/analyses/same_values.h"
#include "translator/ir/dominators.h"
#include "translator/passes/hidden_values.h"
#include "translator/passes/structured_loops.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;

bool isHighPart(const Instruction& i) {
  switch (i.op) {
    case Op::LShr:
    case Op::AShr: return i.operands[1]->isConstant();
    case Op::MulHiU:
    case Op::MulHiS: return true;
    case Op::Mul: return i.type == ir::I64;  // made of products of words
    case Op::Trunc:
    case Op::ZExt: return !i.operands[0]->type.isBool() && isHighPart(*i.operands[0]);
    default: return false;
  }
}

class Sums {
 public:
  Sums(ir::Function& function, bool hasOneThread)
      : hasOneThread_(hasOneThread),
        tree_(function),
        loops_(function, tree_),
        homes_(function.instructionIdBound()),
        staysIn_(function.instructionIdBound()),
        hidden_(function) {
    std::vector<std::pair<Instruction*, const Block*>> parts;
    for (Block* block : tree_.reversePostOrder())
      for (const Instruction* i : block->instructions) {
        homes_[i->id] = block;
        staysIn_[i->id] = loopWhereItStays(*i, block);
        if (!isSum(*i)) continue;
        for (Instruction* part : i->operands)
          if (isHighPart(*part)) parts.emplace_back(part, block);
      }
    std::vector<Instruction*> values;
    std::ranges::transform(parts, std::back_inserter(values), [](const auto& each) { return each.first; });
    const analyses::SameValues same(function, tree_, values);
    for (const auto& [part, block] : parts) {
      leaders_[part] = same.leader(part);
      sums_[leaders_[part]].insert(block);
    }
  }

  bool run() {
    for (const Block* block : tree_.reversePostOrder())
      for (Instruction* i : block->instructions) {
        if (!isSum(*i)) continue;
        for (Instruction*& part : i->operands)
          if (isHighPart(*part) && (isOfLanesApart(part) || isTheSame(*part, loops_.around(block))))
            part = hidden_.hide(part);
      }
    return hidden_.apply();
  }

 private:
  static bool isSum(const Instruction& i) { return i.op == Op::Add && (i.type == ir::I32 || i.type == ir::I64); }

  bool isOfLanesApart(const Instruction* part) { return !hasOneThread_ && sums_[leaders_[part]].size() > 1; }
  // Whether each turn of a loop has the same value.
  bool isTheSame(const Instruction& i, const Block* loop) const {
    if (!loop) return false;
    return i.isConstant() || !homes_[i.id] || !loops_.isWithin(homes_[i.id], loop) || staysIn_[i.id] == loop;
  }
  const Block* loopWhereItStays(const Instruction& i, const Block* block) const {
    const Block* loop = loops_.around(block);
    const bool stays = loop && ir::isPure(i.op) && i.op != Op::Phi &&
                       std::ranges::all_of(i.operands, [&](const auto* x) { return isTheSame(*x, loop); });
    return stays ? loop : nullptr;
  }

  const bool hasOneThread_;
  const ir::DominatorTree tree_;
  const StructuredLoops loops_;
  std::vector<const Block*> homes_;    // by id
  std::vector<const Block*> staysIn_;  // the innermost loop around a value, where each turn makes the same
  std::unordered_map<const Instruction*, const Instruction*> leaders_;             // of the parts of sums
  std::unordered_map<const Instruction*, std::unordered_set<const Block*>> sums_;  // where a leader is a part of one
  HiddenValues hidden_;
};

}  // namespace

bool hideHighSums(ir::Function& function, bool hasOneThread) { return Sums(function, hasOneThread).run(); }

bool HighSums::run(ir::Function& function, PassContext& context) {
  const uint32_t* block = context.program.requiredBlock;
  const bool hasOneThread = context.program.maxThreads == 1 || block[0] * block[1] * block[2] == 1;
  return context.profile.losesHighSums && hideHighSums(function, hasOneThread);
}

}  // namespace mulciber::passes
