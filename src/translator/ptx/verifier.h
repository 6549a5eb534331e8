// Checks a parsed module the way ptxas does: instruction forms, operand types, state spaces, calls, declarations,
// versions and targets. Says what is wrong, all of it, and sets Instruction::form.
#pragma once

#include "mulciber/translator.h"
#include "translator/ptx/ast.h"
#include "translator/ptx/source_text.h"

namespace mulciber::ptx {

// False when errors were added. After kMaxErrors it stops looking.
bool verify(const Module& module, const SourceText& source, Diagnostics& diagnostics);

inline constexpr unsigned kMaxErrors = 100;

}  // namespace mulciber::ptx
