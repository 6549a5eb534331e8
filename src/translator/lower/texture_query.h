// txq, suq and istypep: what a kernel may ask of a texture or surface.
#pragma once

#include "translator/lower/arithmetic.h"

namespace mulciber::lower {

// The handle that the first operand in an instruction's brackets stands for, i64.
Value textureHandle(FunctionLowering& f, const ptx::Operand& operand);

// Element `index` of a vector operand; a vector of one may be written without braces.
Value vectorElement(FunctionLowering& f, const ptx::Operand& operand, size_t index, ir::Type type);

void lowerQuery(FunctionLowering& f, const ptx::Instruction& instruction);
void lowerIstypep(FunctionLowering& f, const ptx::Instruction& instruction);

}  // namespace mulciber::lower
