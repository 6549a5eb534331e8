// Random kernels for passes: any control-flow graph, with data that shows which way control went.
#pragma once

#include <memory>
#include <random>

#include "translator/ir/ir.h"

namespace mulciber::test {

struct RandomFunctionOptions {
  unsigned blocks = 12;
  bool terminates = true;         // a counter leads out of every loop; else some loops never end
  bool constantBranches = false;  // some branches are on constants
  bool warpBarriers = false;      // convergent operations, which change nothing for a lane
};

// Every block stores to the global address that is its number. Blocks branch near or far, back and into loops, by
// variables that they change; some use values that dominating blocks computed.
std::unique_ptr<ir::Function> randomFunction(std::mt19937_64& random, const RandomFunctionOptions& options);

}  // namespace mulciber::test
