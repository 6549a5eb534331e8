// Patterns of the lists that tests keep: * stands for any text.
#pragma once

#include <cstddef>
#include <string_view>

namespace mulciber::test {

inline bool matches(std::string_view pattern, std::string_view text) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  text.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  for (size_t skip = 0; skip <= text.size(); ++skip)
    if (matches(pattern, text.substr(skip))) return true;
  return false;
}

}  // namespace mulciber::test
