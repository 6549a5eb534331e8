#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "runtime/core/device_printf.h"
#include "runtime/core/kernel_record.h"
#include "runtime/core/shader_cache.h"

namespace mulciber::core {
namespace {

namespace fs = std::filesystem;

class CacheTest : public testing::Test {
 protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / ("mulciber-cache-test-" + std::to_string(getpid()));
    fs::remove_all(folder);
  }
  void TearDown() override { fs::remove_all(folder); }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder)) found.push_back(entry.path());
    return found;
  }
  fs::path folder;
  const std::vector<uint8_t> contents = {1, 2, 3, 4, 5};
};

TEST_F(CacheTest, GivesBackWhatWasStored) {
  ShaderCache cache(folder, 1 << 20);
  EXPECT_FALSE(cache.load("key"));
  cache.store("key", contents);
  EXPECT_EQ(cache.load("key"), contents);
  EXPECT_FALSE(cache.load("other key"));
  EXPECT_EQ(ShaderCache(folder, 1 << 20).load("key"), contents);
  const auto others = fs::perms::group_all | fs::perms::others_all;
  EXPECT_EQ(fs::status(folder).permissions() & others, fs::perms::none);
  EXPECT_EQ(fs::status(files().front()).permissions() & others, fs::perms::none);
}

TEST_F(CacheTest, DamagedFilesAreIgnored) {
  ShaderCache cache(folder, 1 << 20);
  cache.store("key", contents);
  const fs::path file = files().front();
  const auto size = static_cast<std::streamoff>(fs::file_size(file));
  for (std::streamoff at = 0; at < size; ++at) {
    cache.store("key", contents);
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(at);
    const char byte = static_cast<char>(stream.get() ^ 0x10);
    stream.seekp(at);
    stream.put(byte);
    stream.close();
    EXPECT_FALSE(cache.load("key")) << "byte " << at;
    cache.store("key", contents);
    fs::resize_file(file, static_cast<uintmax_t>(at));
    EXPECT_FALSE(cache.load("key")) << "cut at " << at;
  }
}

