#include "translator/analyses/float_ranges.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace mulciber::analyses {

using ir::Instruction;
using ir::Op;

namespace {

constexpr int longestChain = 12, mostInstructions = 64;
constexpr float smallest = std::numeric_limits<float>::min();
constexpr double infinity = std::numeric_limits<double>::infinity();

// The float next to a number, on that side of it where all its roundings are.
float below(double x) {
  const float nearest = static_cast<float>(x);
  return nearest > x ? std::nextafter(nearest, -std::numeric_limits<float>::infinity()) : nearest;
}
float above(double x) { return -below(-x); }

// The largest double that is not above the sum.
double sumBelow(double x, double y) {
  const double sum = x + y;
  if (!std::isfinite(sum)) return std::isnan(sum) ? -infinity : sum;
  const double taken = sum - x, lost = (x - (sum - taken)) + (y - taken);
  return lost < 0 ? std::nextafter(sum, -infinity) : sum;
}

FloatRange between(double low, double high, bool mayBeNan) {
  FloatRange range{below(low), above(high), mayBeNan};
  if (range.low > 0 && range.low < smallest) range.low = 0;
  if (range.high < 0 && range.high > -smallest) range.high = 0;
  return range;
}

FloatRange negated(const FloatRange& x) { return {-x.high, -x.low, x.mayBeNan}; }
FloatRange magnitude(const FloatRange& x) {
  if (x.low >= 0) return x;
  return x.high <= 0 ? negated(x) : FloatRange{0, std::max(-x.low, x.high), x.mayBeNan};
}
FloatRange sum(const FloatRange& x, const FloatRange& y) {
  const bool differ = (std::isinf(x.low) && std::isinf(y.high)) || (std::isinf(x.high) && std::isinf(y.low));
  return between(sumBelow(x.low, y.low), -sumBelow(-double{x.high}, -double{y.high}),
                 x.mayBeNan || y.mayBeNan || differ);
}
FloatRange either(const FloatRange& x, const FloatRange& y) {
  return {std::min(x.low, y.low), std::max(x.high, y.high), x.mayBeNan || y.mayBeNan};
}
FloatRange larger(const FloatRange& x, const FloatRange& y) {
  FloatRange both{std::max(x.low, y.low), std::max(x.high, y.high), x.mayBeNan && y.mayBeNan};
  if (x.mayBeNan) both.low = std::min(both.low, y.low);
  if (y.mayBeNan) both.low = std::min(both.low, x.low);
  return both;
}
FloatRange ofConstant(uint64_t bits) {
  const float x = std::bit_cast<float>(static_cast<uint32_t>(bits));
  return std::isnan(x) ? FloatRange{} : between(x, x, false);
}

}  // namespace

FloatRange FloatRange::ofProduct(const FloatRange& x, const FloatRange& y) {
  auto canVanish = [](const FloatRange& r) { return r.low <= 0 && r.high >= 0; };
  auto canBeInfinite = [](const FloatRange& r) { return std::isinf(r.low) || std::isinf(r.high); };
  double low = infinity, high = -infinity;
  for (double a : {x.low, x.high})
    for (double b : {y.low, y.high}) {
      const double corner = a == 0 || b == 0 ? 0 : a * b;
      low = std::min(low, corner);
      high = std::max(high, corner);
    }
  const bool isUndefined = (canVanish(x) && canBeInfinite(y)) || (canBeInfinite(x) && canVanish(y));
  return between(low, high, x.mayBeNan || y.mayBeNan || isUndefined);
}

FloatRanges::FloatRanges(const ir::Function& function) : onlyWrite_(function.variables.size()) {
  std::vector<bool> isWritten(function.variables.size());
  for (ir::VariableId parameter : function.parameters) isWritten[parameter] = true;
  for (const ir::Block* block : function.blocks)
    for (const Instruction* i : block->instructions) {
      if (i->op != Op::WriteVar) continue;
      onlyWrite_[i->payload] = isWritten[i->payload] ? nullptr : i->operands[0];
      isWritten[i->payload] = true;
    }
}

// A variable's value before its only write is undefined, and may be taken for what will be written.
const Instruction* FloatRanges::definition(const Instruction* value) const {
  for (int i = 0; i < longestChain && value->op == Op::ReadVar && value->payload < onlyWrite_.size(); ++i) {
    const Instruction* written = onlyWrite_[value->payload];
    if (!written) return value;
    value = written;
  }
  return value;
}

