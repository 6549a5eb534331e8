// Keeps Mesa's CPU drivers from taking the first round of a loop out of it.
//
// Where a loop begins with a selection of constants between its first round and the others, lavapipe (Mesa 25.0.7,
// opt_peel_loop_initial_if) moves the first round's side in front of the loop. If only the others' side leads back, so
// that the loop never repeats, its compiler ends the process.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

bool hideFirstRounds(ir::Function& function);

//   needs   SSA, structure
//   leaves  no phi of a loop's header that chooses constants alone: what the first round has is hidden from the driver
class FirstRounds : public Pass {
 public:
  std::string_view name() const override { return "first_rounds"; }
  bool run(ir::Function& function, PassContext& context) override;
};

}  // namespace mulciber::passes