TEST_F(CacheTest, StaysWithinItsLimit) {
  ShaderCache cache(folder, 100'000);
  const std::vector<uint8_t> large(5000, 7);
  for (int i = 0; i < 100; ++i) cache.store("key " + std::to_string(i), large);
  uintmax_t total = 0;
  for (const fs::path& file : files()) total += fs::file_size(file);
  EXPECT_LE(total, 120'000u);
  EXPECT_TRUE(cache.load("key 99"));
  EXPECT_FALSE(cache.load("key 0"));
}

TEST_F(CacheTest, ManyWritersNeverShowAHalfFile) {
  std::vector<std::thread> threads;
  for (uint8_t t = 0; t < 4; ++t)
    threads.emplace_back([this, t] {
      ShaderCache cache(folder, 1 << 20);
      for (int i = 0; i < 100; ++i) {
        cache.store("key", std::vector<uint8_t>(4000, t));
        const auto seen = cache.load("key");
        ASSERT_TRUE(seen);
        ASSERT_EQ(*seen, std::vector<uint8_t>(4000, seen->front()));
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(files().size(), 1u);
}

// What a key stands for, so that every process knows what it must find.
std::vector<uint8_t> contentsOf(int key) {
  std::vector<uint8_t> bytes(static_cast<size_t>(2000 + key * 977 % 30'000));
  std::mt19937 random(static_cast<unsigned>(key));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

// Stores and loads under a few keys; false as soon as something is there that nobody stored.
bool useCache(ShaderCache& cache, unsigned seed, int steps) {
  std::mt19937 random(seed);
  for (int i = 0; i < steps; ++i) {
    const int key = static_cast<int>(random() % 12);
    const std::string name = "key " + std::to_string(key);
    if (random() % 2 == 0) cache.store(name, contentsOf(key));
    else if (const auto seen = cache.load(name); seen && *seen != contentsOf(key)) return false;
  }
  return true;
}

TEST_F(CacheTest, ManyProcessesUseOneFolder) {
  std::vector<pid_t> children;
  for (unsigned seed = 0; seed < 12; ++seed) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    // Some with a limit that evicts all the time what others load.
    if (child == 0) {
      ShaderCache cache(folder, seed % 3 == 0 ? 130'000 : 1 << 20);
      _exit(useCache(cache, seed, 300) ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  for (const fs::path& file : files()) EXPECT_EQ(file.extension(), "") << file << " was left behind";
}

TEST_F(CacheTest, KilledWritersCostARecompileAndNothingElse) {
  std::mt19937 random(1);
  for (unsigned round = 0; round < 60; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ShaderCache cache(folder, 1 << 20);
      for (int i = 0;; ++i) cache.store("key " + std::to_string(i % 12), contentsOf(i % 12));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 8000));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    ShaderCache cache(folder, 1 << 20);
    ASSERT_TRUE(useCache(cache, round, 20));
    for (int key = 0; key < 12; ++key) {
      const std::string name = "key " + std::to_string(key);
      if (const auto seen = cache.load(name)) {
        ASSERT_EQ(*seen, contentsOf(key));
      }
      cache.store(name, contentsOf(key));
      ASSERT_EQ(cache.load(name), contentsOf(key));
    }
  }
}

// What killed writers leave behind goes, but nobody's file that is being written.
TEST_F(CacheTest, HalfFilesOfOthersGoWhenTheyAreOld) {
  { ShaderCache cache(folder, 1 << 20); }
  const std::string name = "mulciber-" + ShaderCache::hash("another key");
  const fs::path old = folder / (name + ".99.0.new"), fresh = folder / (name + ".98.0.new");
  for (const fs::path& file : {old, fresh}) std::ofstream(file) << "half";
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
  ShaderCache cache(folder, 1 << 20);
  cache.store("key", contents);
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(fresh));
}

TEST_F(CacheTest, FilesOfOtherVersionsAreIgnored) {
  ShaderCache cache(folder, 1 << 20);
  cache.store("key", contents);
  const fs::path file = files().front();
  std::fstream(file, std::ios::in | std::ios::out | std::ios::binary).seekp(7).put('0');  // of the magic number
  EXPECT_FALSE(cache.load("key"));
  cache.store("key", contents);
  EXPECT_EQ(cache.load("key"), contents);
  // A file under the name of another key.
  cache.store("other", std::vector<uint8_t>{9});
  for (const fs::path& other : files())
    if (other != file) fs::copy_file(file, other, fs::copy_options::overwrite_existing);
  EXPECT_FALSE(cache.load("other"));
}

TEST_F(CacheTest, FoldersAndFilesArePrivateWhateverTheMask) {
  const mode_t before = umask(0);
  ShaderCache cache(folder / "deeper", 1 << 20);
  cache.store("key", contents);
  umask(before);
  EXPECT_EQ(fs::status(folder / "deeper").permissions(), fs::perms::owner_all);
  for (const auto& entry : fs::directory_iterator(folder / "deeper"))
    EXPECT_EQ(entry.status().permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

// A folder that the user also keeps other things in.
TEST_F(CacheTest, LeavesTheFilesAndTheModeOfAUsersFolderAlone) {
  fs::create_directories(folder);
  fs::permissions(folder, fs::perms(0755));
  const fs::path kept = folder / "kept";
  fs::create_directories(kept);
  std::vector<fs::path> users;
  for (const char* name : {"blur.cu", "0123456789abcdef0123456789abcdef", "mulciber-notes", "mulciber-0123.new",
                           "mulciber-0123456789abcdef0123456789abcdef.txt", "thesis.new"}) {
    users.push_back(folder / name);
    std::ofstream(users.back()) << std::string(9000, 'x');
    fs::last_write_time(users.back(), fs::file_time_type::clock::now() - std::chrono::hours(100));
  }
  // A link under one of the cache's names is not followed, nor is its target touched.
  const fs::path target = kept / "target";
  std::ofstream(target) << "target";
  const fs::path link = folder / ("mulciber-" + ShaderCache::hash("key"));
  fs::create_symlink(target, link);
  ShaderCache cache(folder, 20'000);
  EXPECT_FALSE(cache.load("key"));
  cache.store("key", contents);
  EXPECT_EQ(cache.load("key"), contents);
  for (int i = 0; i < 20; ++i) cache.store("key " + std::to_string(i), std::vector<uint8_t>(4000, 7));
  EXPECT_FALSE(cache.load("key 0"));
  for (const fs::path& file : users) EXPECT_TRUE(fs::exists(file)) << file;
  EXPECT_EQ(fs::file_size(target), 6u);
  EXPECT_EQ(fs::status(folder).permissions(), fs::perms(0755));
}

TEST_F(CacheTest, LinksAreNotFollowed) {
  ShaderCache cache(folder / "real", 1 << 20);
  cache.store("key", contents);
  const fs::path file = folder / "real" / ("mulciber-" + ShaderCache::hash("key"));
  fs::rename(file, folder / "moved");
  fs::create_symlink(folder / "moved", file);
  EXPECT_FALSE(cache.load("key"));
  fs::create_directory_symlink(folder / "real", folder / "link");
  ShaderCache throughLink(folder / "link", 1 << 20);
  EXPECT_EQ(throughLink.folder(), fs::path());
  throughLink.store("key", contents);
  EXPECT_FALSE(throughLink.load("key"));
  EXPECT_TRUE(fs::is_symlink(file));
  // Nor where the link takes the folder's place later.
  fs::remove(file);
  fs::rename(folder / "real", folder / "elsewhere");
  fs::create_directory_symlink(folder / "elsewhere", folder / "real");
  cache.store("key", contents);
  EXPECT_TRUE(fs::is_empty(folder / "elsewhere"));
}

TEST_F(CacheTest, FoldersThatOthersCanWriteIntoAreNotUsed) {
  fs::create_directories(folder);
  fs::permissions(folder, fs::perms(0777));
  ShaderCache cache(folder, 1 << 20);
  EXPECT_EQ(cache.folder(), fs::path());
  EXPECT_EQ(ShaderCache::makeFolder(folder), "other users can write into it");
  if (geteuid() != 0) return;
  fs::permissions(folder, fs::perms(0755));
  ASSERT_EQ(chown(folder.c_str(), 12345, 12345), 0);
  EXPECT_EQ(ShaderCache::makeFolder(folder), "it belongs to another user");
  // A file of another user in a folder of ours.
  ASSERT_EQ(chown(folder.c_str(), 0, 0), 0);
  ShaderCache own(folder, 1 << 20);
  own.store("key", contents);
  ASSERT_EQ(chown(files().front().c_str(), 12345, 12345), 0);
  EXPECT_FALSE(own.load("key"));
}

TEST_F(CacheTest, OffAndUnusableFoldersStoreNothing) {
  ShaderCache off({}, 1 << 20);
  off.store("key", contents);
  EXPECT_FALSE(off.load("key"));
  ShaderCache unusable("/proc/nowhere/mulciber", 1 << 20);
  unusable.store("key", contents);
  EXPECT_FALSE(unusable.load("key"));
}

TEST(KernelRecord, RoundTripAndRefusal) {
  Kernel kernel;
  kernel.spirv = {1, 2, 3};
  kernel.info.parameters = {{0, 4, 4}, {8, 8, 8}};
  kernel.info.parameterBytes = 16;
  kernel.info.usesPrintf = true;
  kernel.info.requiredBlock[1] = 7;
  const std::vector<uint8_t> bytes = writeKernel(kernel);
  Kernel read;
  ASSERT_TRUE(readKernel(bytes, read));
  EXPECT_EQ(read.spirv, kernel.spirv);
  EXPECT_EQ(read.info.parameters.size(), 2u);
  EXPECT_EQ(read.info.parameters[1].offset, 8u);
  EXPECT_EQ(read.info.requiredBlock[1], 7u);
  EXPECT_TRUE(read.info.usesPrintf);
  for (size_t length = 0; length < bytes.size(); ++length) {
    Kernel cut;
    EXPECT_FALSE(readKernel({bytes.data(), length}, cut)) << length;
  }
}

TEST(KernelRecord, IsReadWithoutItsCode) {
  KernelInfo info;
  info.parameters = {{0, 4, 4}, {8, 8, 8}};
  info.usesTextures = true;
  const std::vector<uint8_t> bytes = writeInfo(info);
  KernelInfo read;
  ASSERT_TRUE(readInfo(bytes, read));
  EXPECT_EQ(read.parameters.size(), 2u);
  EXPECT_TRUE(read.usesTextures);
  for (size_t length = 0; length < bytes.size(); ++length) {
    KernelInfo cut;
    EXPECT_FALSE(readInfo({bytes.data(), length}, cut)) << length;
  }
}

class PrintfArguments {
 public:
  template <typename T>
  PrintfArguments& add(T value) {
    bytes.resize((bytes.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T));
    const auto* data = reinterpret_cast<const uint8_t*>(&value);
    bytes.insert(bytes.end(), data, data + sizeof(T));
    return *this;
  }
  std::vector<uint8_t> bytes;
};

TEST(DevicePrintf, FormatsAsC) {
  constexpr uint8_t text[] = {'a', 't', ' ', '7', 0, 'n', 'e', 'x', 't'};
  const std::span<const uint8_t> string = text;
  PrintfArguments arguments;
  arguments.add<int32_t>(-5).add<double>(2.5).add<uint64_t>(7).add<int64_t>(1ll << 40).add<uint32_t>(255).add<int32_t>(
      'x');
  EXPECT_EQ(formatDevicePrintf("%d %.3f [%8s] %lld %#x %c 100%%\n", arguments.bytes, string),
            "-5 2.500 [    at 7] 1099511627776 0xff x 100%\n");
  EXPECT_EQ(
      formatDevicePrintf(
          "%*d|%-*d|", PrintfArguments().add<int32_t>(4).add<int32_t>(1).add<int32_t>(3).add<int32_t>(2).bytes, string),
      "   1|2  |");
  EXPECT_EQ(formatDevicePrintf("%s", PrintfArguments().add<uint64_t>(0).bytes, string), "(null)");
  EXPECT_EQ(formatDevicePrintf(
                "%s|%s|%s|%.2s.",
                PrintfArguments().add<uint64_t>(7).add<uint64_t>(0).add<uint64_t>(7).add<uint64_t>(7).bytes, string),
            "at 7|(null)|next|.");
  EXPECT_EQ(formatDevicePrintf("%k %", {}, string), "%k %");
  EXPECT_EQ(formatDevicePrintf("%hhd %hd", PrintfArguments().add<int32_t>(300).add<int32_t>(70000).bytes, string),
            "44 4464");
  EXPECT_EQ(formatDevicePrintf("missing %d", {}, string), "missing 0");
}

}  // namespace
}  // namespace mulciber::core
