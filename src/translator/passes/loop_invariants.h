// Keeps Mesa's CPU drivers from computing anew, for lanes that have left a loop, what the loop computes alike in each
// round.
//
// lavapipe (Mesa 25.0.7) keeps for lanes that leave a loop what they left with, but for values that it finds to be the
// same in each round: later rounds compute those again, for lanes that have left too. What they are made of may then be
// in a register that such a lane has given another value on its way out, so that they are wrong behind the loop.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

bool tellRoundsApart(ir::Function& function);

//   needs   SSA, structure
//   leaves  no use behind a loop of what is the same in each of its rounds; such uses have a copy,
//           made with what the loop carries from round to round, so that drivers cannot tell that it is the same
class LoopInvariants : public Pass {
 public:
  std::string_view name() const override { return "loop_invariants"; }
  bool run(ir::Function& function, PassContext& context) override;
};

}  // namespace mulciber::passes
