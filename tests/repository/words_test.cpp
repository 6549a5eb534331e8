// Words that a native speaker would have to read twice do not come back into what people read.
#include <regex>

#include <gtest/gtest.h>

#include "repository/written_files.h"

namespace mulciber::test {
namespace {

TEST(Words, NobodyHasToReadThemTwice) {
  if (!fs::exists(root() / "src")) GTEST_SKIP() << "skipped: the source tree is not here";
  struct Rule {
    const char* words;
    const char* instead;
  };
  const Rule rules[] = {
      {"so many", "the number, or `this many`"},
      {"by way of", "`through`, or say how"},
      {"goes on", "`continues`, `repeats` or `runs`"},
      {"one who", "name the actor: `the waiting thread`"},
  };
  for (const Rule& rule : rules) {
    const std::regex words("\\b" + std::string(rule.words) + "\\b", std::regex::icase);
    for (const fs::path& file : writtenFiles()) {
      if (file.filename() == "words_test.cpp") continue;
      EXPECT_FALSE(std::regex_search(read(file), words))
          << file << " says \"" << rule.words << "\": better " << rule.instead;
    }
  }
}

}  // namespace
}  // namespace mulciber::test
