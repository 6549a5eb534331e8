// Makes every floating-point operation one that the target does exactly as the IR says.
//
// After it no instruction asks for a rounding other than to nearest or for flushing; fused multiply-add, division and
// square root are only those that the target rounds correctly; minimum and maximum know the order of zeros. It chooses
// the kernel's denormal mode: flushing when every f32 operation is .ftz, preserving otherwise, and then flushes the
// .ftz operations' operands and results by their bits.
//
// On a target whose f32 fma is fused but flushes, fma without .ftz is marked to become a dot product (dot_products.h),
// or repaired last (fma_repair.h), unless options.exactDenormals says that it may flush.
//
// Needs: variables not yet in SSA form, no structure yet (it may split blocks). What a target cannot do at all, f64
// arithmetic without f64, is left to the emitter, which refuses it.
#pragma once

#include "translator/passes/fma_repair.h"
#include "translator/passes/pass.h"

namespace mulciber::passes {

class LegalizeFloats : public Pass {
 public:
  explicit LegalizeFloats(Repair repair = Repair::Cheaper) : repair_(repair) {}

  std::string_view name() const override { return "legalize_floats"; }
  bool run(ir::Function& function, PassContext& context) override;

 private:
  const Repair repair_;
};

}  // namespace mulciber::passes
