// f64 multiply-add in integers, for devices whose own is not fused.
#pragma once

#include "translator/ir/builder.h"

namespace mulciber::passes {

// x * y + z of f64 values, rounded once.
ir::Instruction* softFma64(ir::Builder& b, ir::Rounding rounding, ir::Instruction* x, ir::Instruction* y,
                           ir::Instruction* z);

// The f64 bits nearest to a number given by its sign (bool), the biased exponent of its leading bit (i32, may be out of
// range) and its significand (i64): bit 63 is that leading bit, bit 0 also stands for all that is below it.
ir::Instruction* packFloat64(ir::Builder& b, ir::Rounding rounding, ir::Instruction* isNegative,
                             ir::Instruction* exponent, ir::Instruction* significand);

}  // namespace mulciber::passes
