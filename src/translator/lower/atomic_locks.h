// Memory operations that are one step for all threads, of widths for which the device has none: 128 bits, and 64 bits
// where its atomic operations have 32. Each is done under one of the locks of the LaunchState, chosen by the address,
// and so are the strong loads and stores of such a width, so that none of them is seen half done. Weak accesses take no
// lock: beside an atomic operation they would be a race in CUDA too. The host's own accesses are not covered.
#pragma once

#include "translator/lower/atomics.h"

namespace mulciber::lower {

// Whether the device itself has atomic operations on integers of `bits` bits there.
bool hasAtomics(const TargetProfile& profile, ir::Space space, unsigned bits);

// Whether a generic address lies in shared memory.
ir::Instruction* isShared(ir::Builder& b, ir::Instruction* address);

// Gives access(address) for a generic address as one in shared and one elsewhere, when the device's abilities differ.
using Access = std::function<ir::Instruction*(const FunctionLowering::Address& address)>;
ir::Instruction* byAbility(FunctionLowering& f, const FunctionLowering::Address& address, ir::Type type,
                           const Access& access);

// body(), run by one thread at a time of those that say the same number (i32).
void runLocked(FunctionLowering& f, ir::Instruction* number, const std::function<void()>& body);

// Replaces the i64 or <2 x i64> at `address` by update(old) under its lock, and gives back `old`.
ir::Instruction* lockedUpdate(FunctionLowering& f, const FunctionLowering::Address& address, ir::Type type,
                              const Update& update);

// A strong load or store of an i64 or <2 x i64>, under its lock where the device has no such atomic operations.
ir::Instruction* strongLoad(FunctionLowering& f, const FunctionLowering::Address& address, ir::Type type,
                            const ir::MemoryAccess& access);
void strongStore(FunctionLowering& f, const FunctionLowering::Address& address, ir::Instruction* value,
                 const ir::MemoryAccess& access);

}  // namespace mulciber::lower
