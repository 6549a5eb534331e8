// Makes a switch of the tree of branches that nvcc has made of one: drivers then make their own tree, and cases that
// share their code need no copies of it.
#pragma once

#include "translator/ir/ir.h"

namespace mulciber::passes {

// Before structurize. Trees with a convergent operation in a case stay: structurize would make a chain of the switch.
void raiseSwitches(ir::Function& function);

}  // namespace mulciber::passes
