// What the modifiers of ld, st, atom, red and fence say about a memory access.
#pragma once

#include "translator/ir/ir.h"
#include "translator/ptx/ast.h"

namespace mulciber::lower {

ptx::StateSpace stateSpace(const ptx::Instruction& instruction);  // None: generic
ir::Scope scope(const ptx::Instruction& instruction, ir::Scope otherwise);
ir::Order order(const ptx::Instruction& instruction, ir::Order otherwise);
uint8_t vectorLength(const ptx::Instruction& instruction);

// Order, scope and volatility of ld and st.
ir::MemoryAccess memoryAccess(const ptx::Instruction& instruction);

}  // namespace mulciber::lower
