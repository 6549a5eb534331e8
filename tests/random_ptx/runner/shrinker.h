// Makes a failing program small.
#pragma once

#include <functional>

#include "random_ptx/generator/program.h"

namespace mulciber::random_ptx {

// Takes out and simplifies nodes of the program as long as `fails` says that what is left fails still.
Edits shrink(const Program& program, const std::function<bool(const Edits&)>& fails);

}  // namespace mulciber::random_ptx
