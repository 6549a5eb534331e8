// Which functions of CUDA a program or library calls, as far as its file shows.
#pragma once

#include <set>
#include <string_view>
#include <vector>

#include "runtime_inside.h"

namespace mulciber::tool {

struct CalledFunctions {
  std::set<std::string_view> all;
  std::set<std::string_view> missing;  // of them, what Mulciber does not implement
};

// Functions that are looked up by name while it runs do not show. The names stand in the file.
CalledFunctions calledFunctions(const fatbin::Elf& elf, const redirect::RuntimeInside& runtime);

}  // namespace mulciber::tool
