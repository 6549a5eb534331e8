// A variable of a module by its name.
#pragma once

#include <algorithm>
#include <string_view>

#include "translator/ptx/ast.h"

namespace mulciber::ptx {

inline const Variable* variableOf(const Module& module, std::string_view name) {
  const auto found = std::ranges::find(module.variables, name, &Variable::name);
  return found == module.variables.end() ? nullptr : *found;
}

}  // namespace mulciber::ptx
