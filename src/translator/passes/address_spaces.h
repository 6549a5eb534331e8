// Gives every access through a generic address its space.
//
//   needs   SSA form, structured, loop headers that only branch
//   leaves  no access with Space::Generic
//
// What an address may be is followed from where it was made (kernel_abi.h's windows, kernel parameters, memory) through
// arithmetic, selects and phis. An access of one possible space becomes an access of it; of several, a switch on the
// window. Spaces of which the program makes no generic address are out of the question: in most programs all generic
// accesses are global without a test.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

class AddressSpaces : public Pass {
 public:
  std::string_view name() const override { return "address-spaces"; }
  bool run(ir::Function& function, PassContext& context) override;
};

// As a function of a program's flags, for tests.
bool resolveAddressSpaces(ir::Function& function, const ir::Program& program);

}  // namespace mulciber::passes
