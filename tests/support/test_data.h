// Where a test's data files are: beside its source, or in the bundle it was carried in.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace mulciber::test {

inline std::filesystem::path dataFolder() {
  const std::filesystem::path source = MULCIBER_TEST_DATA;
  if (const char* bundle = std::getenv("MULCIBER_TEST_DATA_DIR"))
    return std::filesystem::path(bundle) / source.filename();
  return source;
}

}  // namespace mulciber::test
