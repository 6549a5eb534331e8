// Calls and the parameters that pass through them.
#include "translator/lower/function_lowering.h"

namespace mulciber::lower {

bool FunctionLowering::loadCallParameter(const ptx::Instruction&, ir::Type) { return false; }
bool FunctionLowering::storeCallParameter(const ptx::Instruction&, ir::Type) { return false; }

}  // namespace mulciber::lower
