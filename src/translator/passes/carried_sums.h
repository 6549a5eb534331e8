// Loops that carry several values each of which is one value, the same for all, added to a number of its own.
#pragma once

#include "translator/ir/ir.h"

namespace mulciber::passes {

// Lets such loops carry that one value alone. The function is in structured SSA form.
bool shareCarriedSums(ir::Function& function);

}  // namespace mulciber::passes
