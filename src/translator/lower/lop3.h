// The shortest and/or/xor/not expression of a three-input truth table.
#pragma once

#include "translator/ir/builder.h"

namespace mulciber::lower {

// Bit i of `table` is the result where (a, b, c) are the bits of i, a highest: a = 0xF0, b = 0xCC, c = 0xAA.
ir::Instruction* emitTruthTable(ir::Builder& b, uint8_t table, ir::Instruction* x, ir::Instruction* y,
                                ir::Instruction* z);

}  // namespace mulciber::lower
