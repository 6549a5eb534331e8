// Keeps drivers from working out sums of floats.
//
// NVIDIA's compiler (580.159.04) rounds such a sum wrongly where it finds a number late, as that of a shuffle, of a
// multiply-add of constants, or one that was computed in f64: of 16785408 + -1 it makes 16785406.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

bool hideKnownSums(ir::Function& function);

//   needs   SSA form, after everything that makes constants
//   leaves  one operand hidden of each sum and difference whose operands the driver may know
class KnownSums : public Pass {
 public:
  std::string_view name() const override { return "known_sums"; }
  bool run(ir::Function& function, PassContext& context) override;
};

}  // namespace mulciber::passes
