// Bulk copies, reductions and stores: the thread that starts one carries it out itself, at once.
#pragma once

#include "translator/lower/function_lowering.h"

namespace mulciber::lower {

// cp.async.bulk and cp.reduce.async.bulk without tensor maps, and st.bulk.
void lowerBulk(FunctionLowering& f, const ptx::Instruction& instruction);

}  // namespace mulciber::lower
