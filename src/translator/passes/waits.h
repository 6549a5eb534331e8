// Threads that wait for others by looking at memory, on devices where looking does not let the others run.
#pragma once

#include "translator/ir/ir.h"

namespace mulciber::passes {

// Puts a yield before each load by which threads wait in a loop for another thread of their block: a volatile or
// ordered load on whose value the loop is left, of shared memory or of what may be that. Whoever waits for another
// block needs none. True when the program has yields, those of mbarriers among them: passes/rounds then gives each
// thread its turns, and has to come before other passes.
bool yieldInWaits(ir::Program& program);

}  // namespace mulciber::passes
