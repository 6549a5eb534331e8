// Keeps drivers from reading private memory where a stored value came from.
//
// NVIDIA's compiler (580.159.04) takes private memory to which one value of constant memory is stored, and nothing
// else, for a copy of constant memory: a push constant, say, or the size of the grid. Then it reads the constant memory
// in its place, at computed places too, but not where the value lies. A value that it does not know for one of constant
// memory is stored.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

bool hideLoneStores(ir::Function& function);

//   needs   SSA, structure, known spaces
//   leaves  no kernel that stores one value to private memory, and no other, without hiding it
class LoneStores : public Pass {
 public:
  std::string_view name() const override { return "lone_stores"; }
  bool run(ir::Function& function, PassContext& context) override;
};

}  // namespace mulciber::passes
