// Shared memory at addresses that other lanes have, as ldmatrix reads it: where a lane can compute what another one
// would, it does so instead of asking.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

class LaneAddresses : public Pass {
 public:
  std::string_view name() const override { return "lane-addresses"; }
  bool run(ir::Function& function, PassContext& context) override;
};

bool computeLaneAddresses(ir::Function& function);

}  // namespace mulciber::passes
