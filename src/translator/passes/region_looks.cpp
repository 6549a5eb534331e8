#include "translator/passes/region_looks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace mulciber::passes {
namespace {

using ir::Block;
using ir::Instruction;
using ir::Op;
using ir::VariableId;

// Of what power of two a value is a multiple, by its exponent. Every number is one of the smallest denormal.
constexpr int any = 1000, none = -149, normal = -126;
constexpr int significand = 23;
constexpr int mostPasses = 40, mostFalls = 3, deepest = 10;
constexpr size_t mostWrites = 4;  // of a variable that are looked through
constexpr long never = 1L << 40;

constexpr int multipleOf(Size size) { return leastExponents[static_cast<unsigned>(size)] - significand; }
static_assert(multipleOf(Size::Addend) == normal && 2 * multipleOf(Size::Factor) == normal);
static_assert(leastSumOfExponents - 2 * significand == normal && multipleOf(Size::First) >= normal);

int multipleOfConstant(uint64_t bits) {
  const auto word = static_cast<uint32_t>(bits) & 0x7FFF'FFFF;
  if (word == 0 || word >= 0x7F80'0000) return any;
  const int exponent = static_cast<int>(word >> 23);
  const uint32_t fraction = exponent == 0 ? word : (word & 0x7F'FFFF) | 0x80'0000;
  return std::max(exponent, 1) - 127 - significand + std::countr_zero(fraction);
}

class Finder {
 public:
  Finder(const RepeatableRegion& region, const std::unordered_set<const Instruction*>& sums,
         const std::unordered_set<VariableId>& entering, const analyses::FloatRanges& ranges,
         const analyses::Exponentials& exponentials, const SharedNumbers& shared)
      : region_(region), sums_(sums), entering_(entering), ranges_(ranges), shared_(shared) {
    for (Block* block : region.blocks)
      for (Instruction* i : block->instructions) {
        homes_[i] = block;
        multiples_[i] = any;
        if (i->op == Op::WriteVar && i->operands[0]->type == ir::F32) variableOf(*i).writes.push_back(i->operands[0]);
        if (sums.count(i) == 0 || takesAnyProduct(i)) continue;
        for (size_t n : {0, 1})
          if (exponentials.has(i->operands[n])) looks_.exponentialSums.try_emplace(i, n);
      }
    for (auto& [id, variable] : variables_)
      if (entering_.count(id) != 0) variable.first = variable.multiple = none;
  }

  RegionLooks run(bool mayDivide) {
    // Factors first: what is looked at for their sake often makes another number one that need not be.
    for (const Phase phase : {Phase::Factors, Phase::Addends, Phase::Others}) {
      phase_ = phase;
      bool isSettled = false;
      for (int pass = 0; pass < mostPasses && !isSettled && looks_.suffice; ++pass) isSettled = !goThrough();
      looks_.suffice &= isSettled;
    }
    if (looks_.suffice && mayDivide) divideFactors();
    return std::move(looks_);
  }

 private:
  enum class Phase { Factors, Addends, Others };
  struct Variable {
    int first = any, multiple = any;  // of what it holds at the region's entry, and ever
    int falls = 0;
    std::vector<Instruction*> writes;
  };

  // What is looked at as a factor: a value, or a variable at the region's entry.
  using Root = std::pair<Instruction*, VariableId>;
  struct Edge {
    Root to;
    bool isOther;  // group
    bool isSum;    // not a product that stands alone
  };

  Variable& variableOf(const Instruction& i) { return variables_[static_cast<VariableId>(i.payload)]; }

  // Whether a variable turned out to hold less than was thought before it was read.
  bool goThrough() {
    bool hasFallen = false;
    for (Block* block : region_.blocks)
      for (Instruction* i : block->instructions) {
        if (i->op == Op::WriteVar) {
          if (i->operands[0]->type != ir::F32) continue;
          Variable& variable = variableOf(*i);
          const int multiple = of(i->operands[0]);
          if (multiple >= variable.multiple) continue;
          variable.multiple = ++variable.falls > mostFalls ? none : multiple;
          hasFallen = true;
        } else if (i->type == ir::F32) {
          if (small_) {
            multiples_[i] = isLookedAt(i) ? lookedAt(i) : evaluate(*i);
            continue;
          }
          if (sums_.count(i) != 0) satisfy(i);
          multiples_[i] = std::max(evaluate(*i), lookedAt(i));
          if (phase_ == Phase::Factors && sums_.count(i) != 0 && looks_.exponentialSums.count(i) == 0 &&
              of(i->operands[2]) < normal)
            multiples_[i] = std::max(product(i->operands[0], i->operands[1]), lookedAt(i));
        }
      }
    return hasFallen;
  }

  // Makes factors Firsts and Seconds where those that meet in products, directly or by others, can be in two groups.
  void divideFactors() {
    std::map<Root, std::vector<Edge>> edges;
    std::vector<Root> inSums;
    for (Block* block : region_.blocks)
      for (Instruction* i : block->instructions) {
        const bool isSum = sums_.count(i) != 0;
        if ((!isSum && i->op != Op::FMul) || (isSum && hasAnyFactors(i))) continue;
        const std::vector<Root> first = rootsOf(i->operands[0]);
        std::vector<Root> all = first;
        for (const Root& root : rootsOf(i->operands[1])) all.push_back(root);
        for (size_t n = 1; n < all.size(); ++n) {
          const bool isOther = !first.empty() && n >= first.size();
          edges[all[0]].push_back({all[n], isOther, isSum});
          edges[all[n]].push_back({all[0], isOther, isSum});
        }
        if (isSum) inSums.insert(inSums.end(), all.begin(), all.end());
      }
    std::map<Root, Size> sizes;
    const auto sizeAcross = [&](const Root& root, const Edge& edge) {
      if (sizes[root] == Size::Factor) return Size::Factor;
      return (sizes[root] == Size::First) == edge.isOther ? Size::Second : Size::First;
    };
    for (const Root& start : inSums) {
      if (!sizes.try_emplace(start, Size::First).second) continue;
      std::vector<Root> component{start};
      bool isOdd = false;
      for (size_t n = 0; n < component.size(); ++n) {
        const Root root = component[n];
        for (const Edge& edge : edges[root]) {
          if (!edge.isSum) continue;
          const Size wanted = sizeAcross(root, edge);
          const auto [found, isNew] = sizes.try_emplace(edge.to, wanted);
          isOdd |= found->second != wanted;
          if (isNew) component.push_back(edge.to);
        }
      }
      if (isOdd)
        for (const Root& root : component) sizes[root] = Size::Factor;
    }
    // Of products that stand alone few are added to anything, so they only say where the factors go that are in no
    // other: in a complex product one of two is such a product.
    std::vector<Root> open = inSums;
    for (size_t n = 0; n < open.size(); ++n) {
      const Root root = open[n];
      for (const Edge& edge : edges[root])
        if (sizes.try_emplace(edge.to, sizeAcross(root, edge)).second) open.push_back(edge.to);
    }
    if (std::ranges::none_of(sizes, [](const auto& each) { return each.second == Size::Second; })) return;
    const RegionLooks fixed = looks_;
    for (const auto& [root, size] : sizes)
      (root.first ? looks_.values[root.first] : looks_.atEntry[root.second]) = size;
    // What is known of each value is the least of some sums of what both groups are multiples of. Such a function of
    // one, with the other as large as that leaves it, is nowhere less than the line between two of its points.
    if (!holds(Size::First) || !holds(Size::Second)) looks_ = fixed;
  }
  // The factors that a value is a sum of.
  std::vector<Root> rootsOf(Instruction* value) const {
    std::vector<Root> roots;
    std::unordered_set<const Instruction*> seen;
    collectRoots(value, roots, seen);
    return roots;
  }
  void collectRoots(Instruction* value, std::vector<Root>& roots, std::unordered_set<const Instruction*>& seen) const {
    if (!seen.insert(value).second) return;
    const auto look = looks_.values.find(value);
    if (look != looks_.values.end() && look->second == Size::Factor)
      return roots.emplace_back(value, VariableId{}), void();
    if (!isInside(value)) return;
    if (value->op == Op::ReadVar) {
      const auto id = static_cast<VariableId>(value->payload);
      const auto atEntry = looks_.atEntry.find(id);
      if (atEntry != looks_.atEntry.end() && atEntry->second == Size::Factor) roots.emplace_back(nullptr, id);
      const auto found = variables_.find(id);
      if (found == variables_.end()) return;
      for (Instruction* written : found->second.writes) collectRoots(written, roots, seen);
      return;
    }
    if (value->op == Op::FMul) return;
    for (Instruction* part : partsOf(value, normal).values) collectRoots(part, roots, seen);
  }
  // Whether all multiply-adds are right where one group's factors are as small as they may be.
  bool holds(Size small) {
    small_ = small;
    multiples_.clear();
    for (const auto& [i, block] : homes_) multiples_[i] = any;
    for (auto& [id, variable] : variables_) {
      variable.falls = 0;
      variable.first = variable.multiple = any;
      if (entering_.count(id) == 0) continue;
      const auto look = looks_.atEntry.find(id);
      variable.first = variable.multiple = look == looks_.atEntry.end() ? none : multipleFor(look->second);
    }
    bool isSettled = false;
    for (int pass = 0; pass < mostPasses && !isSettled; ++pass) isSettled = !goThrough();
    return isSettled && std::ranges::all_of(homes_, [&](const auto& each) {
             const Instruction* i = each.first;
             return sums_.count(i) == 0 || looks_.exponentialSums.count(i) != 0 ||
                    (isProductRight(i) && isFactorRight(i, 0) && isFactorRight(i, 1) && of(i->operands[2]) >= normal);
           });
  }
  bool hasAnyFactors(const Instruction* sum) const {
    return looks_.exponentialSums.count(sum) != 0 || takesAnyProduct(sum);
  }
  // What is added is so large that the sum is zero or normal.
  bool takesAnyProduct(const Instruction* sum) const { return ranges_.multipleOfSum(sum).value_or(none) >= normal; }
  bool isProductRight(const Instruction* sum) const {
    return takesAnyProduct(sum) || product(sum->operands[0], sum->operands[1]) >= normal;
  }
  bool isFactorRight(const Instruction* sum, size_t factor) const {
    return of(sum->operands[factor]) >= normal || ranges_.absorbsDenormal(sum, factor) ||
           (takesAnyProduct(sum) && isLarge(sum->operands[factor], Size::Normal));
  }
  int multipleFor(Size size) const {
    if (size != Size::First && size != Size::Second) return multipleOf(size);
    return size == small_ ? multipleOf(size) : normal - multipleOf(size);
  }

  int exponentFor(Size size) const {
    const int exponent = leastExponents[static_cast<unsigned>(size)];
    return small_ && size != small_ && size >= Size::First ? leastSumOfExponents - exponent : exponent;
  }

  int lookedAt(const Instruction* i) const {
    if (fromShared_.count(i) != 0) return multipleOf(Size::Factor);
    const auto found = looks_.values.find(const_cast<Instruction*>(i));
    return found == looks_.values.end() ? none : multipleFor(found->second);
  }
  bool isLookedAt(const Instruction* i) const {
    return fromShared_.count(i) != 0 || looks_.values.count(const_cast<Instruction*>(i)) != 0;
  }
  bool isInside(const Instruction* value) const { return homes_.count(value) != 0; }
  int of(const Instruction* value) const {
    const auto found = multiples_.find(value);
    if (found != multiples_.end()) return found->second;
    return small_ && isLookedAt(value) ? lookedAt(value) : std::max(evaluateOutside(*value), lookedAt(value));
  }
  // What is known of a value by itself.
  int ofRange(const Instruction& i) const {
    const analyses::FloatRange range = ranges_.rangeOf(&i);
    if (range.low == range.high && (range.low == 0 || std::isinf(range.low))) return any;
    const std::optional<int> exponent = ranges_.leastExponent(&i);
    return std::max(exponent ? *exponent - significand : none, ranges_.multipleOfSum(&i).value_or(none));
  }
  int evaluateOutside(const Instruction& i) const {
    if (const auto known = ranges_.constantOf(&i)) return multipleOfConstant(*known);
    if (i.op == Op::UToF || i.op == Op::SToF) return 0;
    return ofRange(i);
  }
  int evaluate(const Instruction& i) {
    if (i.isConstant()) return multipleOfConstant(i.payload);
    if (i.op == Op::ReadVar) {
      const auto found = variables_.find(static_cast<VariableId>(i.payload));
      if (found != variables_.end()) return found->second.multiple;
      if (const auto atEntry = looks_.atEntry.find(static_cast<VariableId>(i.payload)); atEntry != looks_.atEntry.end())
        return small_ ? multipleFor(atEntry->second) : std::max(evaluateOutside(i), multipleOf(atEntry->second));
      return evaluateOutside(i);
    }
    const int known = ofRange(i);
    if (small_ && known != none) return known;
    return std::max(byParts(i), known);
  }
  int byParts(const Instruction& i) const {
    const auto& x = i.operands;
    if (i.fp.approximate) return none;
    switch (i.op) {
      case Op::FNeg:
      case Op::FAbs: return of(x[0]);
      case Op::FAdd:
      case Op::FSub:
      case Op::FMin:
      case Op::FMax: return std::min(of(x[0]), of(x[1]));
      case Op::Select: return std::min(of(x[1]), of(x[2]));
      case Op::FMul: return product(x[0], x[1]);
      case Op::Fma: return std::min(product(x[0], x[1]), of(x[2]));
      case Op::UToF:
      case Op::SToF:
      case Op::FFloor:
      case Op::FCeil:
      case Op::FTrunc:
      case Op::FRound: return 0;
      case Op::FConvert: return x[0]->type == ir::F16 ? -24 : none;
      default: return none;
    }
  }
  // An instruction's registers are read right before it: nothing is written between two reads of one.
  static bool areSame(const Instruction* x, const Instruction* y) {
    return x == y || (x->op == Op::ReadVar && y->op == Op::ReadVar && x->payload == y->payload);
  }
  int product(const Instruction* x, const Instruction* y) const {
    const int first = of(x), second = of(y);
    return std::clamp(areSame(x, y) ? 2 * std::max(first, second) : first + second, small_ ? 4 * none : none, any);
  }

  void satisfy(Instruction* sum) {
    Instruction *x = sum->operands[0], *y = sum->operands[1], *z = sum->operands[2];
    if (const auto result = looks_.exponentialSums.find(sum); result != looks_.exponentialSums.end()) {
      if (phase_ != Phase::Others) return;
      Instruction* exponential = sum->operands[result->second];
      if (const auto* made = ranges_.definition(exponential); isInside(made))
        exponential = const_cast<Instruction*>(made);
      looks_.exponentials.insert(exponential);
      requireLarge(sum->operands[1 - result->second], Size::Scaled);
      requireLarge(z, Size::Normal);
      return;
    }
    if (!isProductRight(sum)) {
      // Both large, or one as large as the other asks for.
      const int factor = multipleOf(Size::Factor);
      const bool isSquare = areSame(x, y);
      const long both = cost(x, factor) + (isSquare ? 0 : cost(y, factor));
      const long first = isSquare ? never : cost(x, normal - of(y)),
                 second = isSquare ? never : cost(y, normal - of(x));
      const long least = std::min({both, first, second});
      if (least >= never) looks_.suffice = false;
      else if (first == least) require(x, normal - of(y));
      else if (second == least) require(y, normal - of(x));
      else {
        require(x, factor);
        if (!isSquare) require(y, factor);
      }
    }
    // Whatever the other one is: the device takes a denormal factor for zero.
    for (size_t n : {0, 1}) {
      if (isFactorRight(sum, n)) continue;
      if (!takesAnyProduct(sum)) requireNormal(sum->operands[n]);
      else if (phase_ == Phase::Others) requireLarge(sum->operands[n], Size::Normal);
    }
    if (phase_ != Phase::Factors) requireNormal(z);
  }
  // Whether a value is zero or as large, whatever it is a multiple of.
  bool isLarge(const Instruction* value, Size size) const { return leastOf(value) >= exponentFor(size); }
  // The exponent of what a value is at least where it is not zero: nowhere less than that of what it is a multiple of.
  int leastOf(const Instruction* value, int depth = 0) const {
    if (fromShared_.count(value) != 0) return exponentFor(Size::Factor);
    const auto look = looks_.values.find(const_cast<Instruction*>(value));
    if (look != looks_.values.end()) return std::max(exponentFor(look->second), small_ ? none : of(value));
    if (depth >= deepest || !isInside(value)) return of(value);
    const auto least = [&](const Instruction* part) { return leastOf(part, depth + 1); };
    const auto& x = value->operands;
    switch (value->op) {
      case Op::Fma:
        return !small_ && looks_.exponentialSums.count(value) != 0 ? std::max(of(value), normal) : of(value);
      case Op::FNeg:
      case Op::FAbs: return least(x[0]);
      case Op::Select: return std::min(least(x[1]), least(x[2]));
      // One of the two and never the larger: divideFactors wants straight lines, or the least of several.
      case Op::FMul: return ofRange(*value) != none ? of(value) : least(x[0]) + least(x[1]);
      case Op::ReadVar: {
        const auto id = static_cast<VariableId>(value->payload);
        const auto found = variables_.find(id);
        int result = leastAtEntry(id, of(value));
        if (found == variables_.end()) return result;
        if (found->second.writes.size() > mostWrites) return of(value);
        for (const Instruction* written : found->second.writes) result = std::min(result, least(written));
        return result;
      }
      default: return of(value);
    }
  }
  int leastAtEntry(VariableId id, int otherwise) const {
    if (entering_.count(id) == 0) return any;
    if (const auto look = looks_.atEntry.find(id); look != looks_.atEntry.end()) return exponentFor(look->second);
    const auto found = variables_.find(id);
    return found != variables_.end() ? found->second.first : otherwise;
  }
  void requireLarge(Instruction* value, Size size, int depth = 0) {
    if (isLarge(value, size)) return;
    if (value->isConstant()) {
      looks_.suffice = false;
      return;
    }
    if (value->op == Op::FNeg || value->op == Op::FAbs) return requireLarge(value->operands[0], size, depth);
    // What is read is looked at where it is written.
    if (value->op == Op::ReadVar && isInside(value) && depth < deepest) {
      const auto id = static_cast<VariableId>(value->payload);
      const auto found = variables_.find(id);
      if (found == variables_.end() || found->second.writes.size() <= mostWrites) {
        if (leastAtEntry(id, none) < exponentFor(size)) raise(looks_.atEntry, id, size);
        if (found != variables_.end())
          for (Instruction* written : found->second.writes) requireLarge(written, size, depth + 1);
        return;
      }
    }
    raise(looks_.values, value, size);
  }
  void requireNormal(Instruction* value) {
    if (of(value) >= normal) return;
    if (cost(value, normal) >= never) looks_.suffice = false;
    else require(value, normal);
  }

  static Size sizeFor(int need) {
    for (Size size : {Size::Addend, Size::Scaled})
      if (need <= multipleOf(size)) return size;
    return Size::Factor;
  }
  long weightOf(const Instruction* value) const {
    const auto home = homes_.find(value);
    return home == homes_.end() ? 1 : 1L << 3 * std::clamp(region_.depths.at(home->second), 0, 6);
  }
  bool isFromShared(const Instruction* value, int need) const {
    return need <= multipleOf(Size::Factor) && shared_.has(value);
  }
  long costOfLook(const Instruction* value, int need) const {
    if (need > multipleOf(Size::Factor) || value->isConstant()) return never;
    return isFromShared(value, need) ? 0 : weightOf(value);
  }
  // Which parts of a value have to be multiples of what for it to be one.
  struct Parts {
    std::vector<Instruction*> values;
    int need;
  };
  static Parts partsOf(const Instruction* value, int need) {
    const auto& x = value->operands;
    if (value->fp.approximate) return {};
    switch (value->op) {
      case Op::FNeg:
      case Op::FAbs: return {x, need};
      case Op::FAdd:
      case Op::FSub:
      case Op::FMin:
      case Op::FMax: return {x, need};
      case Op::Select: return {{x[1], x[2]}, need};
      case Op::FMul:
        if (need > normal) return {};
        return {areSame(x[0], x[1]) ? std::vector{x[0]} : x, multipleOf(Size::Factor)};
      default: return {};
    }
  }
  long costOfParts(const Instruction* value, int need, int depth) const {
    if (depth >= deepest || !isInside(value)) return never;
    long sum = 0;
    if (value->op == Op::ReadVar) {
      const auto id = static_cast<VariableId>(value->payload);
      const auto found = variables_.find(id);
      if (found != variables_.end() && found->second.writes.size() > mostWrites) return never;
      if (entering_.count(id) != 0 && (found == variables_.end() || found->second.first < need))
        sum += need > multipleOf(Size::Factor) ? never : 1;
      if (found != variables_.end())
        for (const Instruction* written : found->second.writes) sum += cost(written, need, depth + 1);
      return std::min(sum, never);
    }
    const auto [parts, needOfParts] = partsOf(value, need);
    if (parts.empty()) return never;
    for (const Instruction* part : parts) sum += cost(part, needOfParts, depth + 1);
    return std::min(sum, never);
  }
  long cost(const Instruction* value, int need, int depth = 0) const {
    if (of(value) >= need) return 0;
    return std::min(costOfLook(value, need), costOfParts(value, need, depth));
  }

  void require(Instruction* value, int need, int depth = 0) {
    if (of(value) >= need) return;
    const long parts = costOfParts(value, need, depth), look = costOfLook(value, need);
    if (parts > look) return lookAt(value, need);
    if (parts >= never) {  // what was required of another part has made less of this one
      looks_.suffice = false;
      return;
    }
    if (value->op == Op::ReadVar) {
      const auto id = static_cast<VariableId>(value->payload);
      const auto found = variables_.find(id);
      const bool enters = entering_.count(id) != 0;
      if (enters && (found == variables_.end() || found->second.first < need)) {
        raise(looks_.atEntry, id, sizeFor(need));
        if (found != variables_.end()) found->second.first = std::max(found->second.first, multipleOf(sizeFor(need)));
      }
      if (found != variables_.end()) {
        int multiple = found->second.first;
        for (Instruction* written : std::vector<Instruction*>(found->second.writes)) {
          require(written, need, depth + 1);
          multiple = std::min(multiple, of(written));
        }
        found->second.multiple = multiple;
      }
      multiples_[value] = std::max(evaluate(*value), lookedAt(value));
      return;
    }
    const auto [values, needOfParts] = partsOf(value, need);
    for (Instruction* part : values) require(part, needOfParts, depth + 1);
    multiples_[value] = std::max(evaluate(*value), lookedAt(value));
  }
  template <typename Key>
  static void raise(std::unordered_map<Key, Size>& sizes, Key key, Size size) {
    Size& known = sizes.try_emplace(key, size).first->second;
    known = std::max(known, size);
  }
  void lookAt(Instruction* value, int need) {
    if (isFromShared(value, need)) {
      looks_.usesShared = true;
      fromShared_.insert(value);
    } else {
      raise(looks_.values, value, sizeFor(need));
    }
    if (isInside(value)) multiples_[value] = std::max(multiples_[value], lookedAt(value));
  }

  const RepeatableRegion& region_;
  const std::unordered_set<const Instruction*>& sums_;
  const std::unordered_set<VariableId>& entering_;
  const analyses::FloatRanges& ranges_;
  const SharedNumbers& shared_;
  std::unordered_map<const Instruction*, int> multiples_;       // of values in the region
  std::unordered_map<const Instruction*, const Block*> homes_;  // of the same
  std::unordered_map<VariableId, Variable> variables_;          // that are written in the region
  std::unordered_set<const Instruction*> fromShared_;
  Phase phase_ = Phase::Factors;
  std::optional<Size> small_;  // group of factors, while it is asked whether they can be two
  RegionLooks looks_;
};

}  // namespace

RegionLooks findLooks(const RepeatableRegion& region, const std::unordered_set<const Instruction*>& sums,
                      const std::unordered_set<VariableId>& entering, const analyses::FloatRanges& ranges,
                      const analyses::Exponentials& exponentials, const SharedNumbers& shared, bool mayDivide) {
  return Finder(region, sums, entering, ranges, exponentials, shared).run(mayDivide);
}

}  // namespace mulciber::passes
