#include "translator/passes/fast_regions.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "translator/ir/builder.h"
#include "translator/passes/control_flow.h"
#include "translator/passes/hidden_values.h"
#include "translator/passes/region_costs.h"
#include "translator/passes/region_doubts.h"
#include "translator/passes/region_looks.h"
#include "translator/passes/repeatable_regions.h"
#include "translator/passes/shared_numbers.h"

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;
using ir::Terminator;
using ir::VariableId;

constexpr uint32_t exponentOfTwice = 24;  // its lowest bit

// Makes every denormal number normal; the greatest number that may be multiplied so; and what makes every normal number
// as large as what is looked at has to be.
constexpr float exponentialScale = 0x1p24f, mostExponential = 0x1p104f, resultScale = 0x1p86f;

constexpr uint32_t twice(int exponent) { return static_cast<uint32_t>(exponent + 127) << exponentOfTwice; }
constexpr uint32_t boundOf(Size size) { return twice(leastExponents[static_cast<unsigned>(size)]); }
// What nothing that is looked at counts as.
constexpr uint32_t mostOf(Size size) {
  return size == Size::First || size == Size::Second ? twice(largestExponent) : UINT32_MAX;
}

class Maker {
 public:
  Maker(ir::Function& function, ir::Program& program, const TargetProfile& profile,
        std::unordered_set<const Instruction*>& sums, bool onlyCheaper)
      : function_(function),
        sums_(sums),
        onlyCheaper_(onlyCheaper),
        b_(function),
        hidden_(function),
        ranges_(function),
        exponentials_(function, ranges_),
        shared_(function, program, profile, std::bit_cast<float>(boundOf(Size::Factor) / 2)) {}

  std::unordered_set<const Instruction*> run() {
    separateEntry(function_);
    std::vector<RepeatableRegion> regions = findRepeatableRegions(function_, sums_, exponentials_);
    std::erase_if(regions, [&](const RepeatableRegion& region) { return !isWorthwhile(region); });
    joinOthers(regions);
    indexUses();
    for (const RepeatableRegion& region : regions) exposeValues(region);
    for (const RepeatableRegion& region : regions) repair(region);
    if (shared_.isUsed()) {
      shared_.lookAtStores(b_);
      Block start;
      b_.setBlock(&start);
      shared_.begin(b_);
      auto& entry = function_.blocks.front()->instructions;
      entry.insert(entry.begin(), start.instructions.begin(), start.instructions.end());
    }
    hidden_.apply();
    return std::move(copies_);
  }

 private:
  struct Use {
    Block* block;
    Instruction* user;  // null: the block's terminator
  };
  // What is made for the region at hand.
  struct Work {
    const RepeatableRegion& region;
    RegionLooks looks{};
    RegionDoubts doubts{};
    std::unordered_set<const Instruction*> inside{};
    std::unordered_set<VariableId> entering{}, written{};
    std::map<Size, VariableId> least{};                  // of what was looked at, as twice their bits less one
    VariableId most{};                                   // of the exponentials, if there are any
    std::unordered_map<VariableId, VariableId> saved{};  // what the region writes, as it was
    Block* again = nullptr;                              // where the copy begins
    std::unordered_map<Block*, Block*> checks{};         // in front of what exits lead to
  };

  void indexUses() {
    for (Block* block : function_.blocks) {
      for (Instruction* i : block->instructions) {
        if (i->op == Op::ReadVar) readers_[static_cast<VariableId>(i->payload)].push_back(block);
        for (Instruction* operand : i->operands) uses_[operand].push_back({block, i});
      }
      if (block->terminator.value) uses_[block->terminator.value].push_back({block, nullptr});
    }
  }

  // What has to be known of a region, and whether looks suffice in it.
  bool analyse(Work& work) {
    findEntering(work);
    work.doubts = findDoubts(work.region, sums_);
    work.looks = findLooks(work.region, sums_, work.entering, ranges_, exponentials_, shared_, !work.doubts.any());
    return work.looks.suffice;
  }

  // Multiply-adds that are right where they stand need no region.
  bool isWorthwhile(const RepeatableRegion& region) {
    Work work{region};
    if (!analyse(work)) return false;
    if (!work.looks.any()) {
      for (Block* block : region.blocks)
        for (const Instruction* i : block->instructions) sums_.erase(i);
      return false;
    }
    return !onlyCheaper_ || isCheaperThanRuns(region, work.looks, work.doubts, sums_, ranges_);
  }

