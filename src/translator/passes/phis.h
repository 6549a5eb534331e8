// Phis that choose nothing.
#pragma once

#include "translator/ir/ir.h"

namespace mulciber::passes {

// Replaces every phi whose operands are one value, itself or undef aside, by that value, until none is left. True when
// something changed. The function is in SSA form with up-to-date predecessors.
bool removeTrivialPhis(ir::Function& function);

}  // namespace mulciber::passes
