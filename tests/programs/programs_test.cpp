// Runs every differential program under `mulciber run` and compares what it prints with the native recording.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/test_data.h"

namespace {

namespace fs = std::filesystem;

fs::path programsFolder() { return fs::read_symlink("/proc/self/exe").parent_path() / "programs"; }

std::vector<std::string> recordedPrograms() {
  std::vector<std::string> names;
  const fs::path expected = mulciber::test::dataFolder() / "expected";
  if (!fs::exists(expected)) return names;
  for (const auto& entry : fs::directory_iterator(expected))
    if (entry.path().stem() != "DEVICE") names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Outcome {
  std::string output;
  int status = -1;
};

Outcome mulciber(const std::string& arguments) {
  const fs::path program = fs::read_symlink("/proc/self/exe").parent_path() / "mulciber";
  // Bit for bit means the exact mode: by default a device may flush the denormals of a fused multiply-add.
  const std::string command =
      "MULCIBER_EXACT_DENORMALS=1 timeout 120 '" + program.string() + "' " + arguments + " 2>/dev/null";
  Outcome outcome;
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return outcome;
  std::array<char, 4096> buffer;
  while (size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe)) outcome.output.append(buffer.data(), count);
  outcome.status = pclose(pipe);
  return outcome;
}

class Programs : public testing::TestWithParam<std::string> {};

TEST_P(Programs, PrintsWhatItPrintsNatively) {
  const fs::path program = programsFolder() / GetParam();
  if (!fs::exists(program)) GTEST_SKIP() << "skipped: nvcc was not there to build " << GetParam();
  static const std::string device = mulciber("info").output;
  if (device.find("yes warp operations") == std::string::npos)
    GTEST_SKIP() << "skipped: there is no device with subgroups of 32 lanes";
  const Outcome outcome = mulciber("run '" + program.string() + "'");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, contents(mulciber::test::dataFolder() / "expected" / (GetParam() + ".txt")));
}

// Lines of a file, by what stands before the first of these characters.
std::map<std::string, std::string> linesByName(const std::string& text, char end) {
  std::map<std::string, std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (!line.empty() && line[0] != '#') lines[line.substr(0, line.find(end))] = line;
  return lines;
}

// The same program with an argument shows a hash of all results of each function.
TEST(MathFunctions, AreThoseOfTheRecordedGpuBitForBit) {
  const fs::path program = programsFolder() / "math_functions", recorded = mulciber::test::dataFolder() / "recorded";
  if (!fs::exists(program)) GTEST_SKIP() << "skipped: nvcc was not there to build math_functions";
  const std::string device = mulciber("info").output;
  if (device.find("yes warp operations") == std::string::npos)
    GTEST_SKIP() << "skipped: there is no device with subgroups of 32 lanes";
  const auto ours = linesByName(mulciber("run '" + program.string() + "' bits").output, ':');
  const auto inexact = linesByName(contents(recorded / "inexact.txt"), ' ');
  unsigned exact = 0;
  for (const auto& [name, line] : linesByName(contents(recorded / "math_functions.txt"), ':')) {
    const auto found = ours.find(name);
    ASSERT_TRUE(found != ours.end()) << name;
    exact += found->second == line;
    const auto listed = inexact.find(name);
    const bool isListed = listed != inexact.end() && (listed->second.find("| * |") != std::string::npos ||
                                                      (listed->second.find("llvmpipe") != std::string::npos) ==
                                                          (device.find("llvmpipe") != std::string::npos));
    if (!isListed) {
      EXPECT_EQ(found->second, line);
    }
  }
  std::cout << exact << " of " << ours.size() << " functions bit for bit\n";
  EXPECT_GT(exact, 100u);
}

INSTANTIATE_TEST_SUITE_P(Recorded, Programs, testing::ValuesIn(recordedPrograms()),
                         [](const auto& parameter) { return parameter.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Programs);

}  // namespace
