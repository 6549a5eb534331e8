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
  const std::string watch = (mulciber::test::dataFolder().parent_path() / "tools/watch.py").string();
  const std::string command = "python3 '" + watch + "' '" + program.string() + "' " + arguments + " 2>/dev/null";
  Outcome outcome;
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return outcome;
  std::array<char, 4096> buffer;
  while (size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe)) outcome.output.append(buffer.data(), count);
  outcome.status = pclose(pipe);
  return outcome;
}

// What a file lists for a device, with the reason: name | part of the device's name, or * | reason.
std::map<std::string, std::string> listedFor(const std::string& device, const std::string& file) {
  std::map<std::string, std::string> listed;
  std::istringstream stream(contents(mulciber::test::dataFolder() / "recorded" / file));
  for (std::string line; std::getline(stream, line);) {
    const size_t first = line.find(" | "), second = line.find(" | ", first + 1);
    if (line.empty() || line[0] == '#' || second == std::string::npos) continue;
    const std::string where = line.substr(first + 3, second - first - 3);
    if (where == "*" || device.find(where) != std::string::npos)
      listed[line.substr(0, first)] = line.substr(second + 3);
  }
  return listed;
}

class Programs : public testing::TestWithParam<std::string> {};

TEST_P(Programs, PrintsWhatItPrintsNatively) {
  const fs::path program = programsFolder() / GetParam();
  if (!fs::exists(program)) GTEST_SKIP() << "skipped: nvcc was not there to build " << GetParam();
  static const Outcome info = mulciber("info");
  ASSERT_EQ(info.status, 0) << "mulciber info failed";
  if (info.output.find("yes warp operations") == std::string::npos)
    GTEST_SKIP() << "skipped: there is no device with subgroups of 32 lanes";
  const Outcome outcome = mulciber("run '" + program.string() + "'");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, contents(mulciber::test::dataFolder() / "expected" / (GetParam() + ".txt")));
}

// What `math_functions bits` and `math_intrinsics bits` print: a line for each function, its name before the colon.
std::map<std::string, std::string> hashesByFunction(const std::string& text) {
  std::map<std::string, std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines[line.substr(0, line.find(':'))] = line;
  return lines;
}

// The same programs with an argument show a hash of all results of each function.
TEST(MathFunctions, AreThoseOfTheRecordedGpuBitForBit) {
  const Outcome info = mulciber("info");
  ASSERT_EQ(info.status, 0) << "mulciber info failed";
  const std::string& device = info.output;
  if (device.find("yes warp operations") == std::string::npos)
    GTEST_SKIP() << "skipped: there is no device with subgroups of 32 lanes";
  std::string ourText, nativeText;
  for (const char* name : {"math_functions", "math_intrinsics"}) {
    const fs::path program = programsFolder() / name;
    if (!fs::exists(program)) GTEST_SKIP() << "skipped: nvcc was not there to build " << name;
    ourText += mulciber("run '" + program.string() + "' bits").output;
    nativeText += contents(mulciber::test::dataFolder() / "recorded" / (std::string(name) + ".txt"));
  }
  const auto ours = hashesByFunction(ourText), native = hashesByFunction(nativeText);
  const std::map<std::string, std::string> inexact = listedFor(device, "inexact.txt");
  unsigned exact = 0;
  for (const auto& [name, line] : native) {
    const auto found = ours.find(name);
    ASSERT_TRUE(found != ours.end()) << name;
    exact += found->second == line;
    if (!inexact.contains(name)) {
      EXPECT_EQ(found->second, line);
    } else {
      EXPECT_NE(found->second, line) << name << " is listed in inexact.txt and gives the recorded bits";
    }
  }
  for (const auto& [name, line] : ours) EXPECT_TRUE(native.contains(name)) << name << " is not recorded";
  for (const auto& [name, why] : inexact) EXPECT_TRUE(native.contains(name)) << name << " is listed, and no function";
  std::cout << exact << " of " << ours.size() << " functions bit for bit\n";
  EXPECT_GT(exact, 250u);
}

INSTANTIATE_TEST_SUITE_P(Recorded, Programs, testing::ValuesIn(recordedPrograms()),
                         [](const auto& parameter) { return parameter.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Programs);

}  // namespace
