// Numbers that the environment sets for tests: how much they do, and where random ones begin.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace mulciber::test {

inline uint64_t setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace mulciber::test
