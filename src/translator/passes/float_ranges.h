// What is known of f32 values before SSA: a sum of squares and a softening constant, say, is never denormal, so that
// the device's approximations need no help with it.
#pragma once

#include <optional>
#include <vector>

#include "translator/ir/ir.h"

namespace mulciber::passes {

class FloatRanges {
 public:
  explicit FloatRanges(const ir::Function& function);

  std::optional<uint64_t> constantOf(const ir::Instruction* value) const;
  // Zero is denormal here; NaNs and infinities are not.
  bool isNeverDenormal(const ir::Instruction* value) const { return isPositiveNormal(value, 0); }

 private:
  bool isPositiveNormal(const ir::Instruction* value, int depth) const;
  bool isNonNegative(const ir::Instruction* value, int depth) const;
  bool isSquare(const ir::Instruction* x, const ir::Instruction* y) const;
  const ir::Instruction* definition(const ir::Instruction* value) const;

  std::vector<const ir::Instruction*> onlyWrite_;  // by variable: the value of its one write, or null
};

}  // namespace mulciber::passes
