// Computes nothing twice where the first result is at hand.
//
//   needs, leaves  SSA form
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

class Cse : public Pass {
 public:
  std::string_view name() const override { return "cse"; }
  bool run(ir::Function& function, PassContext& context) override;
};

// Replaces a pure operation by an equal one that dominates it. Loads from memory that nobody writes count as pure, and
// so do shuffles between the same lanes.
bool removeCommonSubexpressions(ir::Function& function);

}  // namespace mulciber::passes
