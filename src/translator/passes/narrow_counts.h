// Keeps drivers from recognising where the bits of an extended number are counted.
//
// NVIDIA's compiler (580.159.04) counts those of a loaded number of 8 or 16 bits without making the bits above it
// zeros, in kernels that call one of its routines (f64 roots and quotients, quotients of 64-bit integers).
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

bool hideNarrowCounted(ir::Function& function);

//   needs   SSA, structure
//   leaves  no count of the bits of a number that a driver knows to be extended
class NarrowCounts : public Pass {
 public:
  std::string_view name() const override { return "narrow_counts"; }
  bool run(ir::Function& function, PassContext& context) override;
};

}  // namespace mulciber::passes
