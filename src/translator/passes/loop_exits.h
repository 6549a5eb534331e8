// Gives every loop one way out, so that no jump ever leaves two loops at once.
#pragma once

#include "translator/passes/loop_forest.h"

namespace mulciber::passes {

// Afterwards all edges that leave a loop go to its landing, a block of the loop around it that branches on, by a
// selector when the loop had several exits. Short blocks on the way out (found = true; break) are drawn into the loop
// where that saves a selector.
void normaliseLoopExits(ir::Function& function, LoopForest& forest);

}  // namespace mulciber::passes
