// What the command line of ptxas, which a fat binary keeps beside the text, means for the results of a program.
#pragma once

#include <string_view>

#include "translator/ptx/parser.h"

namespace mulciber::ptx {

// Whether ptxas rounds every product and every sum with these options: `--fmad false`, and where it does not optimise.
bool roundsEach(std::string_view assemblerOptions);

// Marks every function, so that linking and printing keep what holds for each of them.
void markRoundedEach(ModuleHolder& holder);
bool isRoundedEach(const Module& module, const Function& function);

}  // namespace mulciber::ptx
