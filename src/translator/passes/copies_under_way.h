// Copies of cp.async are held in registers until the kernel waits for them (lower/async_copies.h). How many a thread
// holds, and where they go, are variables of the kernel, which loops carry round. Mostly the number is the same in each
// round, and the places lie at fixed distances: then the loop carries the copies and one place alone, and nothing
// branches.
//
//   needs, leaves  structured SSA form
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

class CopiesUnderWay : public Pass {
 public:
  std::string_view name() const override { return "copies_under_way"; }
  bool run(ir::Function& function, PassContext& context) override;
};

}  // namespace mulciber::passes
