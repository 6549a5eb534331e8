// Finds the functions of a static CUDA runtime in a file whose symbols were stripped. Each is known by several signs
// (docs/runtime.md), and they must fit together; where anything does not, nothing is found, and the reason is given.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/fatbin/elf.h"

namespace mulciber::redirect {

struct RuntimeFunction {
  std::string_view name;
  uint64_t address = 0;  // as the file says, before loading
  uint64_t size = 0;
};

struct StaticRuntime {
  std::vector<RuntimeFunction> functions;  // none when there is no runtime, or one that was not recognised
  uint32_t major = 0;
  std::string problem;  // why a runtime that is there was not recognised
};

StaticRuntime findStaticRuntime(const fatbin::Elf& elf);

// The major version of the runtime that has functions of these names.
uint32_t majorOf(const std::vector<RuntimeFunction>& functions);

}  // namespace mulciber::redirect
