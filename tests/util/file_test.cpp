#include "util/file.h"

#include <cerrno>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "util/log.h"

namespace mulciber::util {
namespace {

namespace fs = std::filesystem;

class Files : public ::testing::Test {
 protected:
  Files() : path_((fs::temp_directory_path() / ("mulciber_" + std::to_string(getpid()))).string()) {}
  ~Files() override { fs::remove(path_); }
  const std::string path_;
};

TEST_F(Files, AreReadWhole) {
  const std::string contents = std::string(100000, 'x') + '\0' + "end";
  std::ofstream(path_, std::ios::binary) << contents;
  EXPECT_EQ(readFile(path_), contents);
  std::ofstream(path_, std::ios::trunc).close();
  EXPECT_EQ(readFile(path_), "");
}

TEST_F(Files, FoldersAndMissingFilesAreNone) {
  EXPECT_EQ(readFile("/"), std::nullopt);
  EXPECT_EQ(errno, EISDIR);
  EXPECT_EQ(readFile(path_), std::nullopt);
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(Files, AnUnknownLogLevelIsReportedAndChangesNothing) {
  const auto level = log().level();
  startLog("loud", path_);
  EXPECT_EQ(log().level(), level);
  log().flush();
  EXPECT_NE(readFile(path_).value_or("").find("MULCIBER_LOG is \"loud\""), std::string::npos);
  startLog("off", {});
  EXPECT_EQ(log().level(), spdlog::level::off);
}

}  // namespace
}  // namespace mulciber::util
