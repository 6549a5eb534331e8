// What values are made of.
#pragma once

#include <functional>
#include <vector>

#include "translator/ir/ir.h"

namespace mulciber::passes {

// By instruction id: the values, and what they depend on through instructions for which `follows` holds.
std::vector<bool> findDependencies(const ir::Function& function, const std::vector<const ir::Instruction*>& values,
                                   const std::function<bool(const ir::Instruction&)>& follows);

}  // namespace mulciber::passes
