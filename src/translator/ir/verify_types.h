// The typing rules of operations, apart from where values are defined: used by verifier.cpp.
#pragma once

#include <string>

#include "translator/ir/ir.h"

namespace mulciber::ir {

// Empty when the operands, result type and payload of the instruction fit its operation.
std::string checkTypes(const Instruction& instruction, const Function& function);

}  // namespace mulciber::ir
