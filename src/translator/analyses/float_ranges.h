// What is known of f32 values before SSA: a sum of squares and a softening constant, say, is never denormal, so that
// the device's approximations need no help with it.
#pragma once

#include <limits>
#include <optional>
#include <unordered_map>
#include <vector>

#include "translator/ir/ir.h"

namespace mulciber::analyses {

// The numbers from `low` to `high`, zeros of either sign alike, and NaNs if they are said to be possible. With a
// denormal number zero is in it too, to which it may be flushed.
struct FloatRange {
  float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
  bool mayBeNan = true;

  static FloatRange ofProduct(const FloatRange& x, const FloatRange& y);
};

class FloatRanges {
 public:
  explicit FloatRanges(const ir::Function& function);

  // What a value is that was read from a variable which is written once.
  const ir::Instruction* definition(const ir::Instruction* value) const;
  std::optional<uint64_t> constantOf(const ir::Instruction* value) const;
  FloatRange rangeOf(const ir::Instruction* value) const;
  FloatRange rangeOfProduct(const ir::Instruction* x, const ir::Instruction* y) const;
  // Zero is denormal here; NaNs and infinities are not.
  bool isNeverDenormal(const ir::Instruction* value) const;
  // The exponent of the least magnitude that a value may have, if it is never zero.
  std::optional<int> leastExponent(const ir::Instruction* value) const;
  // Of what power of two a sum or a multiply-add is a multiple, by its exponent, because what is added is large:
  // whatever the other operands are, and whether or not the device flushes.
  std::optional<int> multipleOfSum(const ir::Instruction* sum) const;
  // Whether one factor of a multiply-add may be flushed: the other one is never so large that a product with a
  // denormal number would change what is added.
  bool absorbsDenormal(const ir::Instruction* sum, size_t factor) const;

 private:
  // Looks at no more than `budget` instructions.
  FloatRange range(const ir::Instruction* value, int& budget) const;
  FloatRange product(const ir::Instruction* x, const ir::Instruction* y, int& budget) const;

  std::vector<const ir::Instruction*> onlyWrite_;  // by variable: the value of its one write, or null
  mutable std::unordered_map<const ir::Instruction*, FloatRange> known_;  // of what was asked for
};

}  // namespace mulciber::analyses
