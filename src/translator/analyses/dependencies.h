// What values are made of, and what is made of them.
#pragma once

#include <functional>
#include <vector>

#include "translator/ir/ir.h"

namespace mulciber::analyses {

// By instruction id: the values, and what they depend on through instructions for which `follows` holds.
std::vector<bool> findDependencies(const ir::Function& function, const std::vector<const ir::Instruction*>& values,
                                   const std::function<bool(const ir::Instruction&)>& follows);

// By instruction id: what depends on a value for which `isSource` holds, through instructions for which `passesOn`
// holds or through memory, where any load may give whatever is stored anywhere. The sources themselves are found too.
std::vector<bool> findDependents(const ir::Function& function,
                                 const std::function<bool(const ir::Instruction&)>& isSource,
                                 const std::function<bool(const ir::Instruction&)>& passesOn);

}  // namespace mulciber::analyses
