// Runs a block in rounds, where the device lacks what the kernel needs of it: barriers that do not wait for ended
// threads or that lanes of a warp may come to one by one, warps of 32 lanes, or warps that run while others wait.
//
// A stop is a barrier, an operation of a warp, or the thread's end. Each thread runs to its next stop and goes to the
// one loop in which the whole block meets, ended threads too, at the only barrier that is left. Which threads run on
// from there:
//
//   warp operations  the threads of a warp that stand at the same one, the first in program order: those behind it wait
//                    for the others to come, so threads meet again where structured code would have them
//   barriers         all threads, once none stands at a warp operation
//
// What a warp operation needs of other lanes it finds in shared memory, where every thread writes its stop and a value.
//
//   needs   a function without calls, not structured; Program::blockRoundsOffset
//   leaves  when anything changes: no warp operations, and one barrier, which all threads reach together
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

class BlockRounds : public Pass {
 public:
  std::string_view name() const override { return "block_rounds"; }
  bool run(ir::Function& function, PassContext& context) override;
};

// Whether it has operations of a warp: where the device has no warps, its threads then run in rounds.
bool usesWarps(const ir::Program& program);

// What would be stops of single threads. Drivers take minutes to compile kernels with many: there, warps take turns as
// a whole, and lanes of one that wait for each other may hang.
size_t countStops(const ir::Program& program);
inline constexpr size_t mostStopsOfThreads = 16;

// The same with all calls inlined. Each stop needs a phi for what lives across any of them: with very many, code that
// keeps volatile accesses in step takes gigabytes.
size_t countInlinedStops(const ir::Program& program);
inline constexpr size_t mostInlinedStopsOfThreads = 256;

// Without asking whether it is needed. With `hasWarps`, warp operations stay as they are. `sharedOffset` is where the
// memory begins that ir::blockRoundsBytes speaks of.
void runBlockInRounds(ir::Function& function, bool hasWarps, uint32_t sharedOffset);

}  // namespace mulciber::passes
