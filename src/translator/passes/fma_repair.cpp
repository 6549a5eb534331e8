#include "translator/passes/fma_repair.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "translator/analyses/float_ranges.h"
#include "translator/ir/builder.h"
#include "translator/passes/rounded_arithmetic.h"
#include "translator/passes/shared_numbers.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::F32;
using ir::Instruction;
using ir::Op;
using ir::VariableId;

// How many multiply-adds share a branch: all of them are computed again where one has to be, so what they need stays in
// registers until then. Very long blocks have longer runs, since a compiler's time grows with the branches.
constexpr size_t usualRun = 16, longRun = 32, longBlock = 512;
// Sums are remembered where that spares at least one look for so many multiply-adds.
constexpr size_t sumsForEach = 6;

// Products of factors from 2^-40 on are multiples of 2^-126, the smallest normal number, as numbers from 2^-103 on are.
// Sums of multiples are multiples, and rounded they stay so: they are zero or normal, whatever cancels. So nothing is
// denormal in a run whose factors and first addends have these sizes.
constexpr float leastFactor = 0x1p-40f, leastAddend = 0x1p-103f;

// What sums leave in variables is such a multiple as well, in every thread that has not seen a smaller one: so sums
// that a loop carries are not looked at in each round. A variable remembers whether the thread has: it holds an
// infinity, or else zero, which counts as one more factor.

// Multiply-adds that share a branch, with all that depends on them so far.
struct Run {
  std::vector<Instruction*> members;  // in order
  std::unordered_set<const Instruction*> dependent;
  std::unordered_map<VariableId, Instruction*> written;  // variables that hold a dependent value
  std::vector<Instruction*> sums;                        // the multiply-adds
  std::vector<Instruction*> factors, addends;            // whose magnitudes decide, each once, without signs
  bool trusts = false;                                   // that variables hold multiples
  bool readsShared = false;                              // numbers that were looked at where they were stored

  bool concerns(const Instruction& i) const {
    if (i.op == Op::ReadVar) return written.count(static_cast<VariableId>(i.payload)) != 0;
    return std::any_of(i.operands.begin(), i.operands.end(),
                       [&](const Instruction* x) { return dependent.count(x) != 0; });
  }
};

