// What the modifiers of ld, st, atom, red and fence say about a memory access.
#pragma once

#include "translator/lower/function_lowering.h"

namespace mulciber::lower {

ptx::StateSpace stateSpace(const ptx::Instruction& instruction);  // None: generic
ir::Scope scope(const ptx::Instruction& instruction, ir::Scope otherwise);
ir::Order order(const ptx::Instruction& instruction, ir::Order otherwise);
uint8_t vectorLength(const ptx::Instruction& instruction);

// A weak access to `bytes` aligned bytes.
ir::MemoryAccess plainAccess(const FunctionLowering::Address& address, unsigned bytes);

// Order, scope and volatility of ld and st.
ir::MemoryAccess memoryAccess(const ptx::Instruction& instruction);

}  // namespace mulciber::lower
