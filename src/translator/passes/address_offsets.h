// Brings constants out of the arithmetic of global addresses to its end, where they become an access's immediate offset
// and the rest is one value for many accesses: `p + sext(i + 32) * 4` is `(p + sext(i) * 4) + 128` where i + 32 cannot
// overflow, as it cannot where i is made of a thread's number.
//
//   needs, leaves  SSA form, spaces known
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

class AddressOffsets : public Pass {
 public:
  std::string_view name() const override { return "address-offsets"; }
  bool run(ir::Function& function, PassContext& context) override;
};

bool gatherAddressOffsets(ir::Function& function);

}  // namespace mulciber::passes
