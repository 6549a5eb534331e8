// Threads of one warp that fight for a lock: those that got it must be able to give it back while the others wait.
//
// while (atomicCAS(lock, 0, 1) != 0) {}  critical section;  atomicExch(lock, 0);
//
// Where threads wait at the end of a loop until all have left it, the owner of the lock would wait for the waiting
// threads. So the code up to the release becomes part of the loop: a thread that gets the lock does its work before it
// leaves.
#pragma once

#include <unordered_set>
#include <vector>

#include "translator/passes/join_waits.h"
#include "translator/passes/loop_forest.h"

namespace mulciber::passes {

// Extends loops that are left by the result of a compare-and-swap, an exchange or a volatile or ordered load, to take
// in the blocks from there to the last write to the same address, which lets the lock go; not past warp or block
// barriers, nor to where the same lock is taken again. A compare-and-swap that is tried again with what it found takes
// no lock. A loop around one that waits by loads takes in what may end the wait likewise, unless warps run it together:
// a thread that leaves it arrives before the others wait again. Only the forest changes, and returns move out of the
// blocks taken in. loop_exits then sends the threads that leave such a loop through its end.
void extendSpinLoops(ir::Function& function, LoopForest& forest, const JoinedWaits& joined);

// atomicExch(lock, 0); __syncthreads();
//
// Ends blocks between a release and what all threads are meant to be at: a loop takes in whole blocks.
void endBlocksAfterReleases(ir::Function& function);

// while (atomicExch(lock, 1) != 0) nanosleep(8);
//
// Compilers turn such a loop round: the first try stands before it, and who succeeds there never comes by the loop.
// This takes the first try into the loop, so that all leave it the same way. True when something changed: the forest is
// then out of date, and so is what split_values leaves.
bool gatherFirstTries(ir::Function& function, const LoopForest& forest);

// The volatile and ordered loads, and the compare-and-swaps and exchanges that take a lock, on whose values the
// innermost loop around them is left. For functions whose values do not cross blocks, or before splitCrossBlockValues.
std::unordered_set<const ir::Instruction*> accessesThatWait(ir::Function& function);

// A barrier of the warp that some of its lanes may not come to.
bool isPartBarrier(const ir::Instruction* instruction);

// while (atomicCAS(lock, 0, 1) != 0) {}  __syncwarp(part);  ...  atomicExch(lock, 0);
//
// Whether the lane that has taken a lock comes to a barrier with some other lanes of its warp before it lets it go:
// lanes that wait for the lock must not keep it from that. For functions without calls.
bool holdLocksAtPartBarriers(ir::Function& function);

// The compare-and-swaps that are tried again with what they found: they wait for nobody.
std::unordered_set<const ir::Instruction*> retriedSwaps(ir::Function& function);

// What others' writes may be waited for with: a volatile or ordered load, or an atomic operation that leaves what it
// finds, such as the addition of 0.
bool isOrderedLoad(const ir::Instruction& instruction);
// The same of an instruction of a function that is called: its operands may be constants of the caller.
bool mayBeOrderedLoad(const ir::Instruction& instruction);

// Whether the block may write what one of the loads waits for: a store that others are to see, or an atomic operation,
// of the same type in the same space.
bool mayEndWait(const ir::Block& block, const std::vector<const ir::Instruction*>& loads);

}  // namespace mulciber::passes
