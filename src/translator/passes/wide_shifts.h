// Keeps drivers from recognising sign-extended numbers of 32 bits that are multiplied by 2^31 in 64 bits.
//
// NVIDIA's compiler (580.159.04) makes a product of two signed numbers of 32 bits of int64_t(x) << 31, where 2^31 is
// -2^31: the result has the wrong sign. The same comes of shifts, sums and products of constants that make 2^31
// together.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

bool hideWideShifts(ir::Function& function);

//   needs   SSA, structure
//   leaves  no such number that a driver can see to be one
class WideShifts : public Pass {
 public:
  std::string_view name() const override { return "wide_shifts"; }
  bool run(ir::Function& function, PassContext& context) override;
};

}  // namespace mulciber::passes
