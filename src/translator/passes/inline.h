// Puts the bodies of device functions in place of calls.
#pragma once

#include <string>

#include "translator/ir/ir.h"

namespace mulciber::passes {

// Afterwards the program is its kernel alone. Empty, or why it cannot be: a recursive call, or a size beyond reason.
// Every call gets variables of its own, so that SSA finds no ties between them; but where the kernel would have more
// than `limit` instructions, calls of large functions share one body (share_calls.h).
std::string inlineCalls(ir::Program& program, uint32_t limit);

}  // namespace mulciber::passes
