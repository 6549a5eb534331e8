// Gives each way into a small shared end of several arms a copy of its own: the default case of a switch that nvcc
// turned into a tree of branches, say. Structured code has no edge from one arm into another, so that without the copy
// every arm would set a flag and test it where the arms meet.
#pragma once

#include "translator/passes/loop_forest.h"

namespace mulciber::passes {

void copySharedTails(ir::Function& function, LoopForest& forest);

}  // namespace mulciber::passes
