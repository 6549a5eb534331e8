// Runs IR of integers and booleans: the judge of passes that must not change what a function does.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "translator/ir/ir.h"

namespace mulciber::test {

struct StoreEvent {
  uint64_t address, value;
  bool operator==(const StoreEvent&) const = default;
};

struct LaneResult {
  std::vector<StoreEvent> stores;  // to global memory, in order
  bool finished = false;           // returned, instead of reaching the limit
  std::vector<uint64_t> returns;   // of the function's return variables
  std::string error;               // an operation the interpreter does not know, a wrong address
};

// One thread follows the branches, in either stage of the IR, calls included. A load from global memory gives what the
// lane stored there last, else a number made from the address. Undefined values are `junk`.
LaneResult runLane(const ir::Function& function, uint32_t lane, size_t maxStores, uint64_t junk = 0x5EED'5EED'5EED'5EED,
                   const std::vector<uint64_t>& arguments = {});

// All lanes of a structured function together: at every step those at the earliest block in order go on, so that
// threads meet again at merge blocks and continue targets. Warp-wide operations see the lanes that step together.
struct WarpResult {
  std::vector<LaneResult> lanes;
  size_t steps = 0;  // blocks issued
};
WarpResult runWarp(const ir::Function& function, uint32_t lanes, size_t maxSteps,
                   uint64_t junk = 0x5EED'5EED'5EED'5EED);

}  // namespace mulciber::test
