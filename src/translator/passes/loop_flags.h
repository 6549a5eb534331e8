// Carries booleans from round to round of a loop as integers.
//
// NVIDIA's compiler ends its process with a segmentation fault on some loops that carry a boolean (driver 580: four
// random programs, all of them right with integers). What such a boolean is chosen from on the way is an integer
// too. Where that compiler sees through the integers, operations of a warp in such loops and behind them are wrong
// (three random programs), so the comparisons that make them booleans again are hidden from it.
//
// It also ended so on loops in each other of which the inner one is left to several places: one random program of
// 400,000. Numbers that loops begin with are hidden from it where a function has a loop of that kind.
//
//   needs    SSA form with up-to-date predecessors, structured
//   leaves   no phi of booleans in a function with a loop that carries one
#pragma once

#include "translator/passes/pass.h"

namespace mulciber::passes {

class LoopFlags : public Pass {
 public:
  std::string_view name() const override { return "loop_flags"; }
  bool run(ir::Function& function, PassContext& context) override;
};

bool carryFlagsAsIntegers(ir::Function& function);
bool hideStarts(ir::Function& function);

}  // namespace mulciber::passes