std::optional<uint64_t> FloatRanges::constantOf(const Instruction* value) const {
  value = definition(value);
  return value->isConstant() ? std::optional(value->payload) : std::nullopt;
}

FloatRange FloatRanges::rangeOf(const Instruction* value) const {
  const auto [known, isNew] = known_.try_emplace(value);
  if (isNew) {
    int budget = mostInstructions;
    known->second = range(value, budget);
  }
  return known->second;
}

FloatRange FloatRanges::rangeOfProduct(const Instruction* x, const Instruction* y) const {
  int budget = mostInstructions;
  return product(x, y, budget);
}

bool FloatRanges::isNeverDenormal(const Instruction* value) const {
  const FloatRange range = rangeOf(value);
  return range.low >= smallest || range.high <= -smallest;
}

std::optional<int> FloatRanges::leastExponent(const Instruction* value) const {
  const FloatRange range = rangeOf(value);
  const float least = std::max(range.low, -range.high);
  if (!(least > 0) || std::isinf(least)) return std::nullopt;
  return std::ilogb(least);
}

// Let the addend be at least 2^e. If the other part is less than half of that, the sum is at least 2^(e-1), and so a
// multiple of 2^(e-24). Otherwise the other part is a multiple itself: a number of at least 2^(e-1) is a multiple of
// 2^(e-24), and a product, which has twice as many bits, of 2^(e-48). Rounding keeps that.
std::optional<int> FloatRanges::multipleOfSum(const Instruction* sum) const {
  constexpr int bits = std::numeric_limits<float>::digits;
  const auto& x = sum->operands;
  switch (sum->op) {
    case Op::FAdd:
    case Op::FSub: {
      const std::optional<int> exponent = std::max(leastExponent(x[0]), leastExponent(x[1]));
      return exponent ? std::optional(*exponent - bits) : std::nullopt;
    }
    case Op::Fma: {
      const std::optional<int> exponent = leastExponent(x[2]);
      return exponent ? std::optional(*exponent - 2 * bits) : std::nullopt;
    }
    default: return std::nullopt;
  }
}

// What is less than a quarter of the last bit of a number does not change it.
bool FloatRanges::absorbsDenormal(const Instruction* sum, size_t factor) const {
  const std::optional<int> exponent = leastExponent(sum->operands[2]);
  const FloatRange other = rangeOf(sum->operands[1 - factor]);
  const float most = std::max(-other.low, other.high);
  return exponent && std::isfinite(most) &&
         double{most} * smallest <= std::ldexp(1.0, *exponent - std::numeric_limits<float>::digits - 1);
}

FloatRange FloatRanges::product(const Instruction* x, const Instruction* y, int& budget) const {
  // An instruction's registers are read right before it: nothing is written between two reads of one.
  const bool isSquare = x == y || (x->op == Op::ReadVar && y->op == Op::ReadVar && x->payload == y->payload);
  if (!isSquare) return FloatRange::ofProduct(range(x, budget), range(y, budget));
  const FloatRange root = magnitude(range(x, budget));
  return between(double{root.low} * root.low, double{root.high} * root.high, root.mayBeNan);
}

FloatRange FloatRanges::range(const Instruction* value, int& budget) const {
  if (value->type != ir::F32 || budget-- <= 0) return {};
  value = definition(value);
  const auto& x = value->operands;
  switch (value->op) {
    case Op::Constant: return ofConstant(value->payload);
    case Op::FAbs: return magnitude(range(x[0], budget));
    case Op::FNeg: return negated(range(x[0], budget));
    case Op::FAdd: return sum(range(x[0], budget), range(x[1], budget));
    case Op::FSub: return sum(range(x[0], budget), negated(range(x[1], budget)));
    case Op::FMul: return product(x[0], x[1], budget);
    case Op::Fma: return sum(product(x[0], x[1], budget), range(x[2], budget));
    case Op::FMax: return larger(range(x[0], budget), range(x[1], budget));
    case Op::FMin: return negated(larger(negated(range(x[0], budget)), negated(range(x[1], budget))));
    case Op::Select: return either(range(x[1], budget), range(x[2], budget));
    case Op::FExp2: return {0, std::numeric_limits<float>::infinity(), range(x[0], budget).mayBeNan};
    case Op::UToF: return between(0, std::ldexp(1, x[0]->type.bits), false);
    default: return {};
  }
}

}  // namespace mulciber::analyses
