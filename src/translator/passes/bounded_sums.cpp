#include "translator/passes/bounded_sums.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "translator/analyses/integer_ranges.h"
#include "translator/ir/builder.h"
#include "translator/ir/dominators.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;

constexpr size_t fewestSums = 6;  // more than a scan of a warp has, whose lanes add 1, 2, 4, 8 and 16 in loops
constexpr uint64_t largestSum = INT32_MAX - 1u;  // so that it is less than a bound cut off at INT32_MAX

// value + constant compared with a bound. The sum is what it is among all integers, from 0 to largestSum.
struct Comparison {
  Instruction* instruction;
  unsigned side;           // of the sum
  const Instruction* sum;  // the value itself where nothing is added
  const Instruction* value;
  Instruction* bound() const { return instruction->operands[1 - side]; }
  bool isSigned() const { return instruction->op == Op::SLt || instruction->op == Op::SLe; }
  auto pair() const { return std::tuple(value->id, bound()->id, isSigned()); }
};

using Pair = decltype(std::declval<Comparison>().pair());

struct Difference {
  Instruction *value, *zero;
};

bool isOrder(const Instruction& instruction) {
  switch (instruction.op) {
    case Op::SLt:
    case Op::SLe:
    case Op::ULt:
    case Op::ULe: return instruction.operands[0]->type == ir::I32;
    default: return false;
  }
}

class Rewriter {
 public:
  explicit Rewriter(ir::Function& function)
      : function_(function),
        tree_(function),
        homes_(function.instructionIdBound()),
        uses_(function.instructionIdBound()) {}

  bool run() {
    look();
    keepWorthwhile();
    for (const Comparison& comparison : ofSums_) {
      Difference& difference = differences_[comparison.pair()];
      if (!difference.value) difference = make(comparison);
    }
    for (const Comparison& comparison : ofSums_) rewrite(comparison);
    // One that was rewritten has a constant for a bound, and thereby no difference.
    for (const Comparison& comparison : ofValues_)
      if (differences_.contains(comparison.pair())) rewrite(comparison);
    return !ofSums_.empty();
  }

 private:
  void look() {
    for (Block* block : tree_.reversePostOrder()) {
      for (Instruction* instruction : block->instructions) {
        homes_[instruction->id] = block;
        for (const Instruction* operand : instruction->operands) ++uses_[operand->id];
        if (isOrder(*instruction)) lookAt(instruction);
      }
      if (block->terminator.value) ++uses_[block->terminator.value->id];
    }
  }

  void lookAt(Instruction* comparison) {
    for (unsigned side = 0; side < 2; ++side) {
      const Instruction* sum = comparison->operands[side];
      if (comparison->operands[1 - side]->isConstant() || sum->isConstant()) continue;
      if (sum->op == Op::Add && sum->operands[1]->isConstant()) {
        const uint64_t constant = sum->operands[1]->payload;
        if (ranges_.largest(sum->operands[0]) + constant > largestSum) continue;
        ofSums_.push_back({comparison, side, sum, sum->operands[0]});
        return;
      }
      if (ranges_.largest(sum) <= largestSum) ofValues_.push_back({comparison, side, sum, sum});
    }
  }

  // Sums that go away, and enough of them.
  void keepWorthwhile() {
    for (size_t before = SIZE_MAX; ofSums_.size() < before;) {
      before = ofSums_.size();
      std::map<Pair, std::set<uint32_t>> sums;
      std::map<uint32_t, uint32_t> compared;
      for (const Comparison& comparison : ofSums_) {
        sums[comparison.pair()].insert(comparison.sum->id);
        ++compared[comparison.sum->id];
      }
      std::erase_if(ofSums_, [&](const Comparison& comparison) {
        const uint32_t sum = comparison.sum->id;
        return sums[comparison.pair()].size() < fewestSums || compared[sum] < uses_[sum];
      });
    }
  }

  // Negative bounds count as -1, and those beyond the signed numbers as the largest of them: nothing overflows, and
  // sums compare with them as before.
  Difference make(const Comparison& comparison) {
    Instruction* bound = comparison.bound();
    const Instruction* last = later(comparison.value, bound);
    Block made;
    ir::Builder b(function_, &made);
    b.setSource(comparison.instruction->source);
    Instruction* limited = comparison.isSigned() ? b.binary(Op::SMax, bound, b.i32(UINT32_MAX))
                                                 : b.binary(Op::UMin, bound, b.i32(INT32_MAX));
    const Difference result{b.sub(limited, const_cast<Instruction*>(comparison.value)), b.i32(0)};
    auto& instructions = homes_[last->id]->instructions;
    auto place = std::ranges::find(instructions, last) + 1;
    place = std::find_if(place, instructions.end(), [](const Instruction* each) { return each->op != Op::Phi; });
    instructions.insert(place, made.instructions.begin(), made.instructions.end());
    return result;
  }

  // Of two values that one instruction uses, that which is known later.
  const Instruction* later(const Instruction* a, const Instruction* b) const {
    const Block *homeOfA = homes_[a->id], *homeOfB = homes_[b->id];
    if (homeOfA != homeOfB) return tree_.dominates(homeOfA, homeOfB) ? b : a;
    const auto& instructions = homeOfA->instructions;
    return std::ranges::find(instructions, a) < std::ranges::find(instructions, b) ? b : a;
  }

  void rewrite(const Comparison& comparison) {
    Instruction& instruction = *comparison.instruction;
    const Difference& difference = differences_.at(comparison.pair());
    const bool isPlain = comparison.sum == comparison.value;
    const bool isStrict = instruction.op == Op::SLt || instruction.op == Op::ULt;
    instruction.operands[comparison.side] = isPlain ? difference.zero : comparison.sum->operands[1];
    instruction.operands[1 - comparison.side] = difference.value;
    instruction.op = isStrict ? Op::SLt : Op::SLe;
  }

  ir::Function& function_;
  ir::DominatorTree tree_;
  analyses::IntegerRanges ranges_;
  std::vector<Block*> homes_;   // by instruction id
  std::vector<uint32_t> uses_;  // by instruction id
  std::vector<Comparison> ofSums_, ofValues_;
  std::map<Pair, Difference> differences_;
};

}  // namespace

bool compareWithDifferences(ir::Function& function) { return Rewriter(function).run(); }

bool BoundedSums::run(ir::Function& function, PassContext&) { return compareWithDifferences(function); }

}  // namespace mulciber::passes
