// SPIR-V says nothing of which threads run a switch's case together. Where that matters, a chain of branches does.
#pragma once

#include "translator/passes/loop_forest.h"

namespace mulciber::passes {

// Replaces every switch that has a convergent operation inside one of its cases.
void chainConvergentSwitches(ir::Function& function, LoopForest& forest);

}  // namespace mulciber::passes
