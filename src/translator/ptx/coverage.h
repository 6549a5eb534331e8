// docs/ptx-coverage.md, written from the instruction table.
#pragma once

#include <functional>
#include <string>

#include "translator/ptx/instruction_table.h"

namespace mulciber::ptx {

// What the translator makes of a form: "yes", or why not. Without it the table has no such column.
using TranslatedColumn = std::function<std::string(const Form&)>;

std::string coverageTable(const TranslatedColumn& translated = nullptr);

}  // namespace mulciber::ptx
