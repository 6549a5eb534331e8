// Keeps drivers from making one instruction of a sum and of the high part of a product or a shifted number.
//
// That instruction adds to 64 bits, of which half are zeros or something else that stays. NVIDIA's compiler
// (580.159.04) takes two of them in a row for the same, though what is in the other half differs: those of turns of a
// loop that it unrolls, or of some lanes alone, one after the other. So the second sum is not made.
//
// A kernel whose blocks have one thread has no lanes apart, and hiding what several of its sums have in common leads to
// another fault: there it is the same for the warp, and a store of the same compiler took the register of another
// place.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

bool hideHighSums(ir::Function& function, bool hasOneThread = false);

//   needs   SSA, structure
//   leaves  no sum that a driver can see to be of such a part, where a loop may repeat it or another has the same part
class HighSums : public Pass {
 public:
  std::string_view name() const override { return "high_sums"; }
  bool run(ir::Function& function, PassContext& context) override;
};

}  // namespace mulciber::passes
