// Operations on constants.
#pragma once

#include <optional>

#include "translator/ir/ir.h"

namespace mulciber::passes {

// The bits of the result when all operands are constants and the target is bound to compute exactly this. Float
// arithmetic is folded for normal numbers, where IEEE leaves no choice; never denormals or NaN, nor divisions, whose
// results depend on what the instruction and the target promise.
std::optional<uint64_t> foldConstant(const ir::Instruction& instruction);

}  // namespace mulciber::passes
