// What is parsed and printed parses to the same tree: every form, the files in corpus/, random modules, and what nvcc
// makes of cuda/, which also verifies. MULCIBER_PTX_ALL=1 compiles for every target that nvcc has, which takes an hour;
// MULCIBER_PTX_FOLDER=folder takes the *.ptx that are there already.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "ptxas.h"
#include "support/ptx_difference.h"
#include "support/random_ptx.h"
#include "support/test_data.h"
#include "translator/ptx/parser.h"
#include "translator/ptx/printer.h"
#include "translator/ptx/verifier.h"

namespace mulciber::ptx {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// Empty when the text survives, else what went wrong.
std::string roundTrip(const std::string& text, const std::string& name, bool mustVerify = true) {
  Diagnostics diagnostics;
  auto first = parse(text, name, diagnostics);
  if (!first || (mustVerify && !verify(first->module, first->source, diagnostics))) return diagnostics.toString();
  const std::string printed = print(first->module);
  auto second = parse(printed, name + " (printed)", diagnostics);
  if (!second) return diagnostics.toString();
  std::string found = test::difference(first->module, second->module);
  if (found.empty() && print(second->module) != printed) found = "the second print is another";
  return found;
}

TEST(RoundTrip, Corpus) {
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(test::dataFolder() / "corpus")) {
    EXPECT_EQ(roundTrip(contents(entry.path()), entry.path().filename().string()), "") << entry.path();
    ++count;
  }
  EXPECT_GE(count, 10u);
}

TEST(RoundTrip, FilesOfAFolder) {
  const char* folder = std::getenv("MULCIBER_PTX_FOLDER");
  if (!folder) GTEST_SKIP() << "skipped: set MULCIBER_PTX_FOLDER to a folder with PTX files";
  size_t count = 0, bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".ptx") continue;
    const std::string text = contents(entry.path());
    EXPECT_EQ(roundTrip(text, entry.path().string()), "");
    ++count;
    bytes += text.size();
  }
  std::printf("%zu files, %zu bytes\n", count, bytes);
}

TEST(RoundTrip, EveryForm) {
  size_t instances = 0;
  for (const Form& form : allForms())
    for (const FormChoices& choices : singleVariations(form)) {
      const auto module = moduleFor(form, choices);
      ASSERT_TRUE(module) << form.text;
      const std::string line = instantiate(form, choices).text();
      EXPECT_EQ(roundTrip(judgeModules[*module].head() + line + '\n' + JudgeModule::tail(), "form.ptx"), "") << line;
      ++instances;
    }
  std::printf("%zu forms, %zu instances\n", allForms().size(), instances);
}

TEST(RoundTrip, RandomModules) {
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    const std::string text = test::randomPtx(seed);
    ASSERT_EQ(roundTrip(text, "random.ptx", false), "") << "seed " << seed << "\n" << text;
  }
}

#ifdef MULCIBER_NVCC
std::string firstLine(const std::string& command) {
  std::string output;
  if (FILE* pipe = popen(command.c_str(), "r")) {
    char buffer[256];
    while (fgets(buffer, sizeof buffer, pipe)) output += buffer;
    pclose(pipe);
  }
  return output;
}

void compileAndCheck(const std::string& source, const std::string& flags) {
  const fs::path out = fs::temp_directory_path() / ("mulciber_roundtrip_" + std::to_string(getpid()) + ".ptx");
  const std::string command = std::string(MULCIBER_NVCC) + " -w -std=c++17 --extended-lambda -ptx " + flags + " -o " +
                              out.string() + " " + (test::dataFolder() / "cuda" / source).string() + " 2>&1";
  const std::string messages = firstLine(command);
  const std::string text = contents(out);
  fs::remove(out);
  ASSERT_FALSE(text.empty()) << command << "\n" << messages;
  EXPECT_EQ(roundTrip(text, source), "") << flags;
  std::printf("%s %s: %zu bytes\n", source.c_str(), flags.c_str(), text.size());
}

TEST(RoundTrip, WhatNvccPrints) {
  for (const char* flags : {"-arch=compute_90a", "-arch=compute_75 -lineinfo", "-arch=compute_80 -G -rdc=true"})
    compileAndCheck("language.cu", flags);
}

TEST(RoundTrip, WhatNvccPrintsForEveryTarget) {
  if (!std::getenv("MULCIBER_PTX_ALL")) GTEST_SKIP() << "skipped: set MULCIBER_PTX_ALL=1 to run it";
  std::string targets = firstLine(std::string(MULCIBER_NVCC) + " --list-gpu-arch");
  for (size_t begin = 0; begin < targets.size();) {
    const size_t end = targets.find('\n', begin);
    const std::string target = "-arch=" + targets.substr(begin, end - begin);
    for (const auto& source : fs::directory_iterator(test::dataFolder() / "cuda"))
      for (const char* flags : {"", " -G", " -lineinfo", " -rdc=true", " -use_fast_math"})
        compileAndCheck(source.path().filename().string(), target + flags);
    begin = end == targets.npos ? targets.size() : end + 1;
  }
}
#else
TEST(RoundTrip, WhatNvccPrints) { GTEST_SKIP() << "skipped: nvcc is not here"; }
#endif

}  // namespace
}  // namespace mulciber::ptx
