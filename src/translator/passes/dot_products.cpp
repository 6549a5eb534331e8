#include "translator/passes/dot_products.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "translator/analyses/equal_magnitudes.h"
#include "translator/analyses/known_values.h"
#include "translator/analyses/push_constants.h"
#include "translator/passes/hidden_values.h"
#include "translator/passes/shared_factors.h"

namespace mulciber::passes {
namespace {

using ir::Instruction;
using ir::Op;

constexpr uint64_t negativeZero = 0x8000'0000, two = 0x4000'0000;

// The floats that products and multiply-adds are made of, by instruction id.
std::vector<bool> partsOfProducts(const ir::Function& function) {
  std::vector<bool> isPart(function.instructionIdBound());
  const auto note = [&](const Instruction& i) {
    bool changed = false;
    if (!isProduct(i) && !isPart[i.id]) return changed;
    for (const Instruction* operand : i.operands)
      if (operand->type == ir::F32 && !isPart[operand->id]) changed = isPart[operand->id] = true;
    return changed;
  };
  bool changed = true;
  while (changed) {
    changed = false;
    for (auto block = function.blocks.rbegin(); block != function.blocks.rend(); ++block)
      for (auto i = (*block)->instructions.rbegin(); i != (*block)->instructions.rend(); ++i) changed |= note(**i);
  }
  return isPart;
}

// The driver resolves choices that it knows, and loops that do not run or that it unrolls. A constant that stands
// hidden where the function begins costs less than a hidden choice, which costs an operation for each.
void hideChoices(ir::Function& function, const std::vector<bool>& isPart, HiddenValues& hidden) {
  for (ir::Block* block : function.blocks)
    for (Instruction* i : block->instructions) {
      if (!isPart[i->id] || (i->op != Op::Phi && i->op != Op::Select)) continue;
      for (Instruction*& operand : i->operands)
        if (operand->isConstant() && operand->type == ir::F32) operand = hidden.constant(ir::F32, operand->payload);
    }
}

// What the driver may know comes of integers, of other lanes, of memory, or of comparisons that say it. Hidden there,
// it costs one operation for all the products that are made of it. Comparisons take it as it was, or they would tell
// again.
void hideSources(ir::Function& function, const std::vector<bool>& isPart, HiddenValues& hidden) {
  constexpr unsigned firstVersion = 1 << 15;  // of others than those that hide factors
  const analyses::KnownValues known(function, analyses::KnownValues::Count::Numbers);
  const auto isKnown = [&](const Instruction* i) {
    return i->type == ir::F32 && !i->isConstant() && known.mayBeKnown(i);
  };
  std::unordered_map<const Instruction*, Instruction*> copies;
  for (const ir::Block* block : function.blocks)
    for (Instruction* i : block->instructions)
      if (isPart[i->id] && isKnown(i) && std::ranges::none_of(i->operands, isKnown))
        copies[i] = hidden.hide(i, firstVersion + static_cast<unsigned>(copies.size()) % firstVersion);
  for (ir::Block* block : function.blocks)
    for (Instruction* i : block->instructions) {
      if (i->type.isBool()) continue;
      for (Instruction*& operand : i->operands)
        if (const auto copy = copies.find(operand); copy != copies.end()) operand = copy->second;
    }
}

class Dots {
 public:
  Dots(ir::Function& function, HiddenValues& hidden)
      : known_(function, analyses::KnownValues::Count::Numbers),
        equal_(function, known_),
        shared_(function, equal_, hidden),
        hidden_(hidden) {}

  void visit(Instruction& i) {
    if (!isProduct(i)) return;
    if (!i.fp.isDot) {
      if (i.op == Op::FAdd) i.operands[1] = hidden_.constant(ir::F32, two);
      i.op = Op::Fma;
      i.fp.isDot = true;
      i.operands.push_back(hidden_.constant(ir::F32, negativeZero));
      products_.insert(equal_.name(&i));
    }
    hideFactors(i.operands[0], i.operands[1]);
    // Of x * y - (x * y - 0) the driver makes 0, if it finds both products to be the same.
    if (products_.contains(equal_.name(i.operands[2]))) i.operands[2] = hidden_.hide(i.operands[2]);
    for (Instruction*& operand : i.operands)
      if (operand->isConstant()) operand = hidden_.constant(ir::F32, operand->payload);
    if (shared_.has(i)) i.operands[2] = hidden_.hide(i.operands[2]);
  }

 private:
  // Of a product that another multiply-add has too, one factor. And what the driver may know: of x + k * y + k * y it
  // makes x + 2k * y, where no product is left to tell.
  void hideFactors(Instruction*& x, Instruction*& y) {
    const bool isXKnown = isKnown(x), isYKnown = isKnown(y);
    const unsigned others =
        met_[std::minmax({isXKnown ? anyKnown : equal_.name(x), isYKnown ? anyKnown : equal_.name(y)})]++;
    if (isXKnown) x = hidden_.hide(x, 1 + others);  // constants have version 0
    if (isYKnown) y = hidden_.hide(y, 1 + others);
    Instruction*& factor = x->isConstant() ? y : x;
    if (others != 0 && !isXKnown && !isYKnown) factor = hidden_.hide(factor, others);
  }
  bool isKnown(const Instruction* value) const { return !value->isConstant() && known_.mayBeKnown(value); }

  static constexpr uint64_t anyKnown = 0;  // instead of a name: one known number may be another one

  const analyses::KnownValues known_;
  const analyses::EqualMagnitudes equal_;
  const SharedFactors shared_;
  HiddenValues& hidden_;
  std::unordered_set<uint64_t> products_;                  // names of those that the kernel has alone
  std::map<std::pair<uint64_t, uint64_t>, unsigned> met_;  // products, by the names of their factors
};

bool hasDots(const ir::Function& function) {
  const auto isDot = [](const Instruction* i) { return i->fp.isDot; };
  return std::ranges::any_of(function.blocks,
                             [&](const ir::Block* block) { return std::ranges::any_of(block->instructions, isDot); });
}

bool makeAllDots(ir::Function& function, HiddenValues& hidden) {
  if (!hasDots(function)) return false;
  const std::vector<bool> isPart = partsOfProducts(function);
  hideChoices(function, isPart, hidden);
  hideSources(function, isPart, hidden);
  Dots dots(function, hidden);
  for (ir::Block* block : function.blocks)
    for (Instruction* i : block->instructions) dots.visit(*i);
  hidden.apply();
  return true;
}

}  // namespace

bool giveAsDotProducts(ir::Function& function) {
  HiddenValues hidden(function);
  return makeAllDots(function, hidden);
}

bool DotProducts::run(ir::Function& function, PassContext& context) {
  HiddenValues hidden(function);
  hidden.carryWords(context.program, analyses::roomForWords(context.program, context.profile));
  return makeAllDots(function, hidden);
}

}  // namespace mulciber::passes
