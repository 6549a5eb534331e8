// The readable form of the IR, for dumps and tests; docs/ir.md gives its grammar. parser.h reads it back.
#pragma once

#include <string>

#include "translator/ir/ir.h"

namespace mulciber::ir {

// Values and blocks are numbered in order, whatever their ids: equal programs print as equal text.
std::string print(const Function& function);
std::string print(const Program& program);

}  // namespace mulciber::ir
