// Which numbers are exponentials or products of them. These become as small as numbers can be, and often are: weights
// of Gaussians, probabilities.
#pragma once

#include "translator/analyses/float_ranges.h"
#include "translator/ir/ir.h"

namespace mulciber::analyses {

class Exponentials {
 public:
  Exponentials(const ir::Function& function, const FloatRanges& ranges);

  bool has(const ir::Instruction* value) const { return isMade(value, false); }
  // Also numbers that are loaded from shared memory, where the function stores exponentials.
  bool mayHave(const ir::Instruction* value) const { return isMade(value, storesAny_); }

 private:
  bool isMade(const ir::Instruction* value, bool isShared, int depth = 0) const;

  const FloatRanges& ranges_;
  bool storesAny_ = false;
};

}  // namespace mulciber::analyses
