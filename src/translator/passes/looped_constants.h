// Keeps drivers from setting the constants of vectors that a loop stores in front of the loop.
//
// NVIDIA's compiler (580.159.04) keeps such a vector in neighbouring registers and sets them where the loop is entered.
// Of a loop with two exits, entered behind a branch, it sets the one of a constant on one side alone; on the other the
// loop stores what was there before. A constant that the driver does not know is a value like others.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

bool hideLoopedConstants(ir::Function& function);

//   needs   SSA, structure
//   leaves  no vector of variables and known constants that is stored in a loop
class LoopedConstants : public Pass {
 public:
  std::string_view name() const override { return "looped_constants"; }
  bool run(ir::Function& function, PassContext& context) override;
};

}  // namespace mulciber::passes
