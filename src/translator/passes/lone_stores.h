// Keeps drivers from mistaking private memory for a copy of constant memory.
//
// NVIDIA's compiler (580.159.04) does so where a kernel stores only one value to private memory and takes it from
// constant memory: a push constant, say, or the size of the grid. Reads of the private memory then become reads of
// constant memory, at a wrong address. A hidden value does not show where it comes from.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

bool hideLoneStores(ir::Function& function);

//   needs   SSA, structure, known spaces
//   leaves  the value hidden, where a kernel stores only one to private memory
class LoneStores : public Pass {
 public:
  std::string_view name() const override { return "lone_stores"; }
  bool run(ir::Function& function, PassContext& context) override;
};

}  // namespace mulciber::passes
