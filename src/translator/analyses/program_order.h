// The order in which a program that is written in structured code would have its blocks.
#pragma once

#include <vector>

#include "translator/ir/ir.h"

namespace mulciber::analyses {

// Every block after those that lead to it, except along a loop's way back; the blocks of a loop stand together, so that
// what follows a loop comes after all of it. Where a loop has several entries, one of them is taken for its header. All
// blocks are reachable.
std::vector<ir::Block*> programOrder(const ir::Function& function);

}  // namespace mulciber::analyses
