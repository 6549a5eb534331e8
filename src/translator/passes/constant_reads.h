// Reads constants through a uniform buffer, where GPUs have a cache for what a whole warp reads at once: natively the
// constant bank. At fixed places that costs no instruction. At computed ones NVIDIA's driver reads device memory in
// less time (a loop over a table 130 us instead of 201), but waits longer for it: what branches depend on comes through
// the buffer (string matching 117 us instead of 132). Loads whose address differs between the threads of a warp stay as
// they are, since that cache serves one address at a time; so do long vectors at computed places, and what is read at
// addresses that do not follow from the module's data.
//
// The address becomes a 32-bit offset in the module's data. Values of loops that point into it get a counterpart that
// counts offsets.
//
//   needs, leaves  SSA form, address spaces resolved
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

class ConstantReads : public Pass {
 public:
  std::string_view name() const override { return "constant-reads"; }
  bool run(ir::Function& function, PassContext& context) override;
};

bool readConstants(ir::Function& function);

}  // namespace mulciber::passes
