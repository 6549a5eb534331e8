// Keeps conversions to f16 that lead to one back.
//
// NVIDIA's driver takes f16 for a hint: what is converted to it and back, through whatever moves, bit operations and
// selections, comes out as it went in, with all its bits (docs/arithmetic.md). Here the bits of such a number pass an
// operation that changes nothing and of which the driver cannot know that.
//
//   needs, leaves  SSA form; runs after all that would simplify the operation
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

class HalfRoundTrips : public Pass {
 public:
  std::string_view name() const override { return "half-round-trips"; }
  bool run(ir::Function& function, PassContext& context) override;
};

bool keepHalfRoundTrips(ir::Function& function);

}  // namespace mulciber::passes
