// Clusters of blocks: here each block is a cluster of its own.
#pragma once

#include "translator/ptx/ast.h"

namespace mulciber::lower {

// `.reqnctapercluster` asks for clusters of several blocks.
bool needsSeveralBlocks(const ptx::Function& kernel);

// Whether the instruction does something else where a cluster has several blocks.
bool dependsOnCluster(const ptx::Instruction& instruction);

}  // namespace mulciber::lower
