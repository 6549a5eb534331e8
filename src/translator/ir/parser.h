// Reads the form that printer.h writes. For tests and offline tools: speed is not a goal, clear messages are.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "translator/ir/ir.h"

namespace mulciber::ir {

// Null and a message "line N: ..." when the text is wrong. The result is well-formed, not verified.
std::unique_ptr<Program> parseProgram(std::string_view text, std::string& error);

}  // namespace mulciber::ir
