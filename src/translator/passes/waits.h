// Threads that wait for others by looking at memory, on devices where looking does not let the others run.
#pragma once

#include "translator/ir/ir.h"

namespace mulciber::passes {

// Puts a yield before each load by which threads wait in a loop for another thread of their block: a volatile or
// ordered load on whose value the loop is left, of shared memory or of what may be that. A thread that waits for
// another block needs none; with `lanesWait`, lanes wait for each other, wherever they look. True when the program has
// yields, those of mbarriers among them: passes/block_rounds then gives each thread its turns, and has to come before
// other passes.
bool yieldInWaits(ir::Program& program, bool lanesWait = false);

// Puts a yield before each try to take a lock: in rounds of single threads the one that has it may have come to a stop.
void yieldInLocks(ir::Program& program);

}  // namespace mulciber::passes
