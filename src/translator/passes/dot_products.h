// Gives f32 multiply-adds to the driver as dot products of (x, z) and (y, 1), where those keep denormals and its own
// multiply-adds do not (exactDot32: NVIDIA's).
//
// To that driver a dot product is a product and a sum, which it fuses unless it can do better: it shares a product that
// it finds elsewhere too, moves it out of a loop, or computes it beforehand. Then it is rounded twice. Its machine code
// says whether that has happened (runtime/vk/machine_code.h), if a product alone is always one that was taken apart. So
// products of the kernel become dot products too, with a hidden negative zero, and constants are carried by launches or
// hidden: of known numbers drivers compute products by themselves, and no trace is left. What would be taken apart for
// certain is hidden as well.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

bool giveAsDotProducts(ir::Function& function);

//   needs   SSA, structure; legalize_floats has marked the multiply-adds
//   leaves  no other f32 product in kernels that have such ones
class DotProducts : public Pass {
 public:
  std::string_view name() const override { return "dot_products"; }
  bool run(ir::Function& function, PassContext& context) override;
};

}  // namespace mulciber::passes
