// Keeps drivers from recognising where the sign of a narrow part of a negated number is extended.
//
// NVIDIA's compiler (580.159.04) takes that for the negation of the extended number, which differs for the least one:
// of -(-128) in 8 bits it makes 128. So the negated number passes an operation that hides where it comes from.
//
//   needs, leaves  SSA form
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

bool hideNegated(ir::Function& function);

class NegatedSigns : public Pass {
 public:
  std::string_view name() const override { return "negated_signs"; }
  bool run(ir::Function& function, PassContext& context) override;
};

}  // namespace mulciber::passes
