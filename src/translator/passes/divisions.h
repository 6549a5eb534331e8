// Divides 32-bit integers with a reciprocal, where the driver's own division is slower.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

// For profiles with `slowDivision32`. Divisions by constants, specialisation constants among them, stay: drivers make
// multiplications of them.
//
//   needs, leaves  SSA form
class Divisions : public Pass {
 public:
  std::string_view name() const override { return "divisions"; }
  bool run(ir::Function& function, PassContext& context) override;
};

// Without asking whether it is faster.
bool divideByReciprocals(ir::Function& function);

}  // namespace mulciber::passes
