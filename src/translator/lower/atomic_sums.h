// Sums of floats that a device makes in a loop of attempts, each of which changes the place if nobody else did since.
#pragma once

#include <functional>

#include "translator/lower/function_lowering.h"

namespace mulciber::lower {

using Sum = std::function<ir::Instruction*(ir::Instruction* x, ir::Instruction* y)>;

// Adds the value, and returns what was there before. Where all lanes of a warp name one place, one attempt adds the
// numbers of all, one after the other: if each lane tried for itself, all attempts but one would fail. `alone` adds in
// any other case.
ir::Instruction* addTogether(FunctionLowering& f, const FunctionLowering::Address& address, ir::Instruction* value,
                             ir::MemoryAccess access, const Sum& sum, const std::function<ir::Instruction*()>& alone);

}  // namespace mulciber::lower
