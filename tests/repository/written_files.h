// The files of this repository that people write, for tests of what is said in them.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "support/test_data.h"

namespace mulciber::test {

namespace fs = std::filesystem;

inline fs::path root() { return fs::path(MULCIBER_TEST_DATA).parent_path().parent_path(); }

inline std::string read(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// What people write: no recordings and no tables of instructions.
inline std::vector<fs::path> writtenFiles() {
  static const std::set<std::string> kinds = {".cpp", ".h",  ".def",  ".cu",   ".md",
                                              ".py",  ".sh", ".glsl", ".comp", ".cmake"};
  std::vector<fs::path> files = {root() / "README.md", root() / "CONTRIBUTING.md"};
  for (const char* folder :
       {"bench", "cmake", "docs", "examples", "include", "scripts", "shaders", "src", "tests", "tools"})
    for (const auto& entry : fs::recursive_directory_iterator(root() / folder))
      if (kinds.count(entry.path().extension().string()) != 0) files.push_back(entry.path());
  return files;
}

}  // namespace mulciber::test
