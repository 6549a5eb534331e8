// Floating-point operations in integers, rounded once in any mode, for what a device does not do by itself: f64
// multiply-add where it is not fused, f32 operations where there is no f64 to do them in.
#pragma once

#include "translator/ir/builder.h"

namespace mulciber::passes {

// x * y + z of f32 or f64 values.
ir::Instruction* softFma(ir::Builder& b, ir::Rounding rounding, ir::Instruction* x, ir::Instruction* y,
                         ir::Instruction* z);
ir::Instruction* softQuotient32(ir::Builder& b, ir::Rounding rounding, ir::Instruction* x, ir::Instruction* y);
ir::Instruction* softRoot32(ir::Builder& b, ir::Rounding rounding, ir::Instruction* x);

// The f32 or f64 number nearest to one given by its sign (bool), the exponent of its leading bit, biased by 1023 (i32,
// may be out of range), and its significand (i64): bit 63 is that leading bit, bit 0 also stands for all below it.
ir::Instruction* packFloat(ir::Builder& b, ir::Type type, ir::Rounding rounding, ir::Instruction* isNegative,
                           ir::Instruction* exponent, ir::Instruction* significand);

}  // namespace mulciber::passes
