// Code of before independent threads: lanes of a warp that read what others have just written to volatile shared
// memory, with no __syncwarp between.
//
// if (t < 32) { s[t] += s[t + 16];  s[t] += s[t + 8];  ... }     with volatile int* s
//
// Where warps are made by passes/block_rounds, their lanes run one after the other unless something lets them meet.
#pragma once

#include "translator/ir/ir.h"

namespace mulciber::passes {

// Puts a barrier of the warp before each volatile access of what may be shared memory, but for loads that follow a load
// and those that wait in a loop, whose threads yield. True when there is one now; passes/block_rounds has to come
// before other passes.
bool keepVolatileInStep(ir::Program& program);

}  // namespace mulciber::passes
