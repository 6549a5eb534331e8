// Takes what a loop reads alike in each of its rounds out of it: texture records, and the numbers of images and
// samplers in them. Drivers cannot, since loops write to memory as well. An H200 read the record of a texture anew
// between the stores of a loop over its layers.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

bool readBeforeLoops(ir::Function& function);

//   needs   SSA, structure
//   leaves  no load that may come early (MemoryAccess::mayComeEarly) in a loop that does not change its address, nor
//           the numbers of an image.sample that the loop does not change
class EarlyReads : public Pass {
 public:
  std::string_view name() const override { return "early_reads"; }
  bool run(ir::Function& function, PassContext&) override { return readBeforeLoops(function); }
};

}  // namespace mulciber::passes
