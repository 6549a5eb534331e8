// Texts of kernels with places to fill in.
#pragma once

#include <string>
#include <string_view>

namespace mulciber::test {

inline std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (size_t at; (at = text.find(what)) != std::string::npos;) text.replace(at, what.size(), by);
  return text;
}

}  // namespace mulciber::test
