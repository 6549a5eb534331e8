#include "translator/passes/fma_runs.h"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "translator/analyses/float_ranges.h"
#include "translator/ir/builder.h"
#include "translator/passes/rounded_arithmetic.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::F32;
using ir::Instruction;
using ir::Op;
using ir::VariableId;

constexpr size_t longestRun = 32;  // of multiply-adds: all of them are computed again where one has to be

// Products of factors from 2^-40 on are multiples of 2^-126, the smallest normal number, as numbers from 2^-103 on are.
// Sums of multiples are multiples, and rounded they stay so: they are zero or normal, whatever cancels. So nothing is
// denormal in a run whose factors and first addends have these sizes.
constexpr float leastFactor = 0x1p-40f, leastAddend = 0x1p-103f;

// Multiply-adds that share a branch, with all that depends on them so far.
struct Run {
  std::vector<Instruction*> members;  // in order
  std::unordered_set<const Instruction*> dependent;
  std::unordered_map<VariableId, Instruction*> written;  // variables that hold a dependent value
  std::vector<Instruction*> sums;                        // the multiply-adds
  std::vector<Instruction*> factors, addends;            // whose magnitudes decide, each once, without signs

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
  Repair(ir::Function& function, const TargetProfile& profile, const std::unordered_set<const Instruction*>& sums)
      : function_(function), sums_(sums), b_(function), arithmetic_(b_, profile), ranges_(function) {
    for (Block* block : function.blocks) {
      for (Instruction* i : block->instructions)
        for (Instruction* operand : i->operands) users_[operand].push_back(i);
      if (block->terminator.value) enders_[block->terminator.value].push_back(block);
    }
  }

  void run() {
    // Blocks that are split off on the way come behind these, and hold nothing that is left to do.
    for (size_t n = 0, count = function_.blocks.size(); n < count; n++) repairBlock(function_.blocks[n]);
  }

 private:
  void repairBlock(Block* block) {
    const bool hasAny = std::any_of(block->instructions.begin(), block->instructions.end(),
                                    [&](const Instruction* i) { return sums_.count(i) != 0; });
    if (!hasAny) return;
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
      if ((run_.concerns(*i) && !isRepeatable(*i)) || i->op == Op::Call || (isSum && run_.sums.size() == longestRun))
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
    for (int n : {0, 1}) {
      Instruction* factor = magnitudeOf(i->operands[n]);
      if (!isLarge(factor, run_)) run_.factors.push_back(factor);
    }
    Instruction* addend = magnitudeOf(i->operands[2]);
    if (!contains(run_.addends, addend)) run_.addends.push_back(addend);
    run_.sums.push_back(i);
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
  bool isLarge(Instruction* value, const Run& run) const {
    value = magnitudeOf(value);
    return contains(run.factors, value) || isAtLeast(value, leastFactor);
  }
  // Whether a value is a multiple of the smallest normal number where the run's factors are large.
  bool isMultiple(Instruction* value, const Run& run, int depth = 6) const {
    value = magnitudeOf(value);
    if (contains(run.sums, value) || contains(run.factors, value) || isAtLeast(value, leastAddend)) return true;
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
      case Op::FMul: return isLarge(value->operands[0], run) && isLarge(value->operands[1], run);
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
    std::erase_if(run.addends, [&](Instruction* addend) { return isMultiple(addend, run); });
    Instruction* isSmall = nullptr;
    for (const auto& [values, least] : {std::pair(&run.factors, leastFactor), std::pair(&run.addends, leastAddend)}) {
      if (values->empty()) continue;
      Instruction* isBelow = b_.compare(Op::FLt, leastMagnitude(*values), b_.f32(least));
      isSmall = isSmall ? b_.bitOr(isSmall, isBelow) : isBelow;
    }
    if (!isSmall) return;
    for (const auto& [variable, value] : run.written) held_.erase(variable);
    std::vector<std::pair<Instruction*, VariableId>> outputs;
    for (Instruction* i : run.members) {
      if (i->op == Op::WriteVar || !isUsedOutside(*i, run)) continue;
      outputs.emplace_back(i, function_.addVariable(i->type, "exact"));
      b_.write(outputs.back().second, i);
    }
    Block *look = function_.addBlock(), *again = function_.addBlock(), *join = function_.addBlock();
    b_.branch(isSmall, look, join);
    b_.setBlock(look);
    b_.branch(isWrong(run), again, join);
    b_.setBlock(again);
    repeat(run, outputs);
    b_.branch(join);
    b_.setBlock(join);
    for (auto& [value, variable] : outputs) replaceOutside(value, b_.read(variable), run);
  }

  Instruction* leastMagnitude(const std::vector<Instruction*>& values) {
    Instruction* least = nullptr;
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
  Block* original_ = nullptr;                                           // what is being taken apart, and its end
  ir::Terminator* end_ = nullptr;
  Run run_;
};

}  // namespace

void repairInRuns(ir::Function& function, const TargetProfile& profile,
                  const std::unordered_set<const Instruction*>& sums) {
  if (!sums.empty()) Repair(function, profile, sums).run();
}

}  // namespace mulciber::passes
