#include "runtime/core/shader_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <xxhash.h>

#include "util/environment.h"
#include "util/log.h"
#include "util/private_folder.h"

namespace mulciber::core {

namespace fs = std::filesystem;

namespace {

struct Header {
  char magic[8];
  uint64_t bytes;
  XXH128_hash_t key, contents;
};
constexpr std::string_view filePrefix = "mulciber-";  // then the hash of the key
constexpr size_t hashDigits = 32;
constexpr std::string_view unfinished = ".new";
constexpr auto unfinishedAge = std::chrono::hours(1);
constexpr char magic[8] = {'M', 'U', 'L', 'C', 'A', 'C', 'H', '1'};

XXH128_hash_t hashOf(const void* data, size_t bytes) { return XXH3_128bits(data, bytes); }

std::string fileFor(std::string_view key) { return std::string(filePrefix) + ShaderCache::hash(key); }

enum class Name { Finished, Unfinished, Foreign };

// The folder may be one that the user also keeps other files in: only files with the cache's names are the cache's.
Name kindOf(std::string_view name) {
  if (!name.starts_with(filePrefix)) return Name::Foreign;
  name.remove_prefix(filePrefix.size());
  const size_t digits = std::min(name.find_first_not_of("0123456789abcdef"), name.size());
  if (digits != hashDigits) return Name::Foreign;
  name.remove_prefix(digits);
  if (name.empty()) return Name::Finished;
  if (!name.starts_with('.') || !name.ends_with(unfinished)) return Name::Foreign;
  return name.find_first_not_of("0123456789.") == name.size() - unfinished.size() + 1 ? Name::Unfinished
                                                                                      : Name::Foreign;
}

// A descriptor that is closed at the end. Folders are opened for each use, because a program may close descriptors
// that it does not know.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  operator int() const { return descriptor_; }

 private:
  int descriptor_;
};

int openFolder(const fs::path& path, std::string& problem) {
  const char* reason = "";
  const int folder = util::openPrivateFolder(path.c_str(), reason);
  problem = reason;
  return folder;
}

bool writeAll(int descriptor, const void* data, size_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes != 0) {
    const ssize_t written = write(descriptor, next, bytes);
    if (written <= 0) return false;
    next += written;
    bytes -= static_cast<size_t>(written);
  }
  return true;
}

bool readAll(int descriptor, void* data, size_t bytes) {
  char* next = static_cast<char*>(data);
  while (bytes != 0) {
    const ssize_t got = read(descriptor, next, bytes);
    if (got <= 0) return false;
    next += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

}  // namespace

ShaderCache& ShaderCache::get() {
  // CUDA's variable gives bytes, and no more than 4 GiB (ENV-06).
  const int64_t given = std::min<int64_t>(util::environment().cudaCacheBytes, int64_t{4} << 30);
  const int64_t bytes = given > 0 ? given : std::max<int64_t>(util::environment().cacheMegabytes, 1) << 20;
  static ShaderCache& cache = *new ShaderCache(defaultFolder(), static_cast<uint64_t>(bytes));
  return cache;
}

ShaderCache& ShaderCache::none() {
  static ShaderCache& off = *new ShaderCache({}, 0);
  return off;
}

ShaderCache::ShaderCache(fs::path folder, uint64_t maxBytes) : folder_(std::move(folder)), maxBytes_(maxBytes) {
  if (folder_.empty()) return;
  const std::string problem = makeFolder(folder_);
  if (problem.empty()) return;
  util::log().warn("the cache folder {} cannot be used ({}): nothing is cached", folder_.string(), problem);
  folder_.clear();
}

std::string ShaderCache::makeFolder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  if (error) return error.message();
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return std::strerror(errno);
  std::string problem;
  const Descriptor opened(openFolder(folder, problem));
  if (opened >= 0 && access(folder.c_str(), W_OK) != 0) problem = std::strerror(errno);
  return problem;
}

