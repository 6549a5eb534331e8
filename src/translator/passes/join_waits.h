// Lanes of one warp that wait for each other again and again.
#pragma once

#include <unordered_map>
#include <vector>

#include "translator/passes/loop_forest.h"

namespace mulciber::passes {

// What loops that were made of several wait by, by their headers.
using JoinedWaits = std::unordered_map<const ir::Block*, std::vector<const ir::Instruction*>>;

// while (turn != mine) {}  turn = mine + 1;  while (turn != later) {}  turn = later + 1;
//
// A lane that waits again would keep the others in its second loop, of which it waits for one. This makes such loops
// one, however many, with those between them, so that each lane tries its own in turn. Empty where nothing
// changed. Otherwise the forest is out of date, and so is what split_values leaves.
JoinedWaits joinWaits(ir::Function& function, const LoopForest& forest);

}  // namespace mulciber::passes
