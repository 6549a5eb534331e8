#include "runtime/core/shader_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <fmt/format.h>
#include <xxhash.h>

#include "util/environment.h"
#include "util/log.h"

namespace mulciber::core {

namespace fs = std::filesystem;

namespace {

struct Header {
  char magic[8];
  uint64_t bytes;
  XXH128_hash_t key, contents;
};
constexpr const char* unfinished = ".new";
constexpr auto unfinishedAge = std::chrono::hours(1);
constexpr char magic[8] = {'M', 'U', 'L', 'C', 'A', 'C', 'H', '1'};

XXH128_hash_t hashOf(const void* data, size_t bytes) { return XXH3_128bits(data, bytes); }

}  // namespace

ShaderCache& ShaderCache::get() {
  // CUDA's variable gives bytes, and no more than 4 GiB (ENV-06).
  const int64_t given = std::min<int64_t>(util::environment().cudaCacheBytes, int64_t{4} << 30);
  const int64_t bytes = given > 0 ? given : std::max<int64_t>(util::environment().cacheMegabytes, 1) << 20;
  static ShaderCache& cache = *new ShaderCache(defaultFolder(), static_cast<uint64_t>(bytes));
  return cache;
}

ShaderCache::ShaderCache(fs::path folder, uint64_t maxBytes) : folder_(std::move(folder)), maxBytes_(maxBytes) {
  if (folder_.empty()) return;
  std::error_code error;
  fs::create_directories(folder_, error);
  if (!error) fs::permissions(folder_, fs::perms::owner_all, error);
  if (error) {
    util::log().warn("the cache folder {} cannot be used ({}): nothing is cached", folder_.string(), error.message());
    folder_.clear();
  }
}

std::string ShaderCache::hash(std::string_view text) {
  const XXH128_hash_t value = hashOf(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", value.high64, value.low64);
}

fs::path ShaderCache::defaultFolder() {
  const util::Environment& environment = util::environment();
  if (!environment.cache || environment.cudaCacheDisable) return {};
  if (!environment.cacheDirectory.empty()) return fs::path(environment.cacheDirectory) / "kernels";
  if (!environment.cudaCachePath.empty()) return fs::path(environment.cudaCachePath) / "mulciber" / "kernels";
  if (const char* base = std::getenv("XDG_CACHE_HOME"); base && *base) return fs::path(base) / "mulciber" / "kernels";
  if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".cache" / "mulciber" / "kernels";
  return {};
}

fs::path ShaderCache::fileFor(std::string_view key) const { return folder_ / hash(key); }

std::optional<std::vector<uint8_t>> ShaderCache::load(std::string_view key) {
  if (folder_.empty()) return std::nullopt;
  const fs::path file = fileFor(key);
  std::ifstream stream(file, std::ios::binary);
  Header header;
  if (!stream.read(reinterpret_cast<char*>(&header), sizeof(header))) return std::nullopt;
  std::error_code error;
  const uint64_t size = fs::file_size(file, error);
  if (error || std::memcmp(header.magic, magic, sizeof(magic)) != 0 || size != sizeof(header) + header.bytes ||
      !XXH128_isEqual(header.key, hashOf(key.data(), key.size())))
    return std::nullopt;
  std::vector<uint8_t> contents(header.bytes);
  if (!stream.read(reinterpret_cast<char*>(contents.data()), static_cast<std::streamsize>(contents.size())) ||
      !XXH128_isEqual(header.contents, hashOf(contents.data(), contents.size())))
    return std::nullopt;
  // Its age decides what goes when the folder is full.
  utimensat(AT_FDCWD, file.c_str(), nullptr, 0);
  return contents;
}

void ShaderCache::store(std::string_view key, std::span<const uint8_t> contents) {
  if (folder_.empty() || contents.size() > maxBytes_ / 4) return;
  Header header{};
  std::memcpy(header.magic, magic, sizeof(magic));
  header.bytes = contents.size();
  header.key = hashOf(key.data(), key.size());
  header.contents = hashOf(contents.data(), contents.size());
  // Written aside and renamed: other processes see all of it or nothing.
  static std::atomic<uint64_t> counter{0};
  const fs::path file = fileFor(key);
  const fs::path temporary = fmt::format("{}.{}.{}{}", file.string(), getpid(), counter.fetch_add(1), unfinished);
  const int descriptor = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return;
  auto writeAll = [descriptor](const void* data, size_t bytes) {
    const char* next = static_cast<const char*>(data);
    while (bytes != 0) {
      const ssize_t written = write(descriptor, next, bytes);
      if (written <= 0) return false;
      next += written;
      bytes -= static_cast<size_t>(written);
    }
    return true;
  };
  const bool whole = writeAll(&header, sizeof(header)) && writeAll(contents.data(), contents.size());
  const bool good = close(descriptor) == 0 && whole;
  if (!good || rename(temporary.c_str(), file.c_str()) != 0) {
    unlink(temporary.c_str());
    return;
  }
  std::lock_guard lock(mutex_);
  stored_ += sizeof(header) + contents.size();
  if (!measured_ || stored_ > maxBytes_ / 8) evict();
}

// Removes the oldest files until the folder is well below its limit. The caller holds the lock; other processes may be
// doing the same, which only means that a file is gone already.
void ShaderCache::evict() {
  measured_ = true;
  stored_ = 0;
  struct File {
    fs::path path;
    uint64_t size;
    fs::file_time_type time;
  };
  std::vector<File> files;
  uint64_t total = 0;
  std::error_code error;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code missing;
    File file{entry->path(), entry->file_size(missing), entry->last_write_time(missing)};
    if (missing) continue;
    // Left behind by a process that was killed while it wrote.
    if (file.path.extension() == unfinished && fs::file_time_type::clock::now() - file.time > unfinishedAge) {
      fs::remove(file.path, missing);
      continue;
    }
    total += file.size;
    files.push_back(std::move(file));
  }
  if (total <= maxBytes_) return;
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.time < b.time; });
  for (const File& file : files) {
    if (total <= maxBytes_ / 4 * 3) break;
    fs::remove(file.path, error);
    total -= file.size;
  }
}

}  // namespace mulciber::core
