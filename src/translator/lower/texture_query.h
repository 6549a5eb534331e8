// txq and istypep: what a kernel may ask of a texture.
#pragma once

#include "translator/lower/arithmetic.h"

namespace mulciber::lower {

// The handle that the first operand in an instruction's brackets stands for, i64.
Value textureHandle(FunctionLowering& f, const ptx::Operand& operand);

void lowerTxq(FunctionLowering& f, const ptx::Instruction& instruction);
void lowerIstypep(FunctionLowering& f, const ptx::Instruction& instruction);

}  // namespace mulciber::lower
