// Reads of registers that are only ever written with one constant become that constant: code that was compiled without
// optimisation passes every argument so, and how lanes wait for each other is told by constants.
//
//   needs, leaves  variables
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

class ConstantRegisters : public Pass {
 public:
  std::string_view name() const override { return "constant_registers"; }
  bool run(ir::Function& function, PassContext& context) override;
};

// Of a function that is not called.
bool useConstantRegisters(ir::Function& function);

}  // namespace mulciber::passes
