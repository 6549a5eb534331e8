// Gives any control-flow graph SPIR-V's structure: reducible or not, with loops of many exits, switches, and infinite
// loops. Runs before SSA, so that new paths need no new phis: selectors are variables.
//
//   needs   a function whose calls are inlined, not in SSA form
//   leaves  blocks in SPIR-V's order, each selection and loop with its Merge; isStructured is set
//
// The steps, each in its own file:
//   split_values   values used in other blocks become variables
//   loop_forest    loops with one header each
//   tail_copies    arms that share a small end get one each
//   spin_loops     loops that wait for a lock take in its release
//   loop_exits     loops with one way out each
//   switch_chains  switches around warp-wide operations become chains of branches
//   region_tree    which block's code stands where, and what it is guarded by
//   structurize    writes the blocks in that order
// No other block is duplicated. Threads that part at a branch meet again at its immediate post-dominator, or at the
// header or landing of the loop around it.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

class Structurize : public Pass {
 public:
  std::string_view name() const override { return "structurize"; }
  bool run(ir::Function& function, PassContext& context) override;
};

void structurize(ir::Function& function);

}  // namespace mulciber::passes
