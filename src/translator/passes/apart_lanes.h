// Lanes of one warp that stand at different places of the code, each waiting for the others.
//
// if (lane < 16) barrier.sync 0; else barrier.sync 0;
// if (lane == 0) { produce(); full = 1; while (!empty) {} }  else { while (!full) {} consume(); empty = 1; }
//
// CUDA lets each of them wait by itself. Devices run one side of the branch to its end before the other begins, and
// count warps at a barrier: such kernels run in rounds.
#pragma once

#include "translator/ir/ir.h"

namespace mulciber::passes {

// Whether lanes of a warp may come to a `barrier apart` while others of it come to another barrier, or to the same one
// a round of a loop later. Loops with several entries get one on the way. For functions without calls, not structured.
bool haveBarriersApart(ir::Function& function);

// Whether there are loads by which threads may wait at all.
bool hasOrderedLoads(const ir::Program& program);

// Whether there are barriers of some lanes of a warp at all.
bool hasPartBarriers(const ir::Program& program);

// Whether lanes may wait in a loop, on one side of a branch, for what others of their warp write on another side.
bool waitForEachOther(ir::Function& function);

}  // namespace mulciber::passes
