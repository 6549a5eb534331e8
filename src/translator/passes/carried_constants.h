// Values that are one constant each time, however loops carry them round: a count that each round changes and sets
// back, a flag that only a branch sets that nobody takes. Constants and branches are looked at together.
#pragma once

#include "translator/ir/ir.h"

namespace mulciber::passes {

// Replaces such values, and takes away the branches that they decide. The function is in structured SSA form.
bool foldCarriedConstants(ir::Function& function);

}  // namespace mulciber::passes
