// The static CUDA runtime inside a program or library, found by its symbols or without them.
#pragma once

#include <string>
#include <vector>

#include "runtime/fatbin/elf.h"
#include "static_runtime.h"

namespace mulciber::redirect {

struct RuntimeInside {
  std::vector<RuntimeFunction> functions;  // none when there is no runtime, or one that was not recognised
  bool hasSymbols = false;                 // which told the functions
  std::string problem;                     // why a runtime that is there was not recognised
};

RuntimeInside runtimeInside(const fatbin::Elf& elf);

}  // namespace mulciber::redirect
