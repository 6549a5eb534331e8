// Whole files.
#pragma once

#include <optional>
#include <string>

namespace mulciber::util {

// What the file holds; nothing when it cannot be opened or read (a folder, for example), and then errno says why.
std::optional<std::string> readFile(const std::string& path);

}  // namespace mulciber::util
