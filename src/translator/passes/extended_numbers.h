// Numbers that are made of fewer bits: several faults of drivers are in what they make of the bits above.
#pragma once

#include "translator/ir/ir.h"

namespace mulciber::passes {

// Whether a value may be a number of 8 or 16 bits that `extension`, ZExt or SExt, has made a longer one. What lies
// some steps away counts as a value of its own: the cost of one question has a limit.
bool mayBeExtended(const ir::Instruction& value, ir::Op extension);

}  // namespace mulciber::passes
