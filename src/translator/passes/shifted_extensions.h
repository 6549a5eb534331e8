// Keeps drivers from recognising sign-extended numbers of 8 and 16 bits where they are shifted.
//
// NVIDIA's compiler (580.159.04) leaves the extension of a loaded number out, and shifts what the register holds above
// its 16 bits: seen in a branch behind an atomic operation, of shifts to both sides, of parts of the number, of
// products by powers of two and of masks made of its sign.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

bool hideShiftedExtensions(ir::Function& function);

//   needs   SSA, structure
//   leaves  no shift of a number that a driver knows to be sign-extended, no arithmetic shift of 8 or 16 bits, and no
//           signed comparison that asks for nothing but the sign of a number of 8 or 16 bits
class ShiftedExtensions : public Pass {
 public:
  std::string_view name() const override { return "shifted_extensions"; }
  bool run(ir::Function& function, PassContext& context) override;
};

}  // namespace mulciber::passes
