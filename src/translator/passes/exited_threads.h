// Barriers at which other threads of the block would wait for those that have ended.
//
// CUDA counts an exited thread as arrived. On a device that does not, a kernel some of whose threads return while
// others reach a barrier hangs: passes/block_rounds then runs the block in rounds.
#pragma once

#include "translator/ir/ir.h"

namespace mulciber::passes {

// A barrier that one thread of a block may come to when another ends without passing one more, or null when there is
// none. For functions without calls, of programs that are valid CUDA: threads that have not ended come to a barrier
// together, and memory that one thread writes while another reads it is accessed by atomic operations.
const ir::Instruction* findBarrierWithoutExited(const ir::Function& function);

}  // namespace mulciber::passes
