// Keeps drivers from carrying the halves of a word apart.
//
// NVIDIA's compiler (580.159.04) makes two numbers of a word that comes from several places and of which halves are
// taken: the word and its upper half. At the exits of a loop it set the word alone, and the upper half was what the
// register had held before (seen in the machine code). Of a word that it does not know it takes halves where they are
// asked for. Words that a loop carries from round to round stay: sums of pairs of halves are such words.
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

bool hideCarriedHalves(ir::Function& function);

//   needs   SSA, structure
//   leaves  no halves taken of a phi's word, but for those of loops' headers
class CarriedHalves : public Pass {
 public:
  std::string_view name() const override { return "carried_halves"; }
  bool run(ir::Function& function, PassContext& context) override;
};

}  // namespace mulciber::passes
