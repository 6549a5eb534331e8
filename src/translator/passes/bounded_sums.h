// Comparisons of many sums of one value with one bound: `x + 32 < n`, `x + 64 < n`, ...
//
// Guarded loads and stores of several items are made of them. NVIDIA's driver computes all the sums once and keeps them
// from the first comparison to the last, which takes a register for each. Here the bound loses the value instead:
// `32 < n - x`, ... with one difference for all.
//
//   needs, leaves  SSA form
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

class BoundedSums : public Pass {
 public:
  std::string_view name() const override { return "bounded-sums"; }
  bool run(ir::Function& function, PassContext& context) override;
};

bool compareWithDifferences(ir::Function& function);

}  // namespace mulciber::passes
