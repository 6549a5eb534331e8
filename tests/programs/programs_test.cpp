// Runs every differential program under `mulciber run` and compares what it prints with the native recording.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
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

INSTANTIATE_TEST_SUITE_P(Recorded, Programs, testing::ValuesIn(recordedPrograms()),
                         [](const auto& parameter) { return parameter.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Programs);

}  // namespace
