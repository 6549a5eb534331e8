// What a module refers to and nobody defines.
#pragma once

#include <string_view>
#include <vector>

#include "translator/ptx/ast.h"

namespace mulciber::ptx {

// Functions that a program calls and the translator itself provides: vprintf, malloc and the like.
bool isProvidedFunction(std::string_view name);

bool isDefinition(const Function& function);
bool isDefinition(const Variable& variable);
// Every block has its own: no module defines it.
bool isDynamicShared(const Variable& variable);

struct Undefined {
  std::string_view name;
  SourceOffset where;     // of its first use
  bool isInCode = false;  // which is an instruction's, and no initial value's
};

// ptxas looks at every function of a whole program, nvlink at those that a kernel or an initial value leads to.
enum class Extent { EveryFunction, Reachable };
std::vector<Undefined> undefinedFunctions(const Module& module, Extent extent);

// The module's functions without the definitions that no kernel and no initial value leads to.
std::vector<Function*> reachableFunctions(const Module& module);

}  // namespace mulciber::ptx
