// Keeps drivers from recognising where bytes of a number are put in the opposite order.
//
// NVIDIA's compiler (580.159.04) makes one operation of it. Where that is one of 16 bits, it loses the bytes: always
// where the numbers have 16 bits, and where they have more in kernels that call one of its routines (f64 roots and
// quotients, quotients of 64-bit integers). In such kernels it also loses bytes of words whose order is reversed and of
// which it knows that other bytes are zero. One of 48 bits ends the process. So one of the bytes that are joined passes
// an operation that hides where it comes from.
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
