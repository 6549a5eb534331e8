// Which libraries the dynamic linker would load for a program, without starting it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace mulciber::tool {

struct LinkedLibrary {
  std::string name;  // as the program names it
  std::string path;  // empty when it was not found
};

// Nothing when the dynamic linker cannot be asked. `firstFolder` is searched before all others.
std::optional<std::vector<LinkedLibrary>> linkedLibraries(const std::string& program, const std::string& firstFolder);

}  // namespace mulciber::tool
