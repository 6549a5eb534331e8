#include "translator/passes/loop_invariants.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "translator/passes/hidden_values.h"
#include "translator/passes/structured_loops.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Merge;
using ir::Op;

class Copies {
 public:
  explicit Copies(ir::Function& function)
      : function_(function),
        tree_(function),
        loops_(function, tree_),
        homes_(function.instructionIdBound()),
        isInvariant_(function.instructionIdBound()),
        hidden_(function) {
    for (Block* block : tree_.reversePostOrder())
      for (const Instruction* i : block->instructions) {
        homes_[i->id] = block;
        isInvariant_[i->id] = staysTheSame(*i, block);
      }
  }

  bool run() {
    for (Block* block : tree_.reversePostOrder()) {
      for (Instruction* user : block->instructions)
        for (size_t n = 0; n < user->operands.size(); ++n)
          use(user->operands[n], user->op == Op::Phi ? block->predecessors[n] : block);
      if (block->terminator.value) use(block->terminator.value, block);
    }
    for (const auto& [place, zero] : zeros_) place.first->instructions.insert(place.first->instructions.begin(), zero);
    return hidden_.apply();
  }

 private:
  bool staysTheSame(const Instruction& i, const Block* block) const {
    const Block* loop = loops_.around(block);
    if (!loop || i.isConstant()) return false;
    if (i.op == Op::Phi ? block == loop : !mayBeRepeated(i)) return false;
    return std::ranges::all_of(i.operands, [&](const Instruction* operand) {
      return operand->isConstant() || isInvariant_[operand->id] ||
             (homes_[operand->id] && !loops_.isWithin(homes_[operand->id], loop));
    });
  }
  static bool mayBeRepeated(const Instruction& i) {
    return ir::isPure(i.op) || (i.op == Op::Load && (i.memory.isReadOnly || i.memory.space == ir::Space::Param ||
                                                     i.memory.space == ir::Space::Constant));
  }

  void use(Instruction*& value, const Block* where) {
    if (value->id >= homes_.size() || !isInvariant_[value->id] || !tree_.isReachable(where)) return;
    if (loops_.isWithin(where, loops_.around(homes_[value->id]))) return;
    Instruction*& copy = copies_[value];
    if (!copy) copy = copyOf(value);
    value = copy;
  }

  // Behind the value, but in the loop: other bits for all that drivers know, since they do not know that the loop
  // carries a zero.
  Instruction* copyOf(Instruction* value) {
    ir::Builder b = hidden_.after(value);
    Block* loop = loops_.around(homes_[value->id]);
    const ir::Type type = value->type;
    if (!type.isVector()) return flip(b, value, zeroOf(loop, maskType(type)));
    std::vector<Instruction*> lanes;
    for (unsigned lane = 0; lane < type.lanes; ++lane)
      lanes.push_back(flip(b, b.extract(value, lane), zeroOf(loop, maskType(type.scalar()))));
    return b.vector(lanes);
  }

  Instruction* zeroOf(Block* loop, ir::Type type) {
    Instruction*& zero = zeros_[{loop, type.bits}];
    if (zero) return zero;
    zero = function_.create(Op::Phi, type);
    Instruction *first = hidden_.zero(0, type.bits), *next = hidden_.hide(zero);
    for (const Block* predecessor : loop->predecessors)
      zero->operands.push_back(tree_.isReachable(predecessor) && loops_.isWithin(predecessor, loop) ? next : first);
    return zero;
  }

  ir::Function& function_;
  const ir::DominatorTree tree_;
  const StructuredLoops loops_;
  std::vector<Block*> homes_;                                  // by instruction id
  std::vector<bool> isInvariant_;                              // in the innermost loop around it, by instruction id
  std::map<std::pair<Block*, unsigned>, Instruction*> zeros_;  // by loop and bits
  std::unordered_map<const Instruction*, Instruction*> copies_;
  HiddenValues hidden_;
};

bool isLoop(const Block* block) { return block->merge.kind == Merge::Kind::Loop; }

}  // namespace

bool tellRoundsApart(ir::Function& function) {
  return std::ranges::any_of(function.blocks, isLoop) && Copies(function).run();
}

bool LoopInvariants::run(ir::Function& function, PassContext& context) {
  return context.profile.repeatsLoopInvariants && tellRoundsApart(function);
}

}  // namespace mulciber::passes
