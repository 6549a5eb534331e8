// Device functions, in PTX, that programs call and no module defines: vprintf, malloc, free, cudaGraphSetConditional,
// and those of cooperative groups.
#pragma once

#include <string_view>

#include "translator/ptx/parser.h"

namespace mulciber::lower {

// The definition of a service, or null.
const ptx::Function* findServiceFunction(std::string_view name);
bool isServiceFunction(const ptx::Function& function);

}  // namespace mulciber::lower
