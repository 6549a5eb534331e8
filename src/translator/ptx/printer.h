// Syntax tree to canonical PTX text: parsing it again gives the same tree.
#pragma once

#include <string>

#include "translator/ptx/ast.h"

namespace mulciber::ptx {

std::string print(const Module& module);
// One instruction on one line, without a line break: for messages and dumps.
std::string print(const Instruction& instruction, const Function& function);

}  // namespace mulciber::ptx
