// Whole files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mulciber::util {

// What the file holds; nothing when it cannot be opened or read (a folder, for example), and then errno says why.
std::optional<std::string> readFile(const std::string& path);
bool writeFile(const std::string& path, std::string_view contents);  // in place of what it held

}  // namespace mulciber::util
