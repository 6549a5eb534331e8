// Runs IR of integers and booleans, and the simplest f32 arithmetic: the judge of passes that must not change what a
// function does.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "translator/ir/ir.h"

namespace mulciber::test {

inline constexpr uint64_t moduleData = 0x7F'1234'5600;  // InputKind::ModuleData

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

// All lanes together, with one global memory; warp-wide operations see the lanes that step together.
struct WarpResult {
  std::vector<LaneResult> lanes;
  size_t storesIssued = 0;  // stores that a group of lanes did at once count once
};

// Which lanes meet again where.
enum class Reconvergence : uint8_t {
  BlockOrder,     // structured functions: the lanes at the earliest block run, so all wait at merge blocks
  PostDominator,  // as hardware with a stack: those of a divergent branch, at its immediate post-dominator
};
WarpResult runWarp(const ir::Function& function, uint32_t lanes, Reconvergence reconvergence,
                   uint64_t junk = 0x5EED'5EED'5EED'5EED);

}  // namespace mulciber::test
