// Checks a function against docs/ir.md. Runs between passes in debug builds and in every pass's test.
#pragma once

#include <string>

#include "translator/ir/ir.h"

namespace mulciber::ir {

// Empty when the function is well-formed, else one line for each fault, the first few of them.
std::string verify(const Function& function);

}  // namespace mulciber::ir
