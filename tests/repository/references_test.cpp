// What documents and comments refer to must be there: behaviours by their ids, files by their paths.
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "repository/written_files.h"

namespace mulciber::test {
namespace {

std::vector<std::string> matches(const std::string& text, const std::regex& pattern, int group = 0) {
  std::vector<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match)
    found.push_back((*match)[group]);
  return found;
}

class References : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(root() / "src")) GTEST_SKIP() << "skipped: the source tree is not here";
  }
};

TEST_F(References, EveryQuotedBehaviourIsInTheCatalogue) {
  const auto rows = matches(read(root() / "docs/behaviours.md"), std::regex(R"(\n\| ([A-Z][A-Z0-9]+-\d\d) \|)"), 1);
  const std::set<std::string> ids(rows.begin(), rows.end());
  EXPECT_EQ(ids.size(), rows.size()) << "an id stands for two rows";
  ASSERT_GT(ids.size(), 400u);
  std::set<std::string> families;
  for (const std::string& id : ids) families.insert(id.substr(0, id.find('-')));

  const std::regex quoted(R"(\b[A-Z][A-Z0-9]+-\d\d\b)");
  size_t quotes = 0;
  for (const fs::path& file : writtenFiles())
    for (const std::string& id : matches(read(file), quoted)) {
      if (families.count(id.substr(0, id.find('-'))) == 0) continue;  // the name of something else, such as CRC-32
      ++quotes;
      EXPECT_EQ(ids.count(id), 1u) << file << " quotes " << id;
    }
  EXPECT_GT(quotes, 700u);
}

TEST_F(References, EveryNamedFileExists) {
  // From the root, as `src/runtime/core` or docs/spirv.md; what a build makes and patterns with * are not meant.
  const std::regex named(
      R"((?:^|[\s`(])((?:bench|cmake|docs|examples|include|profiles|scripts|shaders|src|tests|third_party|tools)/[\w./-]*\w)(?![\w*{/]))");
  const std::regex link(R"(\]\(([^)#:]+)(?:#[^)]*)?\))");
  size_t names = 0;
  for (const fs::path& file : writtenFiles()) {
    const std::string text = read(file);
    for (const std::string& path : matches(text, named, 1)) {
      // A program of an area is named without its ending, and a pair of files by their common name.
      bool exists = fs::exists(root() / path);
      for (const char* ending : {".cpp", ".h", ".cu", ".py"}) exists |= fs::exists(root() / (path + ending));
      EXPECT_TRUE(exists) << file << " names " << path;
      ++names;
    }
    if (file.extension() != ".md") continue;
    for (const std::string& path : matches(text, link, 1))
      EXPECT_TRUE(fs::exists(file.parent_path() / path)) << file << " links to " << path;
  }
  EXPECT_GT(names, 100u);
}

TEST_F(References, EveryScriptThatDocumentsRunCanBeRun) {
  const std::regex command(R"((?:\n    |; )((?:bench|docs|scripts|tests|third_party)/[\w./-]+\.(?:py|sh))\b)");
  size_t commands = 0;
  for (const fs::path& file : writtenFiles()) {
    if (file.extension() != ".md") continue;
    for (const std::string& path : matches(read(file), command, 1)) {
      EXPECT_NE(fs::status(root() / path).permissions() & fs::perms::owner_exec, fs::perms::none)
          << file << " runs " << path;
      ++commands;
    }
  }
  EXPECT_GT(commands, 5u);
}

}  // namespace
}  // namespace mulciber::test
