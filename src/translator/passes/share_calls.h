// Lets the calls of a large function share one copy of its body, for kernels that would become too large with
// everything inlined.
//
//   t: write a, 1; call @f %x           t: write x, 1; write place, 1; br f
//   u: write b, 2; call @f %y     ->    u: write x, 2; write place, 2; br f
//                                       f: the body; switch place [1: after t, 2: after u]
//
// Drivers inline the functions of a shader, however large: such code was 5 times slower on an H200, which has to fetch
// it all, and took the driver 90 times as long (docs/performance.md).
#pragma once

#include <cstdint>
#include <vector>

#include "translator/ir/ir.h"

namespace mulciber::passes {

// Which functions of the program are large and called from several places, where inlining all calls would give the
// kernel more than `limit` instructions: each after those that call it. Never functions in which threads meet or may
// wait for each other (barriers, warp operations, volatile and ordered loads, atomic operations whose results are used,
// unless that is a compare-and-swap tried again with what it found, or the report of an error). No function calls
// itself.
std::vector<ir::Function*> functionsToShare(const ir::Program& program, uint32_t limit);

// Puts the body in place of all calls of `callee` in `caller`, once for those that may share it: threads could wait for
// each other on the way from one call to the other, and must not go round in a loop there. Ways through the next round
// of the innermost loop in which threads meet do not count: the new loop lies inside that one.
void shareCalls(ir::Function& caller, const ir::Function& callee);

}  // namespace mulciber::passes
