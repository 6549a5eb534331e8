// Moves a block's shared memory to device memory, for kernels that ask for more than the device has.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

// Accesses to shared memory become accesses to the part of LaunchState::scratch that belongs to the block. Needs SSA,
// and generic accesses resolved: comes after AddressSpaces. Does nothing when the memory fits and nobody asked for it.
class SharedInScratch : public Pass {
 public:
  std::string_view name() const override { return "shared-in-scratch"; }
  bool run(ir::Function& function, PassContext& context) override;
};

}  // namespace mulciber::passes
