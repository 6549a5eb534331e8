// Every PTX file of the tests, on a device that has no more than Vulkan 1.3 promises, and twice over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "mulciber/translator.h"

namespace mulciber {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::filesystem::path tests = std::filesystem::path(MULCIBER_TEST_DATA).parent_path();

std::string readFile(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<std::filesystem::path> corpus() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(tests))
    if (entry.path().extension() == ".ptx") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

// The promises alone: limits are the least that Vulkan 1.3 allows. 64-bit integers are what Mulciber itself asks for.
TargetProfile plainVulkan() {
  std::string error;
  auto profile = profileFromJson(readFile(tests.parent_path() / "profiles" / "plain-vulkan-1.3.json"), error);
  EXPECT_TRUE(profile) << error;
  return profile.value_or(TargetProfile{});
}

TEST(Corpus, KernelsBecomeValidOnPlainVulkanOrAreRefusedWithAReason) {
  TargetProfile profile = plainVulkan();
  TranslateOptions options;
  options.validate = true;
  size_t translated = 0;
  for (const auto& path : corpus()) {
    Diagnostics reading;
    ModulePtr module = parseModule(readFile(path), path.filename().string(), reading);
    if (!module) continue;  // a file that is wrong on purpose
    for (const std::string& name : kernelNames(*module)) {
      Diagnostics diagnostics;
      bool isTranslated = translate(*module, name, profile, options, diagnostics).has_value();
      translated += isTranslated;
      if (isTranslated) continue;
      std::string messages = diagnostics.toString();
      EXPECT_THAT(messages, HasSubstr("kernel '" + name + "'")) << path;
      EXPECT_THAT(messages, Not(HasSubstr("internal error"))) << path;
    }
  }
  EXPECT_GT(translated, 20u);
}

// A line for each kernel and profile: the module, the kernel, and a hash of its SPIR-V.
std::vector<std::string> fingerprints(std::vector<std::filesystem::path> files) {
  std::vector<std::string> lines;
  for (const auto& path : files) {
    Diagnostics diagnostics;
    ModulePtr module = parseModule(readFile(path), path.filename().string(), diagnostics);
    if (!module) continue;
    for (const std::string& name : kernelNames(*module)) {
      for (const TargetProfile& profile : {*builtinProfile("nvidia"), *builtinProfile("lavapipe"), plainVulkan()}) {
        TranslateOptions options;
        options.debugInfo = options.dotProducts = true;
        auto kernel = translate(*module, name, profile, options, diagnostics);
        uint64_t hash = 14695981039346656037u;
        if (kernel)
          for (uint32_t word : kernel->spirv) hash = (hash ^ word) * 1099511628211u;
        lines.push_back("fingerprint " + path.filename().string() + " " + name + " " + profile.name + " " +
                        std::to_string(hash));
      }
    }
  }
  return lines;
}

// Run by the test below, in a process of its own, with other addresses and the files in another order.
TEST(Corpus, DISABLED_PrintFingerprints) {
  auto files = corpus();
  std::ranges::reverse(files);
  for (const std::string& line : fingerprints(files)) std::printf("%s\n", line.c_str());
}

TEST(Corpus, TheSameInputGivesTheSameBytesInEveryProcessAndOrder) {
  std::string self = std::filesystem::read_symlink("/proc/self/exe");
  FILE* pipe =
      popen((self + " --gtest_also_run_disabled_tests --gtest_filter=Corpus.DISABLED_PrintFingerprints").c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::vector<std::string> others;
  char line[1024];
  while (std::fgets(line, sizeof line, pipe))
    if (std::string text = line; text.starts_with("fingerprint ")) others.push_back(text.substr(0, text.size() - 1));
  ASSERT_EQ(pclose(pipe), 0);
  std::vector<std::string> own = fingerprints(corpus());
  std::ranges::sort(own);
  std::ranges::sort(others);
  EXPECT_GT(own.size(), 60u);
  EXPECT_EQ(own, others);
}

}  // namespace
}  // namespace mulciber