  // Blocks were taken apart for regions: what will be none has longer runs in one piece.
  void joinOthers(const std::vector<RepeatableRegion>& regions) {
    std::unordered_set<const Block*> taken;
    for (const RepeatableRegion& region : regions) taken.insert(region.blocks.begin(), region.blocks.end());
    auto isFree = [&](const Block* block) { return taken.count(block) == 0; };
    std::unordered_set<const Block*> joined;
    for (Block* block : function_.blocks) {
      if (joined.count(block) != 0 || !isFree(block)) continue;
      while (block->terminator.kind == Terminator::Kind::Branch) {
        Block* next = block->terminator.targets[0];
        if (next == block || next->predecessors.size() != 1 || next->merge.dontUnroll || !isFree(next)) break;
        block->instructions.insert(block->instructions.end(), next->instructions.begin(), next->instructions.end());
        block->terminator = std::exchange(next->terminator, {});
        next->instructions.clear();
        joined.insert(next);
      }
    }
    std::erase_if(function_.blocks, [&](const Block* block) { return joined.count(block) != 0; });
    function_.computePredecessors();
  }

  void repair(const RepeatableRegion& region) {
    Work work{region};
    if (!analyse(work)) return;
    for (VariableId variable : work.doubts.written)
      if (isReadOutside(variable, region)) work.entering.insert(variable);
    moveReturns(region);
    work.again = function_.addBlock();
    // The copy comes first: what is put into the region is not for it.
    copyRegion(work);
    makeFast(work);
  }

  // Variables that are read in the region before it has written them for certain.
  void findEntering(Work& work) {
    const RepeatableRegion& region = work.region;
    std::unordered_map<const Block*, std::unordered_set<VariableId>> exposed, writes;
    std::unordered_set<VariableId> candidates;
    for (const Block* block : region.blocks) {
      auto& own = writes[block];
      for (const Instruction* i : block->instructions) {
        const auto variable = static_cast<VariableId>(i->payload);
        if (i->op == Op::WriteVar) {
          own.insert(variable);
          work.written.insert(variable);
        } else if (i->op == Op::ReadVar && own.count(variable) == 0) {
          exposed[block].insert(variable);
          candidates.insert(variable);
        }
      }
    }
    // What all ways to a block have written.
    std::unordered_map<const Block*, std::unordered_set<VariableId>> before;
    std::unordered_set<VariableId> interesting;
    for (VariableId variable : candidates)
      if (work.written.count(variable) != 0) interesting.insert(variable);
      else work.entering.insert(variable);
    for (const Block* block : region.blocks)
      before[block] = block == region.entry ? std::unordered_set<VariableId>() : interesting;
    for (bool changed = true; changed;) {
      changed = false;
      for (const Block* block : region.blocks) {
        if (block == region.entry) continue;
        changed |=
            std::erase_if(before[block], [&](VariableId variable) {
              return std::ranges::any_of(block->predecessors, [&](const Block* from) {
                return region.contains(from) && before[from].count(variable) == 0 && writes[from].count(variable) == 0;
              });
            }) != 0;
      }
    }
    for (const auto& [block, variables] : exposed)
      for (VariableId variable : variables)
        if (work.written.count(variable) != 0 && before[block].count(variable) == 0) work.entering.insert(variable);
  }

  // What is used elsewhere goes through variables, which both copies write.
  void exposeValues(const RepeatableRegion& region) {
    for (Block* block : region.blocks) {
      const std::vector<Instruction*> old = std::exchange(block->instructions, {});
      for (Instruction* i : old) {
        block->instructions.push_back(i);
        const auto uses = uses_.find(i);
        if (uses == uses_.end()) continue;
        std::optional<VariableId> variable;
        for (Use& use : uses->second) {
          if (region.contains(use.block)) continue;
          if (!variable) {
            variable = function_.addVariable(i->type, "exact");
            b_.setBlock(block);
            b_.write(*variable, i);
          }
          replaceUse(use, i, *variable);
        }
      }
    }
  }
  void replaceUse(const Use& use, Instruction* value, VariableId variable) {
    Block part;
    b_.setBlock(&part);
    Instruction* read = b_.read(variable);
    readers_[variable].push_back(use.block);
    auto& instructions = use.block->instructions;
    auto place = instructions.end();
    if (use.user) {
      place = std::ranges::find(instructions, use.user);
      std::ranges::replace(use.user->operands, value, read);
    } else {
      use.block->terminator.value = read;
    }
    instructions.insert(place, read);
  }

