// Atomic read-modify-write on memory: with the device's operation where it has one, else by compare and swap.
#pragma once

#include <functional>

#include "translator/lower/function_lowering.h"

namespace mulciber::lower {

using Update = std::function<ir::Instruction*(ir::Instruction* old)>;

// Replaces the integer at `address` by update(old) in one step and gives back `old`. The type has 32 or 64 bits.
ir::Instruction* atomicUpdate(FunctionLowering& f, const FunctionLowering::Address& address, ir::Type type,
                              ir::MemoryAccess access, const Update& update);

// The same for 16 bits, within the 32-bit word that holds them.
ir::Instruction* atomicUpdate16(FunctionLowering& f, const FunctionLowering::Address& address, ir::MemoryAccess access,
                                const Update& update);

// What the operation and type among the instruction's modifiers make of the element at `address`.
void reduceElement(FunctionLowering& f, const ptx::Instruction& instruction, const FunctionLowering::Address& address,
                   ir::Instruction* value);

ir::Instruction* atomic(FunctionLowering& f, ir::Op op, const FunctionLowering::Address& address,
                        ir::MemoryAccess access, std::initializer_list<ir::Instruction*> values);

}  // namespace mulciber::lower
