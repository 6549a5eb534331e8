// Which forms of the instruction table are translated, found by lowering instances of them: for docs/ptx-coverage.md.
#pragma once

#include <string>

#include "translator/ptx/instruction_table.h"

namespace mulciber {

// "yes", "no", or "in part" where only some choices of modifiers are. Against a profile that offers everything: a
// device may still lack what a kernel needs.
std::string translatedColumn(const ptx::Form& form);

}  // namespace mulciber
