#include "util/environment.h"

#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "support/test_data.h"

namespace mulciber::util {
namespace {

TEST(Environment, KeepsDefaultsWhenNothingIsSet) {
  std::vector<std::string> problems;
  const Environment values = Environment::read([](const char*) -> const char* { return nullptr; }, problems);
  EXPECT_EQ(values.maxBatch, 128);
  EXPECT_TRUE(values.cache);
  EXPECT_TRUE(problems.empty());
}

TEST(Environment, ReadsEveryType) {
  std::vector<std::string> problems;
  const Environment values = Environment::read(
      [](const char* name) -> const char* {
        const std::string_view text = name;
        if (text == "MULCIBER_MAX_BATCH") return "7";
        if (text == "MULCIBER_CACHE") return "0";
        if (text == "MULCIBER_DEVICE") return "llvmpipe";
        return nullptr;
      },
      problems);
  EXPECT_EQ(values.maxBatch, 7);
  EXPECT_FALSE(values.cache);
  EXPECT_EQ(values.device, "llvmpipe");
}

TEST(Environment, NamesWhatItCannotUnderstandAndKeepsTheDefault) {
  std::vector<std::string> problems;
  const Environment values = Environment::read(
      [](const char* name) -> const char* { return std::string_view(name) == "MULCIBER_QUEUES" ? "many" : nullptr; },
      problems);
  EXPECT_EQ(values.queues, 3);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].find("MULCIBER_QUEUES"), std::string::npos);
}

TEST(Environment, NamesUnknownVariablesAndWhatMayBeMeant) {
  const char* const variables[] = {"MULCIBER_QUEUES=2", "MULCIBER_CACH_DIR=/tmp", "PATH=/bin", "MULCIBER_FUZZ_COUNT=3",
                                   "CUDA_UNHEARD_OF=1", "MULCIBER_ZYX",           nullptr};
  std::vector<std::string> problems;
  Environment::checkNames(variables, problems);
  EXPECT_EQ(problems, (std::vector<std::string>{
                          "MULCIBER_CACH_DIR is no variable of Mulciber's; did you mean 'MULCIBER_CACHE_DIR'?",
                          "MULCIBER_ZYX is no variable of Mulciber's"}));
}

TEST(Environment, SplitsLists) {
  EXPECT_EQ(splitList(" a, b ,,c"), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(splitList("").empty());
}

TEST(Environment, IsDocumented) {
  std::ifstream file(std::string(MULCIBER_TEST_DATA) + "/../../docs/environment.md");
  if (!file) GTEST_SKIP() << "skipped: the source tree is not here";
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const EnvironmentVariable& variable : environmentVariables()) {
    const std::string row = "| `" + std::string(variable.name) + "` | " + std::string(variable.type) + " | `" +
                            std::string(variable.defaultValue) + "` | " + std::string(variable.description) + " |";
    EXPECT_NE(text.find(row), std::string::npos) << "docs/environment.md lacks the row\n" << row;
  }
}

}  // namespace
}  // namespace mulciber::util
