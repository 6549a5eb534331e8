// Keeps drivers from recognising where the lower two bytes of a number are swapped.
//
// NVIDIA's compiler (580.159.04) makes one operation of 16 bits of it and loses the bytes: always where the numbers
// have 16 bits, and where they have more in kernels that call one of its routines (f64 roots and quotients, quotients
// of 64-bit integers). So one of the two bytes passes an operation that hides where it comes from.
//
//   needs, leaves  SSA form
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

bool hideSwappedBytes(ir::Function& function);

class ByteSwaps : public Pass {
 public:
  std::string_view name() const override { return "byte_swaps"; }
  bool run(ir::Function& function, PassContext& context) override;
};

}  // namespace mulciber::passes