std::string ShaderCache::hash(std::string_view text) {
  const XXH128_hash_t value = hashOf(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", value.high64, value.low64);
}

fs::path ShaderCache::defaultFolder() {
  const util::Environment& environment = util::environment();
  if (!environment.cache || environment.cudaCacheDisable) return {};
  if (!environment.cacheDirectory.empty()) return fs::path(environment.cacheDirectory) / "mulciber-kernels";
  if (!environment.cudaCachePath.empty()) return fs::path(environment.cudaCachePath) / "mulciber" / "kernels";
  if (const char* base = std::getenv("XDG_CACHE_HOME"); base && *base) return fs::path(base) / "mulciber" / "kernels";
  if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".cache" / "mulciber" / "kernels";
  return {};
}

std::optional<std::vector<uint8_t>> ShaderCache::load(std::string_view key) {
  if (folder_.empty()) return std::nullopt;
  std::string problem;
  const Descriptor folder(openFolder(folder_, problem));
  if (folder < 0) return std::nullopt;
  const Descriptor file(openat(folder, fileFor(key).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status;
  Header header;
  if (file < 0 || fstat(file, &status) != 0 || !util::isOwnFile(status) || !readAll(file, &header, sizeof(header)))
    return std::nullopt;
  if (std::memcmp(header.magic, magic, sizeof(magic)) != 0 ||
      static_cast<uint64_t>(status.st_size) != sizeof(header) + header.bytes ||
      !XXH128_isEqual(header.key, hashOf(key.data(), key.size())))
    return std::nullopt;
  std::vector<uint8_t> contents(header.bytes);
  if (!readAll(file, contents.data(), contents.size()) ||
      !XXH128_isEqual(header.contents, hashOf(contents.data(), contents.size())))
    return std::nullopt;
  // Its age decides what goes when the folder is full.
  futimens(file, nullptr);
  return contents;
}

void ShaderCache::store(std::string_view key, std::span<const uint8_t> contents) {
  if (folder_.empty() || contents.size() > maxBytes_ / 4) return;
  std::string problem;
  const Descriptor folder(openFolder(folder_, problem));
  if (folder < 0) return;
  Header header{};
  std::memcpy(header.magic, magic, sizeof(magic));
  header.bytes = contents.size();
  header.key = hashOf(key.data(), key.size());
  header.contents = hashOf(contents.data(), contents.size());
  // Written aside and renamed: other processes see all of it or nothing.
  static std::atomic<uint64_t> counter{0};
  const std::string file = fileFor(key);
  const std::string temporary = fmt::format("{}.{}.{}{}", file, getpid(), counter.fetch_add(1), unfinished);
  const int descriptor = openat(folder, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return;
  const bool whole =
      writeAll(descriptor, &header, sizeof(header)) && writeAll(descriptor, contents.data(), contents.size());
  const bool good = close(descriptor) == 0 && whole;
  if (!good || renameat(folder, temporary.c_str(), folder, file.c_str()) != 0) {
    unlinkat(folder, temporary.c_str(), 0);
    return;
  }
  std::lock_guard lock(mutex_);
  stored_ += sizeof(header) + contents.size();
  if (!measured_ || stored_ > maxBytes_ / 8) evict(folder);
}

// Removes the cache's oldest files until they are well below its limit. The caller holds the lock; other processes may
// be doing the same, which only means that a file is gone already.
void ShaderCache::evict(int folder) {
  measured_ = true;
  stored_ = 0;
  struct File {
    std::string name;
    uint64_t size;
    std::chrono::nanoseconds time;
  };
  std::vector<File> files;
  uint64_t total = 0;
  std::error_code error;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const Name kind = kindOf(name);
    struct stat status;
    if (kind == Name::Foreign || fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !util::isOwnFile(status))
      continue;
    const auto time = std::chrono::seconds(status.st_mtim.tv_sec) + std::chrono::nanoseconds(status.st_mtim.tv_nsec);
    // Left behind by a process that was killed while it wrote.
    if (kind == Name::Unfinished && std::chrono::system_clock::now().time_since_epoch() - time > unfinishedAge) {
      unlinkat(folder, name.c_str(), 0);
      continue;
    }
    total += static_cast<uint64_t>(status.st_size);
    files.push_back({name, static_cast<uint64_t>(status.st_size), time});
  }
  if (total <= maxBytes_) return;
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.time < b.time; });
  for (const File& file : files) {
    if (total <= maxBytes_ / 4 * 3) break;
    unlinkat(folder, file.name.c_str(), 0);
    total -= file.size;
  }
}

}  // namespace mulciber::core