  void moveReturns(const RepeatableRegion& region) {
    for (Block* block : region.blocks) {
      const Terminator::Kind kind = block->terminator.kind;
      if (kind != Terminator::Kind::Return && kind != Terminator::Kind::Unreachable) continue;
      Block* end = function_.addBlock();
      end->terminator = std::exchange(block->terminator, {Terminator::Kind::Branch, nullptr, {end}, {}});
    }
  }

  static bool canBeHidden(ir::Type type) { return !type.isBool() && type.totalBits() <= 64; }

  void copyRegion(Work& work) {
    const RepeatableRegion& region = work.region;
    std::unordered_map<const Block*, Block*> blocks;
    std::unordered_map<const Instruction*, Instruction*> values;
    std::unordered_map<VariableId, VariableId> variables;
    for (const Block* block : region.blocks) blocks[block] = function_.addBlock(block->name);
    b_.setBlock(work.again);
    auto hide = [&](Instruction* value) { return canBeHidden(value->type) ? hidden_.hide(b_, value) : value; };
    // Drivers must not find that both copies compute the same: they would keep all of it.
    for (VariableId variable : work.entering) {
      const ir::VariableInfo info = function_.variables[variable];
      if (work.written.count(variable) != 0) {
        work.saved[variable] = function_.addVariable(info.type, "before");
        b_.write(variable, hide(b_.read(work.saved[variable])));
      } else if (canBeHidden(info.type)) {
        variables[variable] = function_.addVariable(info.type, info.name);
        b_.write(variables[variable], hide(b_.read(variable)));
      }
    }
    for (VariableId variable : work.written) {
      if (work.entering.count(variable) != 0 || isReadOutside(variable, region)) continue;
      const ir::VariableInfo info = function_.variables[variable];
      variables[variable] = function_.addVariable(info.type, info.name);
    }
    auto& inside = work.inside;
    for (const Block* block : region.blocks) inside.insert(block->instructions.begin(), block->instructions.end());
    auto copyOf = [&](Instruction* value) -> Instruction* {
      if (inside.count(value) != 0) return values.at(value);
      if (value->isConstant()) return value;
      Instruction*& copy = values[value];
      if (!copy) {
        b_.setBlock(work.again);
        copy = hide(value);
      }
      return copy;
    };
    for (Block* block : region.blocks)
      for (Instruction* i : block->instructions) values[i] = function_.clone(*i);
    for (Block* block : region.blocks) {
      Block* copied = blocks[block];
      for (Instruction* i : block->instructions) {
        Instruction* copy = values[i];
        for (Instruction*& operand : copy->operands) operand = copyOf(operand);
        if (i->op == Op::ReadVar || i->op == Op::WriteVar) {
          const auto renamed = variables.find(static_cast<VariableId>(i->payload));
          if (renamed != variables.end()) copy->payload = renamed->second;
        }
        b_.setBlock(copied);
        b_.setSource(i->source);
        if (i->op == Op::Load) copy->operands[0] = hide(copy->operands[0]);
        copied->instructions.push_back(copy);
        if (sums_.count(i) != 0) copies_.insert(copy);
      }
      copied->terminator = block->terminator;
      if (copied->terminator.value) copied->terminator.value = copyOf(copied->terminator.value);
      for (Block*& target : copied->terminator.targets)
        if (region.keeps(block, target)) target = blocks[target];
      copied->merge.dontUnroll = region.depths.at(block) > 0 || block->merge.dontUnroll;
    }
    b_.setBlock(work.again);
    b_.branch(blocks[region.entry]);
    for (Block* block : region.blocks)
      for (const Instruction* i : block->instructions) sums_.erase(i);
  }

  bool isReadOutside(VariableId variable, const RepeatableRegion& region) const {
    if (std::ranges::find(function_.returns, variable) != function_.returns.end()) return true;
    const auto found = readers_.find(variable);
    return found != readers_.end() &&
           std::ranges::any_of(found->second, [&](const Block* block) { return !region.contains(block); });
  }

