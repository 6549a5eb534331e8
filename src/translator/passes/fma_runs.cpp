#include "translator/passes/fma_runs.h"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "translator/analyses/float_ranges.h"
#include "translator/ir/builder.h"
#include "translator/passes/fma_run_finder.h"
#include "translator/passes/rounded_arithmetic.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::F32;
using ir::Instruction;
using ir::Op;
using ir::VariableId;

bool contains(const std::vector<Instruction*>& values, const Instruction* value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// A run is repeated by multiply-adds of larger numbers first if it has at least this many. A driver runs a shorter
// repeat for all threads, beside the rest, rather than branch round it.
constexpr size_t fewestEnlarged = 12;
// Of a function with more multiply-adds a driver takes long to compile results that meet behind one more branch.
constexpr size_t mostInFunction = 512;

class Repair {
  using Outputs = std::vector<std::pair<Instruction*, VariableId>>;  // what is used outside, and where it is held

 public:
  Repair(ir::Function& function, const TargetProfile& profile, const std::unordered_set<const Instruction*>& sums,
         size_t longest)
      : function_(function),
        sums_(sums),
        b_(function),
        arithmetic_(b_, profile),
        ranges_(function),
        finder_(sums, ranges_, longest) {
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
    finder_.beginBlock();
    b_.setBlock(block);
    for (Instruction* i : old) {
      if (finder_.endsBefore(*i)) closeRun();
      b_.block()->instructions.push_back(i);
      if (sums_.count(i) != 0) b_.setSource(i->source);
      finder_.add(i);
    }
    closeRun();
    b_.block()->terminator = std::move(end);
    lastPart_[block] = b_.block();
    original_ = nullptr;
  }

  void closeRun() {
    const FmaRun run = finder_.take();
    if (!run.isLookedAt()) return;
    for (const auto& [variable, value] : run.written) finder_.forget(variable);
    Outputs outputs;
    for (Instruction* i : run.members) {
      if (i->op == Op::WriteVar || !isUsedOutside(*i, run)) continue;
      outputs.emplace_back(i, function_.addVariable(i->type, "exact"));
      b_.write(outputs.back().second, i);
    }
    Block *look = function_.addBlock(), *again = function_.addBlock(), *join = function_.addBlock();
    b_.branch(isAnyBelow(run, &Repair::areBelow), look, join);
    b_.setBlock(look);
    if (run.sums.size() < fewestEnlarged || sums_.size() > mostInFunction) {
      b_.branch(isWrong(run), again, join);
    } else {
      Block* enlarged = function_.addBlock();
      b_.branch(isAnyBelow(run, &Repair::areNonzeroBelow), enlarged, join);
      b_.setBlock(enlarged);
      b_.branch(repeatEnlarged(run, outputs), again, join);
    }
    b_.setBlock(again);
    repeat(run, outputs, [&](const std::vector<Instruction*>& x) {
      return arithmetic_.oneNan(arithmetic_.compute(Op::Fma, ir::Rounding::NearestEven, x));
    });
    b_.branch(join);
    b_.setBlock(join);
    for (auto& [value, variable] : outputs) replaceOutside(value, b_.read(variable), run);
  }

  // Whether a factor or an addend of the run may be too small.
  Instruction* isAnyBelow(const FmaRun& run, Instruction* (Repair::*look)(const std::vector<Instruction*>&, float)) {
    Instruction* result = nullptr;
    for (const auto& [values, least] :
         {std::pair(&run.factors, FmaRun::leastFactor), std::pair(&run.addends, FmaRun::leastAddend)}) {
      if (values->empty()) continue;
      Instruction* areSome = (this->*look)(*values, least);
      result = result ? b_.bitOr(result, areSome) : areSome;
    }
    return result;
  }
  Instruction* areBelow(const std::vector<Instruction*>& values, float bound) {
    Instruction* least = nullptr;
    for (Instruction* value : values) {
      Instruction* magnitude = b_.unary(Op::FAbs, value);
      least = least ? b_.binary(Op::FMin, least, magnitude) : magnitude;
    }
    return b_.compare(Op::FLt, least, b_.f32(bound));
  }
  // Of twice the bits less one zeros are the largest.
  Instruction* areNonzeroBelow(const std::vector<Instruction*>& values, float bound) {
    Instruction* least = nullptr;
    for (Instruction* value : values) {
      Instruction* size = b_.sub(twice(value), b_.i32(1));
      least = least ? b_.binary(Op::UMin, least, size) : size;
    }
    return b_.compare(Op::ULt, least, b_.i32(2 * std::bit_cast<uint32_t>(bound) - 1));
  }

  Instruction* twice(Instruction* x) { return b_.shl(b_.bitcast(ir::I32, x), b_.i32(1)); }

  bool isUsedOutside(const Instruction& i, const FmaRun& run) const {
    if (enders_.count(&i)) return true;
    const auto users = users_.find(&i);
    return users != users_.end() && std::any_of(users->second.begin(), users->second.end(),
                                                [&](const Instruction* user) { return !run.dependent.count(user); });
  }

  void replaceOutside(Instruction* value, Instruction* by, const FmaRun& run) {
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
  Instruction* isWrong(const FmaRun& run) {
    Instruction* result = b_.boolean(false);
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

  // By the device's multiply-adds of larger numbers. Returns whether one of them may be wrong nevertheless.
  Instruction* repeatEnlarged(const FmaRun& run, const Outputs& outputs) {
    Instruction* isRare = b_.boolean(false);
    repeat(run, outputs, [&](const std::vector<Instruction*>& x) {
      const auto guess = arithmetic_.quickSmallFma(x[0], x[1], x[2]);
      isRare = b_.bitOr(isRare, guess.isRare);
      return guess.result;
    });
    return isRare;
  }

  template <typename MultiplyAdd>
  void repeat(const FmaRun& run, const Outputs& outputs, MultiplyAdd multiplyAdd) {
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
        exact[i] = multiplyAdd(x);
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
  FmaRunFinder finder_;
  std::unordered_map<const Instruction*, std::vector<Instruction*>> users_;
  std::unordered_map<const Instruction*, std::vector<Block*>> enders_;  // whose terminator asks for the value
  std::unordered_map<Block*, Block*> lastPart_;                         // of blocks that were taken apart
  Block* original_ = nullptr;                                           // what is being taken apart, and its end
  ir::Terminator* end_ = nullptr;
};

}  // namespace

void repairInRuns(ir::Function& function, const TargetProfile& profile,
                  const std::unordered_set<const Instruction*>& sums, size_t longest) {
  if (!sums.empty()) Repair(function, profile, sums, longest).run();
}

}  // namespace mulciber::passes
