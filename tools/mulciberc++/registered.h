// The device variables that the host names. Clang's device code is without some of them: constants that no kernel uses
// and, before Clang 19, variables of namespaces without a name, in whose place kernels may have the first value.
#pragma once

#include <set>
#include <string>

namespace mulciber::compiler {

using Names = std::set<std::string>;

// Of the variables that the host's object registers, those that the PTX does not define, or may have taken for the
// device's own.
Names missingVariables(const std::string& object, const std::string& ptx);
// What Clang has to include before the source to keep them: it takes them for used, and for changed.
std::string headerThatKeeps(const Names& variables);
// Those that the PTX does not define even so.
Names undefinedVariables(const Names& variables, const std::string& ptx);

}  // namespace mulciber::compiler