bool contains(const std::vector<Instruction*>& values, const Instruction* value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool isRepeatable(const Instruction& i) { return ir::isPure(i.op) || i.op == Op::ReadVar || i.op == Op::WriteVar; }

class Repair {
 public:
  Repair(ir::Function& function, ir::Program& program, const TargetProfile& profile,
         const std::unordered_set<const Instruction*>& sums)
      : function_(function),
        sums_(sums),
        b_(function),
        arithmetic_(b_, profile),
        ranges_(function),
        shared_(function, program, profile, leastFactor) {
    for (Block* block : function.blocks) {
      for (Instruction* i : block->instructions)
        for (Instruction* operand : i->operands) users_[operand].push_back(i);
      if (block->terminator.value) enders_[block->terminator.value].push_back(block);
    }
    findSumVariables();
    if (!areOftenAdded()) sumVariables_.clear();
  }

  void run() {
    if (!sumVariables_.empty()) least_ = function_.addVariable(F32, "least");
    // Blocks that are split off on the way come behind these, and hold nothing that is left to do.
    for (size_t n = 0, count = function_.blocks.size(); n < count; n++) repairBlock(function_.blocks[n]);
    if (shared_.isUsed()) shared_.lookAtStores(b_);
    if (least_ || shared_.isUsed()) begin();
  }

 private:
  // Those whose every value is a multiple while the others' are.
  void findSumVariables() {
    std::vector<const Instruction*> writes;
    std::unordered_set<VariableId> others(function_.parameters.begin(), function_.parameters.end());
    for (const Block* block : function_.blocks)
      for (const Instruction* i : block->instructions) {
        others.insert(i->results.begin(), i->results.end());
        if (i->op == Op::WriteVar && i->operands[0]->type == F32) writes.push_back(i);
      }
    for (const Instruction* write : writes) sumVariables_.insert(static_cast<VariableId>(write->payload));
    for (VariableId other : others) sumVariables_.erase(other);
    for (bool changed = true; changed;) {
      changed = false;
      for (const Instruction* write : writes)
        if (!isMultiple(write->operands[0], nullptr))
          changed |= sumVariables_.erase(static_cast<VariableId>(write->payload)) != 0;
    }
  }

  size_t countSums(const Block& block) const {
    return static_cast<size_t>(
        std::ranges::count_if(block.instructions, [&](const Instruction* i) { return sums_.count(i) != 0; }));
  }

  // Whether so many looks at what is added first are spared that remembering is worth it.
  bool areOftenAdded() const {
    size_t all = 0, spared = 0;
    for (const Block* block : function_.blocks) {
      const size_t count = countSums(*block);
      if (count > longBlock) return false;
      std::unordered_set<VariableId> added;
      for (const Instruction* i : block->instructions) {
        if (sums_.count(i) == 0 || i->operands[2]->op != Op::ReadVar) continue;
        const auto variable = static_cast<VariableId>(i->operands[2]->payload);
        if (sumVariables_.count(variable) != 0 && startsWith(*block, variable)) added.insert(variable);
      }
      all += count;
      spared += std::min(added.size(), usualRun) * ((count + usualRun - 1) / usualRun);
    }
    return spared * sumsForEach >= all;
  }

  // Whether the block reads a variable before it writes it.
  static bool startsWith(const Block& block, VariableId variable) {
    const auto first = std::ranges::find_if(block.instructions, [&](const Instruction* i) {
      return (i->op == Op::ReadVar || i->op == Op::WriteVar) && static_cast<VariableId>(i->payload) == variable;
    });
    return (*first)->op == Op::ReadVar;
  }

  // No thread has seen anything yet.
  void begin() {
    function_.computePredecessors();
    if (!function_.blocks.front()->predecessors.empty()) {
      Block* first = function_.addBlock();
      std::rotate(function_.blocks.begin(), function_.blocks.end() - 1, function_.blocks.end());
      b_.setBlock(first);
      b_.branch(function_.blocks[1]);
    }
    Block start;
    b_.setBlock(&start);
    if (least_) b_.write(*least_, b_.f32(std::numeric_limits<float>::infinity()));
    if (shared_.isUsed()) shared_.begin(b_);
    auto& entry = function_.blocks.front()->instructions;
    entry.insert(entry.begin(), start.instructions.begin(), start.instructions.end());
  }

  void repairBlock(Block* block) {
    const size_t count = countSums(*block);
    if (count == 0) return;
    longestRun_ = count > longBlock ? longRun : usualRun;
    std::vector<Instruction*> old = std::move(block->instructions);
    ir::Terminator end = std::move(block->terminator);
    block->instructions.clear();
    block->terminator = {};
    original_ = block;
    end_ = &end;
    held_.clear();
    b_.setBlock(block);
    for (Instruction* i : old) {
      const bool isSum = sums_.count(i) != 0;
      if ((run_.concerns(*i) && !isRepeatable(*i)) || i->op == Op::Call || (isSum && run_.sums.size() == longestRun_))
        closeRun();
      append(i, isSum);
    }
    closeRun();
    b_.block()->terminator = std::move(end);
    lastPart_[block] = b_.block();
    original_ = nullptr;
  }

  void append(Instruction* i, bool isSum) {
    const bool isMember = isSum || run_.concerns(*i);
    b_.block()->instructions.push_back(i);
    if (isMember) {
      run_.members.push_back(i);
      run_.dependent.insert(i);
    }
    const auto variable = static_cast<VariableId>(i->payload);
    if (i->op == Op::WriteVar) {
      held_[variable] = origin(i->operands[0]);
      if (isMember) run_.written[variable] = i->operands[0];
      else run_.written.erase(variable);
    }
    if (i->op == Op::ReadVar) origins_[i] = held_.try_emplace(variable, i).first->second;
    if (i->op == Op::Call) held_.clear();
    if (!isSum) return;
    b_.setSource(i->source);
    for (int n : {0, 1}) measure(i->operands[n]);
    Instruction* addend = magnitudeOf(i->operands[2]);
    if (!contains(run_.addends, addend)) run_.addends.push_back(addend);
    run_.sums.push_back(i);
  }

  // A difference from a number in shared memory is as good as both: the other one is often of many differences.
  void measure(Instruction* factor) {
    factor = magnitudeOf(factor);
    if (isLarge(factor, run_)) return;
    if ((factor->op == Op::FAdd || factor->op == Op::FSub) && !factor->fp.approximate)
      for (int n : {0, 1})
        if (shared_.has(magnitudeOf(factor->operands[n]))) {
          run_.readsShared = true;
          return measure(factor->operands[1 - n]);
        }
    run_.factors.push_back(factor);
  }

  // What has the magnitude of a value.
  Instruction* magnitudeOf(Instruction* value) const {
    value = origin(value);
    while (value->op == Op::FNeg || value->op == Op::FAbs) value = origin(value->operands[0]);
    return value;
  }
  bool isAtLeast(const Instruction* value, float least) const {
    const analyses::FloatRange range = ranges_.rangeOf(value);
    return range.low >= least || range.high <= -least;
  }
  // Whether a value is a multiple of what factors have to be multiples of.
  bool isLarge(Instruction* value, Run& run, int depth = 2) const {
    value = magnitudeOf(value);
    if (contains(run.factors, value) || isAtLeast(value, leastFactor)) return true;
    if (shared_.has(value)) return run.readsShared = true;
    if ((value->op != Op::FAdd && value->op != Op::FSub) || value->fp.approximate || depth == 0) return false;
    return isLarge(value->operands[0], run, depth - 1) && isLarge(value->operands[1], run, depth - 1);
  }
  // Whether a value is a multiple of the smallest normal number where the run's factors are large; of no run, where all
  // are.
  bool isMultiple(Instruction* value, Run* run, int depth = 6) const {
    value = magnitudeOf(value);
    if (run ? contains(run->sums, value) || contains(run->factors, value) : sums_.count(value) != 0) return true;
    if (isAtLeast(value, leastAddend) || (run && isLarge(value, *run))) return true;
    if (const auto known = ranges_.constantOf(value)) {  // NaNs do no harm
      const uint64_t magnitude = *known & 0x7FFF'FFFF;
      return magnitude == 0 || magnitude >= std::bit_cast<uint32_t>(leastAddend);
    }
    auto isPart = [&](Instruction* part) { return isMultiple(part, run, depth - 1); };
    if (depth == 0 || value->fp.approximate) return false;
    switch (value->op) {
      case Op::FAdd:
      case Op::FSub: return isPart(value->operands[0]) && isPart(value->operands[1]);
      case Op::Select: return isPart(value->operands[1]) && isPart(value->operands[2]);
      case Op::FMul: return run && isLarge(value->operands[0], *run) && isLarge(value->operands[1], *run);
      case Op::ReadVar: {
        const bool isSum = sumVariables_.count(static_cast<VariableId>(value->payload)) != 0;
        if (run) run->trusts |= isSum;
        return isSum;
      }
      case Op::UToF:
      case Op::SToF: return true;
      default: return false;
    }
  }

  // The first of the values that are this one, read from variables.
  Instruction* origin(Instruction* value) const {
    const auto found = origins_.find(value);
    return found == origins_.end() ? value : found->second;
  }

  void closeRun() {
    Run run = std::exchange(run_, {});
    std::erase_if(run.addends, [&](Instruction* addend) { return isMultiple(addend, &run); });
    Instruction* isSmall = nullptr;
    for (const auto& [values, least] : {std::pair(&run.factors, leastFactor), std::pair(&run.addends, leastAddend)}) {
      Instruction* known = run.trusts && values == &run.factors ? b_.read(*least_) : nullptr;
      if (values->empty() && !known) continue;
      Instruction* isBelow = b_.compare(Op::FLt, leastMagnitude(*values, known), b_.f32(least));
      isSmall = isSmall ? b_.bitOr(isSmall, isBelow) : isBelow;
    }
    if (run.readsShared) {
      Instruction* hasSmall = b_.compare(Op::INe, shared_.readWord(b_), b_.i32(0));
      isSmall = isSmall ? b_.bitOr(isSmall, hasSmall) : hasSmall;
    }
    if (!isSmall) return;
    for (const auto& [variable, value] : run.written) held_.erase(variable);
    std::vector<std::pair<Instruction*, VariableId>> outputs;
    std::vector<VariableId> multiples;  // what others will take for them
    for (const auto& [variable, value] : run.written)
      if (sumVariables_.count(variable) != 0) multiples.push_back(variable);
    for (Instruction* i : run.members) {
      if (i->op == Op::WriteVar || !isUsedOutside(*i, run)) continue;
      outputs.emplace_back(i, function_.addVariable(i->type, "exact"));
      b_.write(outputs.back().second, i);
      if (least_ && i->type == F32 && isMultiple(i, &run)) multiples.push_back(outputs.back().second);
    }
    sumVariables_.insert(multiples.begin(), multiples.end());
    Block *look = function_.addBlock(), *again = function_.addBlock();
    Block *settle = multiples.empty() ? nullptr : function_.addBlock(), *join = function_.addBlock();
    b_.branch(isSmall, look, join);
    b_.setBlock(look);
    b_.branch(isWrong(run), again, settle ? settle : join);
    b_.setBlock(again);
    repeat(run, outputs);
    b_.branch(settle ? settle : join);
    if (settle) {
      b_.setBlock(settle);
      remember(multiples);
      b_.branch(join);
    }
    b_.setBlock(join);
    for (auto& [value, variable] : outputs) replaceOutside(value, b_.read(variable), run);
  }

  // Whether all of the variables still hold multiples.
  void remember(const std::vector<VariableId>& multiples) {
    Instruction* least = b_.read(*least_);
    for (VariableId variable : multiples) {
      Instruction* twice = b_.shl(b_.bitcast(ir::I32, b_.read(variable)), b_.i32(1));
      const uint32_t bound = 2 * std::bit_cast<uint32_t>(leastAddend);
      Instruction* isOther = b_.compare(Op::ULt, b_.sub(twice, b_.i32(1)), b_.i32(bound - 1));  // and not zero
      least = b_.select(isOther, b_.f32(0), least);
    }
    b_.write(*least_, least);
  }

  Instruction* leastMagnitude(const std::vector<Instruction*>& values, Instruction* least) {
    for (Instruction* value : values) {
      Instruction* magnitude = b_.unary(Op::FAbs, value);
      least = least ? b_.binary(Op::FMin, least, magnitude) : magnitude;
    }
    return least;
  }

  bool isUsedOutside(const Instruction& i, const Run& run) const {
    if (enders_.count(&i)) return true;
    const auto users = users_.find(&i);
    return users != users_.end() && std::any_of(users->second.begin(), users->second.end(),
                                                [&](const Instruction* user) { return !run.dependent.count(user); });
  }

  void replaceOutside(Instruction* value, Instruction* by, const Run& run) {
    for (Instruction* user : users_[value]) {
      if (run.dependent.count(user)) continue;
      std::replace(user->operands.begin(), user->operands.end(), value, by);
    }
    if (const auto found = enders_.find(value); found != enders_.end())
      for (Block* block : found->second) terminatorOf(block).value = by;
  }

  ir::Terminator& terminatorOf(Block* block) {
    if (block == original_) return *end_;
    const auto last = lastPart_.find(block);
    return (last == lastPart_.end() ? block : last->second)->terminator;
  }

  // Zeros are many and do no harm as operands. A zero that a product with a zero gives is none that was flushed.
  Instruction* isWrong(const Run& run) {
    Instruction* result = b_.boolean(false);
    auto twice = [&](Instruction* x) { return b_.shl(b_.bitcast(ir::I32, x), b_.i32(1)); };
    for (Instruction* sum : run.sums) {
      for (Instruction* x : sum->operands)
        if (!ranges_.isNeverDenormal(x))
          result = b_.bitOr(result, b_.compare(Op::ULt, b_.sub(twice(x), b_.i32(1)), b_.i32(0x00FF'FFFF)));
      Instruction* isSmall = b_.compare(Op::ULe, twice(sum), b_.i32(0x0100'0000));
      for (int n : {0, 1}) isSmall = b_.bitAnd(isSmall, b_.compare(Op::INe, twice(sum->operands[n]), b_.i32(0)));
      result = b_.bitOr(result, isSmall);
    }
    return result;
  }

  void repeat(const Run& run, const std::vector<std::pair<Instruction*, VariableId>>& outputs) {
    std::unordered_map<const Instruction*, Instruction*> exact;
    std::unordered_map<VariableId, Instruction*> variables;
    auto exactly = [&](Instruction* x) {
      const auto found = exact.find(x);
      return found == exact.end() ? x : found->second;
    };
    for (Instruction* i : run.members) {
      const auto variable = static_cast<VariableId>(i->payload);
      b_.setSource(i->source);
      if (i->op == Op::WriteVar) {
        variables[variable] = exactly(i->operands[0]);
      } else if (i->op == Op::ReadVar) {
        exact[i] = variables[variable];
      } else if (contains(run.sums, i)) {
        std::vector<Instruction*> x;
        for (Instruction* operand : i->operands) x.push_back(exactly(operand));
        exact[i] = arithmetic_.oneNan(arithmetic_.compute(Op::Fma, ir::Rounding::NearestEven, x));
      } else {
        Instruction* copy = function_.clone(*i);
        for (Instruction*& operand : copy->operands) operand = exactly(operand);
        b_.block()->instructions.push_back(copy);
        exact[i] = copy;
      }
    }
    for (const auto& [variable, value] : run.written) b_.write(variable, exactly(value));
    for (const auto& [value, variable] : outputs) b_.write(variable, exactly(value));
  }

  ir::Function& function_;
  const std::unordered_set<const Instruction*>& sums_;
  ir::Builder b_;
  RoundedArithmetic arithmetic_;
  analyses::FloatRanges ranges_;
  std::unordered_map<const Instruction*, std::vector<Instruction*>> users_;
  std::unordered_map<const Instruction*, std::vector<Block*>> enders_;  // whose terminator asks for the value
  std::unordered_map<const Instruction*, Instruction*> origins_;        // of what is read from variables
  std::unordered_map<VariableId, Instruction*> held_;                   // by variables at this place of the block
  std::unordered_map<Block*, Block*> lastPart_;                         // of blocks that were taken apart
  std::unordered_set<VariableId> sumVariables_;                         // that hold multiples
  std::optional<VariableId> least_;                                     // what the thread has seen of them
  SharedNumbers shared_;
  size_t longestRun_ = usualRun;  // in this block
  Block* original_ = nullptr;     // what is being taken apart, and its end
  ir::Terminator* end_ = nullptr;
  Run run_;
};

}  // namespace

void repairMultiplyAdds(ir::Function& function, ir::Program& program, const TargetProfile& profile,
                        const std::unordered_set<const Instruction*>& sums) {
  if (!sums.empty()) Repair(function, program, profile, sums).run();
}

}  // namespace mulciber::passes
