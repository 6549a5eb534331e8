// Turns values that cross from one block to another into variables, so that edges may be rerouted freely.
#pragma once

#include "translator/ir/ir.h"

namespace mulciber::passes {

// Constants and inputs are repeated in each block that uses them instead.
void splitCrossBlockValues(ir::Function& function);

}  // namespace mulciber::passes
