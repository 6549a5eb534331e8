// mbarrier objects, for the instructions of other families that count on them.
#pragma once

#include "translator/lower/function_lowering.h"

namespace mulciber::lower {

// The given bytes (i64) of the transactions that the mbarrier at `address` expects have arrived.
void completeTransaction(FunctionLowering& f, const ptx::Instruction& instruction, const ptx::Operand& address,
                         ir::Instruction* bytes);

}  // namespace mulciber::lower