  VariableId leastOf(Work& work, Size size) {
    const auto [found, isNew] = work.least.try_emplace(size, VariableId{});
    if (isNew) found->second = function_.addVariable(ir::I32, "least");
    return found->second;
  }

  // One after the other: NVIDIA's hardware takes the least of three numbers at once.
  void lookAt(Work& work, Instruction* value, Size size) {
    const VariableId least = leastOf(work, size);
    b_.write(least, b_.binary(Op::UMin, b_.read(least), twiceTheBitsLessOne(b_, value)));
  }

  Instruction* multiplyAdd(Instruction* x, Instruction* y, Instruction* z) {
    return b_.emit(Op::Fma, ir::F32, {x, y, z});
  }
  // The exponential is multiplied by what the other factor is divided by, so that it is no longer denormal. Then the
  // sum is looked at. Where the device made a zero of it, `parts` is what is looked at, which is zero only if product
  // and addend are, and at least 2^-40 only if these were so large that they cancelled exactly. A normal sum, made
  // larger, is at least 2^-40.
  void addExponentialSum(Work& work, Instruction* sum, size_t exponential) {
    Instruction *&x = sum->operands[exponential], *&y = sum->operands[1 - exponential];
    Instruction* const other = y;
    x = b_.binary(Op::FMul, x, b_.f32(exponentialScale));
    y = b_.binary(Op::FMul, y, b_.f32(1 / exponentialScale));
    b_.block()->instructions.push_back(sum);
    Instruction* parts = multiplyAdd(b_.unary(Op::FNeg, x), other, sum->operands[2]);
    lookAt(work, multiplyAdd(sum, b_.f32(resultScale), parts), Size::Factor);
  }
  void boundExponential(Work& work, Instruction* value) {
    b_.write(work.most, b_.binary(Op::FMax, b_.read(work.most), b_.unary(Op::FAbs, value)));
  }

  Instruction* isWrong(Work& work) {
    Instruction* result = nullptr;
    auto add = [&](Instruction* one) { result = result ? b_.bitOr(result, one) : one; };
    for (const auto& [size, least] : work.least)
      if (size != Size::First && size != Size::Second)
        add(b_.compare(Op::ULt, b_.read(least), b_.i32(boundOf(size) - 1)));
    if (const auto first = work.least.find(Size::First); first != work.least.end()) {
      auto exponent = [&](Size size) { return b_.lshr(b_.read(work.least.at(size)), b_.i32(exponentOfTwice)); };
      add(b_.compare(Op::ULt, b_.add(exponent(Size::First), exponent(Size::Second)),
                     b_.i32(static_cast<uint32_t>(2 * 127 + leastSumOfExponents))));
    }
    if (!work.looks.exponentials.empty()) add(b_.compare(Op::FLe, b_.f32(mostExponential), b_.read(work.most)));
    if (work.looks.usesShared) add(b_.compare(Op::INe, shared_.readWord(b_), b_.i32(0)));
    return result;
  }

  void makeFast(Work& work) {
    const RepeatableRegion& region = work.region;
    std::vector<std::pair<Instruction*, Size>> before;  // looks at what is computed before the region
    std::set<Size> sizes;
    if (!work.looks.exponentialSums.empty()) sizes.insert(Size::Factor);
    for (const auto& [variable, size] : work.looks.atEntry) sizes.insert(size);
    for (const auto& [value, size] : work.looks.values) {
      sizes.insert(size);
      if (work.inside.count(value) == 0) before.emplace_back(value, size);
    }
    std::ranges::sort(before, {}, [](const auto& look) { return look.first->id; });
    std::vector<Instruction*> exponentials;  // likewise
    for (Instruction* value : work.looks.exponentials)
      if (work.inside.count(value) == 0) exponentials.push_back(value);
    std::ranges::sort(exponentials, {}, [](const Instruction* value) { return value->id; });
    if (!work.looks.exponentials.empty()) work.most = function_.addVariable(ir::F32, "most");
    for (Size size : sizes) leastOf(work, size);
    const RegionDoubts& doubts = work.doubts;
    Block* inner = makeHead(work, before, exponentials);
    for (Block* original : region.blocks) {
      Block* block = original == region.entry ? inner : original;
      Terminator end = std::exchange(block->terminator, {});
      const std::vector<Instruction*> old = std::exchange(block->instructions, {});
      b_.setBlock(block);
      for (Instruction* i : old) {
        b_.setSource(i->source);
        if (doubts.loads.count(i) != 0) leaveIfWrong(work);
        const auto sum = work.looks.exponentialSums.find(i);
        if (sum != work.looks.exponentialSums.end()) addExponentialSum(work, i, sum->second);
        else b_.block()->instructions.push_back(i);
        if (const auto look = work.looks.values.find(i); look != work.looks.values.end()) lookAt(work, i, look->second);
        if (work.looks.exponentials.count(i) != 0) boundExponential(work, i);
      }
      if (doubts.branches.count(original) != 0) waitToBranch(work, original, end);
      for (Block*& target : end.targets) {
        if (!region.keeps(original, target)) target = checkBefore(work, target);
        else if (target == region.entry) target = inner;
      }
      b_.block()->terminator = std::move(end);
    }
  }

