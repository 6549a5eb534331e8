// Turns functions that may call themselves into loops with a stack, since shaders cannot recurse.
#pragma once

#include "translator/ir/ir.h"

namespace mulciber::passes {

// Functions that can reach each other by calls become one function, a machine: a call among them saves the caller's
// live variables, the place to return to and the caller's frame on a stack in private memory, and jumps; a return takes
// them back and switches on the place. Each group of such functions has a stack of InputKind::StackBytes. Calls from
// elsewhere go to a machine that starts at the function called. Functions not in SSA form, each recursive one with its
// RecursiveFrame. True when something changed.
//
// A call that the stack has no room for enters its function with `overflows` set: it is expected to end the thread.
bool removeRecursion(ir::Program& program);

}  // namespace mulciber::passes
