// docs/architecture.md says what may include what; this holds the tree to it.
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/test_data.h"

namespace {

namespace fs = std::filesystem;

fs::path sourceTree() { return fs::path(MULCIBER_TEST_DATA).parent_path().parent_path() / "src"; }

struct Rule {
  std::string folder;     // files below it ...
  std::string forbidden;  // ... must not include paths that begin with one of these (a regular expression)
};

const std::vector<Rule> rules = {
    {"util", "translator/|runtime/"},
    {"translator", "runtime/|vulkan/|volk\\.h|cuda\\.h"},
    {"translator/ptx", "translator/(ir|analyses|lower|passes|spirv)/"},
    {"translator/ir", "translator/(ptx|analyses|lower|passes|spirv)/"},
    {"translator/analyses", "translator/(ptx|lower|passes|spirv)/"},
    {"translator/lower", "translator/(analyses|passes|spirv)/"},
    {"translator/passes", "translator/(ptx|lower|spirv)/"},
    {"translator/spirv", "translator/(ptx|lower|passes)/"},
    {"runtime", "translator/"},  // what it needs is in include/mulciber
    {"runtime/vk", "runtime/(core|api|engine|fatbin)/"},
    {"runtime/fatbin", "runtime/(vk|core|api|engine)/"},
    {"runtime/core", "runtime/(api|engine)/|vulkan/|volk\\.h"},
    {"runtime/engine", "runtime/(api|fatbin)/|volk\\.h"},
    {"runtime/api", "runtime/engine/|vulkan/|volk\\.h"},
};

std::vector<fs::path> sourcesBelow(const fs::path& folder) {
  std::vector<fs::path> files;
  if (!fs::exists(folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const auto extension = entry.path().extension();
    if (extension == ".cpp" || extension == ".h" || extension == ".def") files.push_back(entry.path());
  }
  return files;
}

TEST(IncludeRules, NoFolderIncludesWhatItMustNot) {
  if (!fs::exists(sourceTree())) GTEST_SKIP() << "skipped: the source tree is not here";
  const std::regex include(R"(^\s*#\s*include\s*["<]([^">]+)[">])");
  for (const Rule& rule : rules) {
    const std::regex forbidden("^(" + rule.forbidden + ")");
    const auto files = sourcesBelow(sourceTree() / rule.folder);
    EXPECT_FALSE(files.empty() && rule.folder == "translator") << "no sources found below " << sourceTree();
    for (const fs::path& file : files) {
      std::ifstream stream(file);
      std::string line;
      for (int number = 1; std::getline(stream, line); ++number) {
        std::smatch match;
        if (!std::regex_search(line, match, include)) continue;
        const std::string path = match[1];
        EXPECT_FALSE(std::regex_search(path, forbidden)) << file << ":" << number << " includes " << path;
      }
    }
  }
}

TEST(IncludeRules, OnlyTheVulkanBackendCallsVulkan) {
  if (!fs::exists(sourceTree())) GTEST_SKIP() << "skipped: the source tree is not here";
  const std::regex call(R"(\bvk[A-Z]\w+\s*\()");
  for (const fs::path& file : sourcesBelow(sourceTree())) {
    if (file.string().find("/runtime/vk/") != std::string::npos) continue;
    std::ifstream stream(file);
    std::string line;
    for (int number = 1; std::getline(stream, line); ++number) {
      const auto comment = line.find("//");
      if (comment != std::string::npos) line.resize(comment);
      EXPECT_FALSE(std::regex_search(line, call)) << file << ":" << number << " calls Vulkan";
    }
  }
}

}  // namespace