  // The entry's block becomes what stands before the region: nothing has been looked at, and what is changed is kept.
  // What it held is now in the block that is returned.
  Block* makeHead(Work& work, const std::vector<std::pair<Instruction*, Size>>& before,
                  const std::vector<Instruction*>& exponentials) {
    const RepeatableRegion& region = work.region;
    Block* inner = function_.addBlock();
    std::swap(inner->instructions, region.entry->instructions);
    std::swap(inner->terminator, region.entry->terminator);
    std::swap(inner->merge, region.entry->merge);
    b_.setBlock(region.entry);
    for (const auto& [size, least] : work.least) b_.write(least, b_.i32(mostOf(size)));
    if (!work.looks.exponentials.empty()) b_.write(work.most, b_.f32(0));
    for (Instruction* value : exponentials) boundExponential(work, value);
    for (const auto& [variable, size] : work.looks.atEntry) lookAt(work, b_.read(variable), size);
    for (const auto& [value, size] : before) lookAt(work, value, size);
    for (const auto& [variable, saved] : work.saved) b_.write(saved, b_.read(variable));
    b_.branch(inner);
    return inner;
  }
  Block* checkBefore(Work& work, Block* target) {
    Block*& check = work.checks[target];
    if (check) return check;
    Block* here = b_.block();
    check = function_.addBlock();
    b_.setBlock(check);
    b_.branch(isWrong(work), work.again, target);
    b_.setBlock(here);
    return check;
  }

  // Where one of the ways leads out of the region it is taken, and the look on that way decides.
  void waitToBranch(Work& work, const Block* original, Terminator& end) {
    const bool isPair = end.kind == Terminator::Kind::Conditional;
    const bool leaves[] = {isPair && !work.region.keeps(original, end.targets[0]),
                           isPair && !work.region.keeps(original, end.targets[1])};
    if (leaves[0] == leaves[1]) return leaveIfWrong(work);
    Instruction* wrong = isWrong(work);
    end.value = leaves[0] ? b_.bitOr(end.value, wrong) : b_.bitAnd(end.value, b_.bitNot(wrong));
  }

  void leaveIfWrong(Work& work) {
    Block* next = function_.addBlock();
    b_.branch(isWrong(work), work.again, next);
    b_.setBlock(next);
  }

  ir::Function& function_;
  std::unordered_set<const Instruction*>& sums_;
  const bool onlyCheaper_;
  ir::Builder b_;
  HiddenValues hidden_;
  analyses::FloatRanges ranges_;
  analyses::Exponentials exponentials_;
  SharedNumbers shared_;
  std::unordered_map<const Instruction*, std::vector<Use>> uses_;
  std::unordered_map<VariableId, std::vector<const Block*>> readers_;
  std::unordered_set<const Instruction*> copies_;
};

}  // namespace

std::unordered_set<const Instruction*> makeFastRegions(ir::Function& function, ir::Program& program,
                                                       const TargetProfile& profile,
                                                       std::unordered_set<const Instruction*>& sums, bool onlyCheaper) {
  return Maker(function, program, profile, sums, onlyCheaper).run();
}

}  // namespace mulciber::passes
