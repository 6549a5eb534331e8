// What of a launch its push constants have room for, behind abi::PushHeader.
#pragma once

#include "mulciber/translator.h"
#include "translator/ir/ir.h"

namespace mulciber::analyses {

// Whether the address of the kernel's parameters stands in the push constants, not they themselves: they are too large
// for this device, or read in a way that its compiler gets wrong.
bool parametersInBuffer(const ir::Program& program, const TargetProfile& profile);
// How many words a launch can carry behind the parameters, or behind their address.
unsigned roomForWords(const ir::Program& program, const TargetProfile& profile);

}  // namespace mulciber::analyses
