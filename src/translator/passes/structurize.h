// Gives any control-flow graph SPIR-V's structure: reducible or not, with loops of many exits, switches, and infinite
// loops. Runs before SSA, so that new paths need no new phis: selectors are variables.
//
//   needs   a function whose calls are inlined, not in SSA form
//   leaves  blocks in SPIR-V's order, each selection and loop with its Merge; isStructured is set
//
// Its steps are the table at the end of structurize.cpp.
// No other block is duplicated. Threads that part at a branch meet again at its immediate post-dominator, or at the
// header or landing of the loop around it.
#pragma once

#include <string>

#include "translator/ir/ir.h"

namespace mulciber::passes {

void structurize(ir::Function& function);
// The same, with the function verified after each step: the faults of the first that leaves any, with its name.
std::string structurizeVerified(ir::Function& function);

}  // namespace mulciber::passes
