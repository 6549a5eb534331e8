// Spells addresses in shared memory and in uniform buffers so that drivers see what they are multiples of.
//
// SPIR-V reaches both by the index of an element, which the driver multiplies by the element's size again.
// What comes out is the address without its low bits, and unless the driver sees that those are zero it masks them,
// access by access, and cannot leave constants to the access. NVIDIA's looks no deeper than at operands of operands,
// and into a loop only where what it starts with is not itself a sum. Here such an address becomes a multiplied value
// (`shl`) or the sum of two, and a constant: values of loops count elements instead of bytes. It remains the same
// number, modulo 2^32.
//
//   needs, leaves  SSA form, address spaces resolved
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

class AlignedAddresses : public Pass {
 public:
  std::string_view name() const override { return "aligned-addresses"; }
  bool run(ir::Function& function, PassContext& context) override;
};

bool alignAddresses(ir::Function& function);

}  // namespace mulciber::passes
