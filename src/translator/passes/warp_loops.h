// Brings the lanes of a warp together behind loops with operations of a warp.
//
// NVIDIA's compiler (580.159.04) moves such an operation from where a round begins to where it ends, and for the last
// round behind the loop. It joins the lanes in front of that one and not behind it, where lanes that left the loop in
// different rounds do it apart, and may go on so: a shuffle behind the loop then gave 0 (a random program). Part of the
// work-around "loop-flags", with which such faults were found first.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

bool joinLanesBehindLoops(ir::Function& function);

//   needs   SSA form, structured
//   leaves  a barrier of the warp behind each loop in which lanes part and do an operation of the warp
class WarpLoops : public Pass {
 public:
  std::string_view name() const override { return "warp_loops"; }
  bool run(ir::Function& function, PassContext& context) override;
};

}  // namespace mulciber::passes
