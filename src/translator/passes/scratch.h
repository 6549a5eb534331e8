// Moves shared and private memory to device memory, for kernels that ask for more than the device has.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

// Accesses to the memory become accesses to the part of LaunchState::scratch that belongs to the block, laid out as
// abi::scratchBytes says. Needs SSA, and generic accesses resolved: comes after AddressSpaces. Does nothing to memory
// that fits and that nobody asked to move, unless it is private and the driver would compile its accesses slowly.
class Scratch : public Pass {
 public:
  std::string_view name() const override { return "scratch"; }
  bool run(ir::Function& function, PassContext& context) override;
};

}  // namespace mulciber::passes
