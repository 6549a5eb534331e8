// Every file that people write can be read in one sitting.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "repository/written_files.h"

namespace mulciber::test {
namespace {

TEST(FileSizes, FilesCanBeReadInOneSitting) {
  if (!fs::exists(root() / "src")) GTEST_SKIP() << "skipped: the source tree is not here";
  for (const fs::path& file : writtenFiles()) {
    // Tables, which nobody reads from end to end.
    if (file.extension() == ".def" || file.filename() == "ptx-coverage.md") continue;
    const std::string text = read(file);
    EXPECT_LE(std::ranges::count(text, '\n'), 700) << file << " is too long to read in one sitting";
  }
}

}  // namespace
}  // namespace mulciber::test
