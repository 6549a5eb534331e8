// The order in which passes run on one kernel.
#pragma once

#include <string>

#include "translator/passes/pass.h"

namespace mulciber::passes {

// Brings the kernel, functions[0] of the program, from fresh lowering to the form that spirv/ emits. Empty, or why the
// kernel cannot be translated. Debug builds verify the function between passes.
std::string runPipeline(PassContext& context);

}  // namespace mulciber::passes
